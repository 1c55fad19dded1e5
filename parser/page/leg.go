package page

import "strings"

// leg is one range of the query's rows in its order: conditions, and the keys from which on its rows still are to be sorted. Of the
// first of these it has no NULLs where solid says so.
type leg struct {
	where []string
	from  int
	solid bool
}

// values prints the value of a key of the row that a page comes after.
type values func(i int) string

// uniform returns from which key on, up to a given one, all go in one direction and none but the first may be NULL: a comparison
// of rows tells what comes after a row then.
func (q *Query) uniform(to int) int {
	from := to
	for from > 0 && q.keys[from].notNull && q.keys[from-1].desc == q.keys[to].desc {
		from--
	}
	return from
}

// after are the ranges that come after a row, in order. null says which of its keys are NULL.
func (q *Query) after(null func(i int) bool, v values) (legs []leg) {
	for i := len(q.keys) - 1; i >= 0; i-- {
		start := i
		if i == len(q.keys)-1 {
			if start = q.uniform(i); start < i && null(start) {
				start++
			}
		}
		prefix := q.equal(start, null, v)
		k := q.keys[start]
		nulls := leg{where: append(prefix[:len(prefix):len(prefix)], q.ref(start)+" IS NULL"), from: start + 1}
		switch {
		case !null(start):
			legs = append(legs, leg{where: append(prefix, q.beyond(start, i, v)), from: start, solid: true})
			if !k.notNull && !k.first {
				legs = append(legs, nulls)
			}
		case k.first:
			legs = append(legs, leg{where: append(prefix, q.ref(start)+" IS NOT NULL"), from: start, solid: true})
		}
		i = start
	}
	return legs
}

// all are the ranges of all rows.
func (q *Query) all() []leg {
	k := q.keys[0]
	if k.notNull {
		return []leg{{solid: true}}
	}
	legs := []leg{{where: []string{q.ref(0) + " IS NOT NULL"}, solid: true}, {where: []string{q.ref(0) + " IS NULL"}, from: 1}}
	if k.first {
		legs[0], legs[1] = legs[1], legs[0]
	}
	return legs
}

// equal are the conditions that the keys before one are those of the row.
func (q *Query) equal(to int, null func(i int) bool, v values) (list []string) {
	for i := range to {
		if null(i) {
			list = append(list, q.ref(i)+" IS NULL")
		} else {
			list = append(list, q.ref(i)+" = "+v(i))
		}
	}
	return list
}

// beyond is the condition that keys are after those of the row.
func (q *Query) beyond(from, to int, v values) string {
	op := " > "
	if q.keys[from].desc {
		op = " < "
	}
	if from == to {
		return q.ref(from) + op + v(from)
	}
	var left, right []string
	for i := from; i <= to; i++ {
		left, right = append(left, q.ref(i)), append(right, v(i))
	}
	return "(" + strings.Join(left, ", ") + ")" + op + "(" + strings.Join(right, ", ") + ")"
}

// order prints the ORDER BY of a range. Where all its rows have no NULL in a key, or all have one, nothing hangs on where NULLs
// come, and an entry is as the index has it that serves the page, or a plain one.
func (q *Query) order(l leg) string {
	list := make([]string, len(q.keys))
	for i, k := range q.keys {
		first := k.first
		if k.notNull || i < l.from || i == l.from && l.solid {
			first = k.desc
			if i < len(q.native) {
				first = q.native[i]
			}
		}
		list[i] = q.ref(i)
		if k.desc {
			list[i] += " DESC"
		}
		if first != k.desc {
			list[i] += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[first]
		}
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// condition is what is true of rows after one, in one expression, for a single pass over all of them.
func (q *Query) condition(v values) string {
	if start := q.uniform(len(q.keys) - 1); start == 0 && q.keys[0].notNull {
		return q.beyond(0, len(q.keys)-1, v)
	}
	sql := ""
	for i := len(q.keys) - 1; i >= 0; i-- {
		k, name := q.keys[i], q.ref(i)
		beyond, same := q.beyond(i, i, v), name+" = "+v(i)
		if !k.notNull {
			same = "(" + same + " OR " + name + " IS NULL AND " + v(i) + " IS NULL)"
			if k.first {
				beyond = "(" + beyond + " OR " + name + " IS NOT NULL AND " + v(i) + " IS NULL)"
			} else {
				beyond = "(" + beyond + " OR " + name + " IS NULL AND " + v(i) + " IS NOT NULL)"
			}
		}
		if sql == "" {
			sql = beyond
		} else {
			sql = "(" + beyond + " OR " + same + " AND " + sql + ")"
		}
	}
	if k := q.keys[0]; k.notNull { // what an index can start from
		op := " >= "
		if k.desc {
			op = " <= "
		}
		sql = q.ref(0) + op + v(0) + " AND " + sql
	}
	return sql
}

// ref is a key within the sub-select around the query.
func (q *Query) ref(i int) string { return "q." + q.column(i) }

// column is the name of a key's column.
func (q *Query) column(i int) string {
	if !q.hides {
		return quote(q.keys[i].output)
	}
	return keyColumn(i)
}

func keyColumn(i int) string { return "sluice_key_" + itoa(i+1) }
