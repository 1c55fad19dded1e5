package tests

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var (
	clickHouseN    = flag.Int("clickhouse.n", 400, "how many generated statements are asked of ClickHouse")
	clickHouseSeed = flag.Uint64("clickhouse.seed", 7, "seed of the generated statements")
)

// TestClickHouseGenerated compares answers to generated statements, of which most are computed at the server.
func TestClickHouseGenerated(t *testing.T) { generatedAnswers(t, oldClickHouse(t), *clickHouseN) }

func TestRealClickHouseGenerated(t *testing.T) {
	generatedAnswers(t, currentClickHouse(t), *clickHouseN*3/8)
}

func generatedAnswers(t *testing.T, remote clickHouse, statements int) {
	plain, foreign := twin(t, remote, "generated")
	r := rand.New(rand.NewPCG(*clickHouseSeed, 7))
	shipped := 0
	for range statements {
		sql := generated(r)
		if got, want := answerOf(t, foreign, sql, nil), answerOf(t, plain, sql, nil); got != want {
			t.Errorf("%s\n got: %s\nwant: %s\n%s", sql, got, want, rows(t, foreign, "EXPLAIN (VERBOSE) "+sql))
		}
		if strings.Contains(rows(t, foreign, "EXPLAIN "+sql), "Route: remote") {
			shipped++
		}
	}
	if t.Logf("%d of %d statements were computed at the server", shipped, statements); shipped < statements*3/5 {
		t.Errorf("only %d of %d statements were computed at the server", shipped, statements)
	}
}

// literalsOf are values to compare a column with.
var literalsOf = map[string][]string{
	"id": {"3", "0", "-1", "5000000000"}, "u": {"7", "0", "-1", "9223372036854775807", "7.0", "6.5"}, "a": {"5", "-5", "2147483647", "-2147483648", "3000000000", "'5'", "5.0", "4.25"},
	"s": {"7", "0", "-32768", "100000"}, "b": {"0", "9007199254740993", "9223372036854775807", "-9223372036854775808"}, "t": {"'one'", "''", `'é\'''`, "'ONE'", "'x'"},
	"d":   {"'2024-02-29'", "'1970-01-01'", "'2105-12-31'", "'2106-01-01'", "'1969-12-31'", "DATE '2024-03-01'"},
	"at":  {"'2024-02-29 12:00:00+00'", "'2024-02-29 13:00:01+01'", "'1970-01-01 00:00:00+00'", "'2200-01-01 00:00:00+00'", "'2024-02-29 12:00:00.5+00'"},
	"who": {"'00000000-0000-0000-0000-000000000001'", "'FFFFFFFF-ffff-ffff-ffff-ffffffffffff'"}, "n": {"1.5", "0", "-0.01", "12", "'12.00'", "1.505", "123456789.12", "99999999999999.5", "'0'"}, "f": {"0.5", "0"},
}

var (
	twinColumns = []string{"id", "u", "a", "s", "b", "t", "d", "at", "who", "n", "f"}
	twinNumbers = []string{"a", "s", "b", "id", "u", "n"}
	operators   = []string{"=", "<>", "<", "<=", ">", ">="}
	patterns    = []string{"'o%'", "'%e'", "'%'", "'_ne'", "''", `'%\\%'`, "'O__'", "'one_'", `'%\''`, "'é%'", `'%\%%'`}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// comparison makes a condition on one column, or two of one kind, of those that p says how to name.
func comparison(r *rand.Rand, p string) string {
	c := pick(r, twinColumns)
	value := func() string { return pick(r, literalsOf[c]) }
	number := func() string { return p + pick(r, twinNumbers) }
	switch r.IntN(14) {
	case 0:
		return p + c + pick(r, []string{" IS NULL", " IS NOT NULL"})
	case 1:
		return p + c + pick(r, []string{" IN (", " NOT IN ("}) + value() + ", " + value() + ", " + pick(r, []string{value(), "NULL"}) + ")"
	case 2:
		return p + c + pick(r, []string{" BETWEEN ", " NOT BETWEEN "}) + value() + " AND " + value()
	case 3:
		return number() + " " + pick(r, operators) + " " + number()
	case 4:
		return value() + " " + pick(r, operators) + " " + p + c
	case 5:
		return p + "t" + pick(r, []string{" LIKE ", " NOT LIKE "}) + pick(r, patterns)
	case 6:
		return p + c + pick(r, []string{" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "}) + value()
	case 7:
		return number() + pick(r, []string{" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "}) + number()
	case 8:
		return fmt.Sprintf("(%[1]sa, %[1]sid) %[2]s (%[3]s, %[4]s)", p, pick(r, operators), pick(r, literalsOf["a"][:4]), pick(r, literalsOf["id"]))
	case 9:
		return fmt.Sprintf("coalesce(%sa, %s) %s %s", p, pick(r, []string{"0", p + "s", p + "b"}), pick(r, operators), pick(r, literalsOf["a"][:4]))
	}
	return p + c + " " + pick(r, operators) + " " + value()
}

func conditions(r *rand.Rand, p string, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return comparison(r, p)
	}
	switch r.IntN(6) {
	case 0:
		return "NOT (" + conditions(r, p, depth-1) + ")"
	case 1, 2:
		return "(" + conditions(r, p, depth-1) + " OR " + conditions(r, p, depth-1) + ")"
	case 3:
		return "(" + conditions(r, p, depth-1) + ")" + pick(r, []string{" IS NULL", " IS NOT NULL", " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE"})
	}
	return "(" + conditions(r, p, depth-1) + " AND " + conditions(r, p, depth-1) + ")"
}

// value makes an expression over a row.
func value(r *rand.Rand, p string) string {
	switch r.IntN(12) {
	case 0:
		return "CASE WHEN " + conditions(r, p, 1) + " THEN " + p + pick(r, []string{"a", "b", "s"}) + " ELSE " + pick(r, []string{"0", p + "b", "NULL"}) + " END"
	case 1:
		return "CASE WHEN " + conditions(r, p, 2) + " THEN 'yes' WHEN " + conditions(r, p, 1) + " THEN " + p + "t END"
	case 2:
		return "coalesce(" + p + "t, 'none')"
	case 3:
		return "coalesce(" + p + "d, '2024-01-01')"
	case 4:
		return "nullif(" + p + "a, 5)"
	case 5:
		return conditions(r, p, 2)
	case 6:
		return p + "n " + pick(r, []string{"+", "-", "*"}) + " " + pick(r, []string{"1.5", p + "n", p + "a", "2", "0.001"})
	case 7:
		return "length(" + p + "t)"
	case 8:
		return "extract(" + pick(r, []string{"year", "month", "day", "quarter", "isodow"}) + " FROM " + p + "d)"
	case 9:
		return "substr(" + p + "t, " + pick(r, []string{"1", "2"}) + ", " + pick(r, []string{"0", "1", "2", "9"}) + ") || " + pick(r, []string{"'x'", p + "t"})
	case 10:
		return "replace(" + p + "t, 'n', 'é')"
	}
	return p + pick(r, twinColumns)
}

// aggregate makes one over a group.
func aggregate(r *rand.Rand, p string) string {
	call := ""
	switch r.IntN(8) {
	case 0:
		call = "count(*)"
	case 1:
		call = "count(DISTINCT " + p + pick(r, []string{"a", "t", "d", "n", "u", "who", "at"}) + ")"
	case 2:
		call = "sum(" + p + pick(r, twinNumbers) + ")"
	case 3:
		call = "max(" + p + pick(r, []string{"a", "n", "t", "d", "at", "u"}) + ")"
	case 4:
		call = "min(" + value(r, p) + ")"
		if !strings.Contains(call, "length") {
			call = "min(" + p + "n)"
		}
	case 5:
		call = "bool_or(" + conditions(r, p, 1) + ")"
	case 6:
		call = "bool_and(" + conditions(r, p, 1) + ")"
	default:
		call = "count(" + p + pick(r, twinColumns) + ")"
	}
	if r.IntN(3) == 0 {
		call += " FILTER (WHERE " + conditions(r, p, 1) + ")"
	}
	return call
}

// generated makes a statement over the table.
func generated(r *rand.Rand) string {
	where := ""
	if r.IntN(5) > 0 {
		where = " WHERE " + conditions(r, "", r.IntN(4))
	}
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("SELECT %s, %s, sum(id) FROM events%s", aggregate(r, ""), aggregate(r, ""), where)
	case 1:
		key := pick(r, []string{"a", "s", "u", "t", "d", "at", "who", "b", "n", "a > 0", "length(t)", "CASE WHEN a > 0 THEN t END"})
		having := pick(r, []string{"", " HAVING count(*) > 1", " HAVING max(a) > 0 OR min(s) IS NULL", " HAVING NOT (max(a) > 0 AND min(s) < 5)"})
		return fmt.Sprintf("SELECT %s, %s AS %s, max(id), %s FROM events%s GROUP BY %[1]s%[6]s ORDER BY max(id)%[7]s", key, aggregate(r, ""), pick(r, []string{"c", "count", "n", "id"}),
			aggregate(r, ""), where, having, pick(r, []string{"", " DESC", " LIMIT 3"}))
	case 2:
		return fmt.Sprintf("SELECT %s, %s AS x, id FROM events%s ORDER BY %s %s, id LIMIT %d OFFSET %d", pick(r, twinColumns), pick(r, twinColumns), where,
			pick(r, []string{"a", "u", "d", "at", "s", "who", "x", "t", "n"}), pick(r, []string{"", "DESC", "NULLS FIRST", "DESC NULLS LAST"}), r.IntN(5), r.IntN(3))
	case 3:
		return fmt.Sprintf("SELECT DISTINCT %s, %s FROM events%s", pick(r, []string{"a", "t", "d", "who", "n", "u"}), pick(r, []string{"s", "b", "length(t)", "a > 0"}), where)
	case 4:
		return joining(r)
	case 5:
		return fmt.Sprintf("SELECT v.k, v.c FROM (SELECT a AS k, %s AS c FROM events%s GROUP BY a) v WHERE v.k %s 5 OR v.k IS NULL ORDER BY v.k", aggregate(r, ""), where, pick(r, operators))
	case 6:
		return fmt.Sprintf("SELECT %s, id AS x FROM events%s UNION ALL SELECT %s, %s FROM events WHERE %s", pick(r, []string{"a", "s", "b"}), where, pick(r, []string{"a", "s", "b"}), pick(r, []string{"id", "a"}), conditions(r, "", 1))
	case 7:
		return fmt.Sprintf("SELECT id FROM events WHERE %s IN (SELECT %s FROM events WHERE %s) AND %s ORDER BY id", pick(r, []string{"a", "s", "b"}), pick(r, []string{"a", "s", "b"}), conditions(r, "", 1), conditions(r, "", 1))
	}
	return fmt.Sprintf("SELECT id, %s, %s FROM events%s ORDER BY id", value(r, ""), value(r, ""), where)
}

// joining makes a statement over the table, taken several times.
func joining(r *rand.Rand) string {
	on := func(l, r2 string) string {
		return pick(r, []string{l + "a = " + r2 + "a", l + "s = " + r2 + "s", l + "t = " + r2 + "t", l + "d = " + r2 + "d", l + "who = " + r2 + "who", l + "s = " + r2 + "a",
			l + "a = " + r2 + "a AND " + l + "s = " + r2 + "s", l + "at = " + r2 + "at", l + "a = " + r2 + "a AND " + comparison(r, r2)})
	}
	word := func() string { return pick(r, []string{"JOIN", "LEFT JOIN", "RIGHT JOIN"}) }
	from := ""
	switch r.IntN(5) {
	case 0:
		from = fmt.Sprintf("events x, events y WHERE %s AND %s", on("x.", "y."), conditions(r, "x.", 1))
	case 1:
		from = fmt.Sprintf("events x %s events y USING (%s) WHERE %s", pick(r, []string{"JOIN", "LEFT JOIN"}), pick(r, []string{"a", "t", "a, s", "d"}), conditions(r, "x.", 1))
	case 2:
		from = fmt.Sprintf("events x %s events y ON %s %s events z ON %s WHERE %s", word(), on("x.", "y."), word(), on("y.", "z."), conditions(r, pick(r, []string{"x.", "y.", "z."}), 1))
	default:
		from = fmt.Sprintf("events x %s events y ON %s WHERE %s", word(), on("x.", "y."), conditions(r, pick(r, []string{"x.", "y."}), 2))
	}
	if r.IntN(3) == 0 {
		return "SELECT count(*), " + aggregate(r, "x.") + ", " + aggregate(r, "y.") + " FROM " + from
	}
	return "SELECT x.id, y.id, " + value(r, "y.") + ", " + value(r, "x.") + " FROM " + from
}
