package plan

import (
	"maps"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// nest is what an engine reads that joins two sub-selects at a time, by columns that have one name in both. All columns of a level
// have names of their own, so that none is said to be a relation's.
type nest struct {
	sql       string          // what stands behind FROM
	where     []string        // conditions that are true of its rows
	list      []string        // its columns, as its own clauses have them
	names     []string        // and as what is around it calls them
	inner     []scopeRelation // its relations, likewise
	relations []scopeRelation
	holds     map[*pg_query.Node]bool // conditions of the statement among where
}

// keys are what two nests are joined by.
type keys struct{ left, right []string }

// sub is the nest as a sub-select that yields its columns and some keys.
func (n *nest) sub(d dialect.Dialect, keys, names []string) string {
	list := make([]string, 0, len(n.list)+len(keys))
	for i, sql := range n.list {
		if name := d.Identifier(n.names[i]); sql != name {
			sql += " AS " + name
		}
		list = append(list, sql)
	}
	for i, sql := range keys {
		list = append(list, sql+" AS "+d.Identifier(names[i]))
	}
	if len(list) == 0 {
		list = []string{"1"}
	}
	sql := "(SELECT " + strings.Join(list, ", ") + " FROM " + n.sql
	if len(n.where) > 0 {
		sql += " WHERE " + strings.Join(n.where, " AND ")
	}
	return sql + ")"
}

// fresh returns a name that no column has.
func (s *shipper) fresh() string {
	for {
		s.made++
		if name := "_" + itoa(s.made); !s.b.hasColumn(name) {
			return name
		}
	}
}

// nested prints a FROM clause of several relations, and brings these into scope.
func (s *shipper) nested(q *pg_query.SelectStmt, e *scope) (string, bool) {
	before := s.visible
	s.visible = e.tables()
	n, ok := s.inner(q.FromClause, nil, parser.Conjuncts(q.WhereClause, nil))
	s.visible = before
	if !ok {
		return "", false
	}
	e.relations = append(e.relations, n.relations...)
	if len(n.where) > 0 {
		return " FROM " + n.sub(s.d, nil, nil), true
	}
	return " FROM " + n.sql, true
}

// inner joins relations by conditions of its own, and of others that are true of all rows in the end.
func (s *shipper) inner(items, own, others []*pg_query.Node) (nest, bool) {
	items, own = flattened(items, own)
	all := slices.Concat(own, others)
	parts := make([]nest, len(items))
	for i, item := range items {
		var ok bool
		if parts[i], ok = s.part(item, all); !ok {
			return nest{}, false
		}
	}
	joined := parts[0]
	used := map[*pg_query.Node]bool{}
	if len(parts) > 1 {
		var ok bool
		if joined, ok = s.chain(parts, all, used); !ok {
			return nest{}, false
		}
	}
	for _, p := range parts {
		maps.Copy(used, p.holds)
	}
	for _, c := range own {
		if used[c] {
			continue
		}
		sql, _, ok := s.condition(c, &scope{relations: joined.inner})
		if !ok {
			return nest{}, false
		}
		joined.where = append(joined.where, sql)
	}
	return joined, true
}

// flattened takes inner joins apart.
func flattened(items, own []*pg_query.Node) ([]*pg_query.Node, []*pg_query.Node) {
	var flat []*pg_query.Node
	for _, item := range items {
		j := item.GetJoinExpr()
		if j == nil || j.Jointype != pg_query.JoinType_JOIN_INNER || j.IsNatural || len(j.UsingClause) > 0 || j.Alias != nil {
			flat = append(flat, item)
			continue
		}
		var inner []*pg_query.Node
		inner, own = flattened([]*pg_query.Node{j.Larg, j.Rarg}, own)
		flat, own = append(flat, inner...), parser.Conjuncts(j.Quals, own)
	}
	return flat, own
}

// chain joins nests one after the other, each by what it shares with those before it.
func (s *shipper) chain(parts []nest, conditions []*pg_query.Node, used map[*pg_query.Node]bool) (nest, bool) {
	joined, rest := parts[0], slices.Clone(parts[1:])
	for len(rest) > 0 {
		var by keys
		i := slices.IndexFunc(rest, func(n nest) bool {
			by = s.keysOf(&joined, &n, conditions, used)
			return len(by.left) > 0
		})
		if i < 0 {
			s.unproven("a join without equal columns")
			return nest{}, false
		}
		joined = s.joined(joined, rest[i], by, " ALL INNER JOIN ")
		rest = slices.Delete(rest, i, i+1)
	}
	joined.relations = nil // in the order of the statement
	for _, n := range parts {
		joined.relations = append(joined.relations, n.relations...)
	}
	joined.inner = joined.relations
	return joined, true
}

// part makes a nest of one FROM item. Conditions on it alone come to it before it is joined.
func (s *shipper) part(item *pg_query.Node, conditions []*pg_query.Node) (nest, bool) {
	if j := item.GetJoinExpr(); j != nil && (j.IsNatural || len(j.UsingClause) > 0) {
		return s.shared(j, conditions)
	} else if j != nil {
		return s.outer(j, conditions)
	}
	e := &scope{ctes: s.visible}
	sql, ok := s.fromItem(item, e)
	if !ok || len(e.relations) != 1 {
		return nest{}, false
	}
	n := nest{sql: sql, inner: e.relations, holds: map[*pg_query.Node]bool{}}
	named := scopeRelation{alias: e.relations[0].alias}
	for _, c := range s.needed(item, e.relations[0].columns) {
		n.list, n.names = append(n.list, c.sql), append(n.names, s.fresh())
		c.sql = s.d.Identifier(n.names[len(n.names)-1])
		named.columns = append(named.columns, c)
	}
	n.relations = []scopeRelation{named}
	for _, c := range conditions {
		if e.holds(c) && refers(c) {
			mark, raised := len(s.params), s.raises
			s.raises = false
			sql, _, ok := s.condition(c, e)
			if ok && !s.raises {
				n.where, n.holds[c] = append(n.where, sql), true
			} else {
				s.params = s.params[:mark]
			}
			s.raises = raised
		}
	}
	return n, true
}

// needed are the columns of a relation that the statement uses, as far as that is known.
func (s *shipper) needed(item *pg_query.Node, columns []scopeColumn) []scopeColumn {
	src := s.b.sourceOf(item.GetRangeVar())
	if src == nil {
		return columns
	}
	var list []scopeColumn
	for _, i := range s.b.columns(src) {
		list = append(list, columns[i])
	}
	return list
}

// outer joins two sides of which one keeps rows without a partner.
func (s *shipper) outer(j *pg_query.JoinExpr, conditions []*pg_query.Node) (nest, bool) {
	keeps, other := j.Larg, j.Rarg
	if j.Jointype == pg_query.JoinType_JOIN_RIGHT {
		keeps, other = j.Rarg, j.Larg
	}
	if j.Jointype != pg_query.JoinType_JOIN_LEFT && j.Jointype != pg_query.JoinType_JOIN_RIGHT || j.Alias != nil {
		s.unproven("this join")
		return nest{}, false
	}
	left, ok := s.inner([]*pg_query.Node{keeps}, nil, conditions)
	if !ok {
		return nest{}, false
	}
	quals := parser.Conjuncts(j.Quals, nil)
	right, ok := s.inner([]*pg_query.Node{other}, nil, nil)
	if !ok {
		return nest{}, false
	}
	by := s.keysOf(&left, &right, quals, map[*pg_query.Node]bool{})
	within := &scope{relations: right.inner}
	matched := len(by.left)
	for _, c := range quals {
		if !within.holds(c) || !refers(c) {
			continue
		}
		sql, _, ok := s.condition(c, within)
		if !ok {
			return nest{}, false
		}
		right.where, matched = append(right.where, sql), matched+1
	}
	if len(by.left) == 0 || matched < len(quals) {
		s.unproven("a join on anything but equal columns")
		return nest{}, false
	}
	s.nullable(&right)
	n := s.joined(left, right, by, " ALL LEFT JOIN ")
	if keeps == j.Rarg {
		n.relations = slices.Concat(right.relations, left.relations)
		n.inner = n.relations
	}
	return n, true
}

// shared joins two sides by USING or NATURAL, which makes one of columns of both.
func (s *shipper) shared(j *pg_query.JoinExpr, conditions []*pg_query.Node) (nest, bool) {
	word, others := " ALL INNER JOIN ", conditions
	switch {
	case j.Jointype == pg_query.JoinType_JOIN_LEFT:
		word, others = " ALL LEFT JOIN ", nil
	case j.Jointype != pg_query.JoinType_JOIN_INNER || j.Alias != nil || j.JoinUsingAlias != nil:
		s.unproven("this join")
		return nest{}, false
	}
	left, ok := s.inner([]*pg_query.Node{j.Larg}, nil, conditions)
	if !ok {
		return nest{}, false
	}
	right, ok := s.inner([]*pg_query.Node{j.Rarg}, nil, others)
	if !ok {
		return nest{}, false
	}
	e := &scope{relations: slices.Concat(left.relations, right.relations)}
	var by keys
	for _, name := range usingNames(j, e, 0, len(left.relations)) {
		ref := pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(name)}, -1)
		ls, rs, ok := s.partners(ref, ref, &scope{relations: left.inner}, &scope{relations: right.inner})
		if !ok || s.shadowed("=") {
			s.unproven("a join by %s", name)
			return nest{}, false
		}
		by.left, by.right = append(by.left, ls), append(by.right, rs)
	}
	if len(by.left) == 0 {
		s.unproven("a join without equal columns")
		return nest{}, false
	}
	if j.Jointype == pg_query.JoinType_JOIN_LEFT {
		s.nullable(&right)
	}
	n := s.joined(left, right, by, word)
	n.relations, ok = merged(n.relations, usingNames(j, e, 0, len(left.relations)), len(left.relations))
	n.inner = n.relations
	return n, ok
}

// merged puts the columns that a join makes of two in front of the others: they are those of the left side.
func merged(relations []scopeRelation, names []string, left int) ([]scopeRelation, bool) {
	relations = slices.Clone(relations)
	for i := range relations {
		relations[i].columns = slices.Clone(relations[i].columns)
	}
	var made scopeRelation
	for _, name := range names {
		l, ok := visible(relations[:left], name)
		r, both := visible(relations[left:], name)
		if !ok || !both || l.typ.OID != r.typ.OID || l.typ.Typmod != r.typ.Typmod {
			return nil, false
		}
		made.columns = append(made.columns, *l)
		l.merged, r.merged = true, true
	}
	return slices.Insert(relations, 0, made), true
}

// nullable makes columns of a nest NULL where it has no row.
func (s *shipper) nullable(n *nest) {
	renamed := map[string]string{}
	for i, sql := range n.list {
		was := s.d.Identifier(n.names[i])
		n.list[i], n.names[i] = s.nester.Nullable(sql), s.fresh()
		renamed[was] = s.d.Identifier(n.names[i])
	}
	relations := make([]scopeRelation, len(n.relations))
	for i, r := range n.relations {
		r.columns = slices.Clone(r.columns)
		for k := range r.columns {
			c := &r.columns[k]
			c.sql, c.typ.NotNull = renamed[c.sql], false
		}
		relations[i] = r
	}
	n.relations = relations
}

// joined is the nest of two others. Current servers want names for both, which no column has.
func (s *shipper) joined(left, right nest, by keys, word string) nest {
	names := make([]string, len(by.left))
	for i := range names {
		names[i] = s.fresh()
	}
	n := nest{
		sql:       left.sub(s.d, by.left, names) + " AS " + s.d.Identifier("_l") + word + right.sub(s.d, by.right, names) + " AS " + s.d.Identifier("_r") + " USING (" + s.identifiers(names) + ")",
		names:     slices.Concat(left.names, right.names),
		relations: slices.Concat(left.relations, right.relations),
	}
	for _, name := range n.names {
		n.list = append(n.list, s.d.Identifier(name))
	}
	n.inner = n.relations
	return n
}

// keysOf are what conditions, which it notes, say to be equal on two sides.
func (s *shipper) keysOf(left, right *nest, conditions []*pg_query.Node, used map[*pg_query.Node]bool) keys {
	var by keys
	l, r := &scope{relations: left.inner}, &scope{relations: right.inner}
	for _, c := range conditions {
		x := c.GetAExpr()
		if x == nil || x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || len(x.Name) != 1 || lastName(x.Name) != "=" || x.Lexpr == nil || s.shadowed("=") || !refers(x.Lexpr) || !refers(x.Rexpr) {
			continue
		}
		a, b := x.Lexpr, x.Rexpr
		if l.holds(b) && r.holds(a) {
			a, b = b, a
		}
		if !l.holds(a) || !r.holds(b) {
			continue
		}
		mark := len(s.params)
		ls, rs, ok := s.partners(a, b, l, r)
		if !ok {
			s.params = s.params[:mark]
			continue
		}
		used[c] = true
		by.left, by.right = append(by.left, ls), append(by.right, rs)
	}
	return by
}

// partners prints two values that are joined by.
func (s *shipper) partners(a, b *pg_query.Node, l, r *scope) (left, right string, ok bool) {
	list := []operand{{node: a}, {node: b}}
	for i, e := range []*scope{l, r} {
		if list[i].sql, list[i].typ, ok = s.expression(list[i].node, e); !ok {
			return "", "", false
		}
	}
	at, bt := list[0].typ, list[1].typ
	if _, _, ok = s.apply(dialect.Operator, "=", list, l); !ok || at.OID != bt.OID && !(at.IsInt() && bt.IsInt()) {
		return "", "", false
	}
	if left, ok = s.nester.Key(list[0].sql, at); !ok {
		return "", "", false
	}
	right, ok = s.nester.Key(list[1].sql, bt)
	return left, right, ok
}

// among prints IN over a sub-select, for what it is true of.
func (s *shipper) among(value string, t typ, sql string, column scopeColumn) (string, typ, bool) {
	if t.OID != column.typ.OID && !(t.IsInt() && column.typ.IsInt()) {
		return s.unproven("IN over a sub-select of %s", column.typ.Name())
	}
	left, ok := s.nester.Key(value, t)
	right, both := s.nester.Key(s.d.Identifier(remoteNames([]scopeColumn{column})[0]), column.typ)
	if !ok || !both {
		return s.unproven("IN over a sub-select of %s", column.typ.Name())
	}
	return "(" + left + " IN (SELECT " + right + " AS " + s.d.Identifier(s.fresh()) + " FROM (" + sql + ")))", boolean, true
}
