package plan

import (
	"cmp"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// shipSelects makes one source of each SELECT within the statement that its server can compute as a whole and that yields
// fewer rows than it reads: home then gets its rows and no others.
func (b *builder) shipSelects() {
	if b.statement.Kind == parser.DeclareCursor { // home tells of a cursor's columns where they come from
		return
	}
	var whole []source
	parser.Walk(b.statement.Node, func(m proto.Message) bool {
		n, ok := m.(*pg_query.Node)
		sel := n.GetSelectStmt()
		if !ok || sel == nil || !reduces(sel) {
			return true
		}
		s, ok := b.reduced(n, sel)
		if !ok {
			return true
		}
		s.alias = ownSelect + itoa(len(whole)+1)
		s.Var.Relname, s.Var.Alias.Aliasname = s.alias, s.alias
		whole = append(whole, s)
		return false
	})
	if len(whole) > 0 {
		b.sources = append(whole, b.remaining()...)
		b.used = columnsUsed(b.statement.Node)
	}
}

// reduced puts a SELECT over rows of its server in place of a SELECT. Of the statement itself that is known not to be one that the
// server computes as a whole; where home is asked to compute it, home does.
func (b *builder) reduced(n *pg_query.Node, sel *pg_query.SelectStmt) (source, bool) {
	itself := n == b.statement.Node.Stmt
	if !itself {
		if s, ok := b.wholeSelect(n, sel); ok {
			return s, true
		}
	}
	if itself && b.req.Force == HomeJoin {
		return source{}, false
	}
	return b.shipGroups(n, sel)
}

// ownSelect begins the name by which home's statement calls the rows of a shipped SELECT.
const ownSelect = "sluice_select_"

// reduces reports whether a SELECT yields fewer rows than it reads.
func reduces(q *pg_query.SelectStmt) bool {
	return len(q.GroupClause) > 0 || len(q.DistinctClause) > 0 || q.LimitCount != nil || singleRow(q)
}

// remaining returns the sources that the statement still names.
func (b *builder) remaining() []source {
	named := map[*pg_query.RangeVar]bool{}
	for _, n := range rangeVars(b.statement.Node.Stmt) {
		named[n.GetRangeVar()] = true
	}
	var kept []source
	for _, s := range b.sources {
		if named[s.Var] {
			kept = append(kept, s)
		}
	}
	return kept
}

// wholeSelect puts a SELECT over what its server yields in place of a SELECT; false where the server cannot compute it.
func (b *builder) wholeSelect(n *pg_query.Node, sel *pg_query.SelectStmt) (source, bool) {
	first := b.oneServer(n)
	if first == nil || first.dialect.Ships() < dialect.Statements {
		return source{}, false
	}
	sql, params, columns, ok := b.selectFor(first, sel)
	if !ok {
		return source{}, false
	}
	table := &catalog.Relation{Name: "select", Kind: 's', Columns: columns}
	names, taken := make([]string, len(columns)), map[string]bool{}
	var list []*pg_query.Node
	for i, c := range columns {
		if taken[strings.ToLower(c.Name)] {
			return source{}, false
		}
		taken[strings.ToLower(c.Name)] = true
		names[i] = first.dialect.Identifier(c.Name)
		list = append(list, pg_query.MakeResTargetNodeWithVal(pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(c.Name)}, -1), -1))
	}
	s := *first
	s.table, s.params = table, params
	s.body = derived(first.dialect, sql, names)
	s.Var = &pg_query.RangeVar{Inh: true, Relpersistence: "p", Alias: &pg_query.Alias{}}
	s.Holder = &pg_query.Node{Node: &pg_query.Node_RangeVar{RangeVar: s.Var}}
	n.Node = &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: list, FromClause: []*pg_query.Node{s.Holder},
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}}
	return s, true
}

// selectFor prints a SELECT for the server of its sources, with the parameters in it and the columns that it yields.
func (b *builder) selectFor(first *source, sel *pg_query.SelectStmt) (sql string, params []int, list []catalog.Column, ok bool) {
	if first.dialect.Verbatim() {
		return b.verbatimSelect(first, sel)
	}
	sh := b.newShipper(first.dialect)
	sql, columns, ok := sh.query(sel, nil)
	if !ok || sh.guarded || sh.raises {
		return "", nil, nil, false
	}
	for _, c := range columns {
		column, ok := columnFor(c)
		if !ok {
			return "", nil, nil, false
		}
		list = append(list, column)
	}
	return sql, sh.params, list, true
}

// oneServer returns one of the sources below a node, nil where there is none or they are not all of one server and role.
func (b *builder) oneServer(n *pg_query.Node) *source {
	var first *source
	for _, v := range rangeVars(n) {
		s := b.sourceOf(v.GetRangeVar())
		if s == nil || first != nil && (s.server != first.server || s.role != first.role) {
			return nil
		}
		first = s
	}
	return first
}

// columnTypes are the names of the types that columns of shipped SELECTs have.
var columnTypes = map[uint32]string{
	boolOID: "boolean", int2OID: "smallint", int4OID: "integer", int8OID: "bigint", textOID: "text", varcharOID: "character varying",
	bpcharOID: "character", float4OID: "real", float8OID: "double precision", dateOID: "date", timestampOID: "timestamp without time zone",
	timestamptzOID: "timestamp with time zone", numericOID: "numeric", uuidOID: "uuid",
}

// columnFor returns the column at home for one of a SELECT; false where its type there is not known.
func columnFor(c scopeColumn) (catalog.Column, bool) {
	t := c.typ
	name := columnTypes[t.OID]
	out := catalog.Column{Name: c.name, Type: t.OID, Typmod: t.Typmod, TypeName: name, Collation: defaultCollation, Collate: t.Collate, BytewiseC: t.Bytewise}
	modifier, ok := "", true
	switch {
	case t.AsText, t.Loose, t.Vague, t.Collate == dialect.Indeterminate, name == "":
		return out, false
	case t.OID == bpcharOID, t.OID == varcharOID && t.Declared && t.Typmod > 4:
		modifier, ok = "("+itoa(int(t.Typmod)-4)+")", t.Declared && t.Typmod > 4
	case t.OID == numericOID && t.Declared && !t.Wide:
		p, s, known := t.Decimal()
		modifier, ok = "("+itoa(p)+", "+itoa(s)+")", known
	case t.Typmod != -1 && t.OID != numericOID:
		ok = false
	}
	out.TypeName += modifier
	out.Options = map[string]string{"column_name": cmp.Or(c.remote, c.name)} // as it is written: no dialect is to fold it
	return out, ok
}
