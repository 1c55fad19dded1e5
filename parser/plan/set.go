package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

var setOperations = map[pg_query.SetOperation]string{
	pg_query.SetOperation_SETOP_UNION: " UNION ", pg_query.SetOperation_SETOP_INTERSECT: " INTERSECT ", pg_query.SetOperation_SETOP_EXCEPT: " EXCEPT ",
}

// setOperation prints UNION, INTERSECT and EXCEPT of arms whose columns have the same types, or integer ones.
func (s *shipper) setOperation(q *pg_query.SelectStmt, e *scope) (string, []scopeColumn, bool) {
	if s.simple != nil {
		return s.union(q, e)
	}
	left, lc, ok := s.query(q.Larg, e)
	if !ok {
		return "", nil, false
	}
	right, rc, ok := s.query(q.Rarg, e)
	if !ok {
		return "", nil, false
	}
	columns, ok := s.united(lc, rc, q.All)
	if !ok {
		return "", nil, false
	}
	op := setOperations[q.Op]
	if q.All {
		op += "ALL "
	}
	return "(" + s.arm(left, lc, columns) + ")" + op + "(" + s.arm(right, rc, columns) + ")", columns, true
}

// united returns the columns of a set operation.
func (s *shipper) united(lc, rc []scopeColumn, all bool) ([]scopeColumn, bool) {
	columns := slices.Clone(lc)
	for i := range columns {
		if len(rc) != len(lc) {
			s.no("the arms have different numbers of columns")
			return nil, false
		}
		l, r := lc[i].typ, rc[i].typ
		t := l
		switch {
		case l.IsInt() && r.IsInt():
			t = dialect.Plain(widest([]operand{{typ: l}, {typ: r}}))
		case l.OID != r.OID || l.Typmod != r.Typmod || l.Wide != r.Wide || l.OID == unknownOID:
			s.no("set operations over %s and %s are evaluated at home", l.Name(), r.Name())
			return nil, false
		default:
			t.Bytewise, t.Exact, t.Declared = l.Bytewise && r.Bytewise, l.Exact && r.Exact, l.Declared && r.Declared
			if t.Collate = dialect.Collate(l.Collate, r.Collate); t.Collate == dialect.Indeterminate {
				t.Bytewise, t.Exact = false, false
			}
			t.Loose, t.Dynamic, t.Narrow = l.Loose || r.Loose, "", false
		}
		if !all && !s.groups(t) {
			return nil, false
		}
		columns[i].typ, columns[i].raises = t, lc[i].raises || rc[i].raises
	}
	return columns, true
}

// arm brings the integers and the decimals of one arm to the types of all.
func (s *shipper) arm(sql string, from, to []scopeColumn) string {
	casts, names := make([]string, len(from)), make([]string, len(from))
	same := true
	for i, c := range from {
		names[i] = s.d.Identifier("c" + itoa(i+1))
		casts[i] = names[i]
		if t := to[i].typ; t.IsInt() && c.typ.OID != t.OID || c.typ.Narrow {
			casts[i], same = "CAST("+names[i]+" AS "+s.d.Type(t.OID, t.Typmod)+")", false
		}
	}
	if same {
		return sql
	}
	return "SELECT " + strings.Join(casts, ", ") + " FROM (" + sql + ") AS u (" + strings.Join(names, ", ") + ")"
}

// values prints VALUES, whose columns have one type each.
func (s *shipper) values(q *pg_query.SelectStmt, e *scope) (string, []scopeColumn, bool) {
	if s.standard != nil && holdsQuery(q.ValuesLists) {
		s.unproven("a sub-select in VALUES")
		return "", nil, false
	}
	width := len(q.ValuesLists[0].GetList().GetItems())
	rows := make([][]string, len(q.ValuesLists))
	var columns []scopeColumn
	for i := range width {
		column := make([]*pg_query.Node, len(rows))
		for j, n := range q.ValuesLists {
			column[j] = n.GetList().GetItems()[i]
		}
		list, t, ok := s.sameType(column, e)
		if !ok {
			return "", nil, false
		}
		for j, o := range list {
			rows[j] = append(rows[j], "CAST("+o.sql+" AS "+s.d.Type(t.OID, t.Typmod)+")")
		}
		columns = append(columns, scopeColumn{name: "column" + itoa(i+1), typ: t})
	}
	parts := make([]string, len(rows))
	for j, row := range rows {
		parts[j] = "(" + strings.Join(row, ", ") + ")"
	}
	return "SELECT * FROM (VALUES " + strings.Join(parts, ", ") + ") AS v (" + s.identifiers(columnNames(columns)) + ")", columns, true
}

func holdsQuery(nodes []*pg_query.Node) (holds bool) {
	for _, n := range nodes {
		parser.Walk(n, func(m proto.Message) bool {
			_, sub := m.(*pg_query.SubLink)
			holds = holds || sub
			return !holds
		})
	}
	return holds
}

// recursive prints a common table expression that refers to itself: its first arm gives the columns their types, as at home.
func (s *shipper) recursive(c *pg_query.CommonTableExpr, q *pg_query.SelectStmt, e *scope) (string, scopeRelation, bool) {
	no := scopeRelation{}
	if q.Op != pg_query.SetOperation_SETOP_UNION || c.SearchClause != nil || c.CycleClause != nil || len(q.SortClause) > 0 || q.LimitCount != nil || q.LimitOffset != nil {
		s.no("this WITH RECURSIVE is evaluated at home")
		return "", no, false
	}
	inner := &scope{outer: e}
	left, lc, ok := s.query(q.Larg, inner)
	if !ok {
		return "", no, false
	}
	r := s.renamed(lc, columnNames(lc), c.Ctename, "", texts(c.Aliascolnames))
	r.remote, r.names = s.alias(c.Ctename), columnNames(lc)
	inner.ctes = append(inner.ctes, r)
	right, rc, ok := s.query(q.Rarg, inner)
	if !ok {
		return "", no, false
	}
	if s.feeds && strings.Contains(right, feedName) {
		s.no("inputs would be read again for each step of WITH RECURSIVE")
		return "", no, false
	}
	columns, ok := s.united(lc, rc, q.All)
	if !ok {
		return "", no, false
	}
	s.exposeColumns(columns...) // the second arm may have named them
	for i := range columns {    // what the second arm has read as the first arm's type must be of that type
		if t := lc[i].typ; columns[i].typ != t {
			s.no("the arms of WITH RECURSIVE differ in a type")
			return "", no, false
		}
	}
	op := " UNION "
	if q.All {
		op = " UNION ALL "
	}
	return left + op + s.arm(right, rc, columns), r, true
}
