package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// Bind says that rows of one input without a key in another one have no part in the result: where the other turns out to
// have few keys, they are sent along and BoundSQL is asked instead.
type Bind struct {
	From, To int    // inputs, by index
	Column   int    // of From: its index in Columns
	Type     uint32 // of From's key: an integer's, or text
}

// mostFromRows is how many rows an input may have, by estimate, whose keys are tried.
const mostFromRows = 100_000

// binds finds the inputs of a federated statement that the keys of others can restrict, one for each, and makes their BoundSQL.
func (b *builder) binds() []Bind {
	var list []Bind
	uses := map[int]int{}
	for i := range b.sources {
		uses[b.sources[i].feed]++
	}
	taken := map[int]bool{}
	parser.Walk(b.statement.Node, func(m proto.Message) bool {
		q, ok := m.(*pg_query.SelectStmt)
		if !ok {
			return true
		}
		for _, pair := range b.equalities(q) {
			from, to := pair[0], pair[1]
			if from.source.rows > to.source.rows {
				from, to = to, from
			}
			f, t := from.source.feed-1, to.source.feed-1
			if taken[t] || taken[f] || uses[t+1] > 1 || from.source.rows > mostFromRows || f == t || from.source.server == nil && to.source.server == nil {
				continue
			}
			if bind, ok := b.bindInputs(f, t, from, to); ok {
				list = append(list, bind)
				taken[t] = true
			}
		}
		return true
	})
	return list
}

// key is a column of a source.
type key struct {
	source *source
	column *catalog.Column
	index  int
}

// equalities returns the pairs of columns of two sources that a level's rows must have equal.
func (b *builder) equalities(q *pg_query.SelectStmt) (pairs [][2]key) {
	var tables []*pg_query.RangeVar
	conditions := parser.Conjuncts(q.WhereClause, nil)
	for _, n := range q.FromClause {
		tables, conditions = kept(n, tables, conditions)
	}
	var sources []*source
	for _, v := range tables {
		if s := b.sourceOf(v); s != nil && v.GetAlias().GetColnames() == nil {
			sources = append(sources, s)
		}
	}
	for _, c := range conditions {
		x := c.GetAExpr()
		if x == nil || x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || lastName(x.Name) != "=" {
			continue
		}
		left, right := keyOf(x.Lexpr, sources), keyOf(x.Rexpr, sources)
		if left.source != nil && right.source != nil && left.source != right.source && keyTypes(left.column, right.column) {
			pairs = append(pairs, [2]key{left, right})
		}
	}
	return pairs
}

// keyOf returns the column that an expression is, of one of the sources by its table's name.
func keyOf(n *pg_query.Node, sources []*source) (k key) {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 || len(fields) > 2 {
		return key{}
	}
	for _, s := range sources {
		if len(fields) == 2 && fields[0].GetString_().GetSval() != s.alias {
			continue
		}
		for i := range s.table.Columns {
			if s.table.Columns[i].Name == lastName(fields) {
				if k.source != nil {
					return key{}
				}
				k = key{s, &s.table.Columns[i], i}
			}
		}
	}
	return k
}

// keyTypes reports whether values of two columns are compared as they are spelled: integers, or texts of which only equal
// bytes are equal.
func keyTypes(a, b *catalog.Column) bool {
	ta, tb := columnTyp(a, dialect.DuckDB{}), columnTyp(b, dialect.DuckDB{})
	return ta.IsInt() && tb.IsInt() || ta.IsText() && tb.IsText() && ta.Exact && tb.Exact
}

// bindInputs makes a Bind of two keys.
func (b *builder) bindInputs(f, t int, from, to key) (Bind, bool) {
	bind := Bind{From: f, To: t, Column: -1, Type: from.column.Type}
	for i, c := range b.inputs[f].Columns {
		if c == from.index {
			bind.Column = i
		}
	}
	in := &b.inputs[t]
	if isSimple(to.source.dialect) || bind.Column < 0 || b.inputs[f].Blank || in.Blank || to.source.body != "" || in.Screen != nil || to.source.dialect != nil && to.source.dialect.Ships() < dialect.Statements {
		return bind, false
	}
	word := " WHERE "
	if len(in.Filters) > 0 {
		word = " AND "
	}
	in.Arrays = to.source.framed()
	in.BoundSQL = in.RemoteSQL + word + to.among("$"+itoa(len(in.Params)+1), isInt(from.column.Type))
	return bind, true
}

// among prints that a key is one of those that a parameter holds: integers, or texts.
func (k key) among(param string, ints bool) string {
	column := k.source.dialect.Column(k.column, "")
	if d := (dialect.Postgres{}); k.source.server == nil {
		column = d.Identifier(k.source.alias) + "." + d.Identifier(k.column.Name)
	}
	if k.source.framed() {
		array := map[bool]string{true: "int8[]", false: "text[]"}[ints]
		return column + " OPERATOR(pg_catalog.=) ANY (CAST(" + param + " AS pg_catalog." + array + "))"
	}
	if d, ok := k.source.dialect.(dialect.Standard); ok {
		sql, _ := d.Listed(param, column, dialect.Plain(map[bool]uint32{true: int8OID, false: textOID}[ints]))
		return sql
	}
	array := map[bool]string{true: "BIGINT[]", false: "VARCHAR[]"}[ints]
	return column + " IN (SELECT unnest(CAST(CAST(" + param + " AS JSON) AS " + array + ")))"
}

func isInt(oid uint32) bool { return oid == int2OID || oid == int4OID || oid == int8OID }
