package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
)

// mostHomeRows is how many rows of home's, by its own estimate, are brought to foreign ones where the route is free: home
// may have indexes for more.
const mostHomeRows = 1_000_000

// federated plans that the federation engine computes the statement over inputs of several servers and of home; nil, with
// the reason noted, where it cannot.
func (b *builder) federated() *Plan {
	foreign := len(b.sources)
	b.feeding = true
	p := b.federate()
	if b.feeding = false; p == nil {
		b.sources, b.inputs = b.sources[:foreign], nil
	}
	return p
}

func (b *builder) federate() *Plan {
	sel, format := b.rows()
	switch {
	case sel == nil:
		b.because("only a SELECT, or COPY of one to STDOUT in text or binary, runs federated")
		return nil
	case b.req.Home == nil:
		b.because("there is no federation engine")
		return nil
	case b.namesSchema():
		b.because("a column that is named with its table's schema is read at home")
		return nil
	case !b.addHome() || !b.deliverable() || !b.feed():
		return nil
	}
	s := b.newShipper(dialect.DuckDB{})
	s.feeds = true
	sql, ok := s.statement(sel, format)
	if !ok || b.twice(sql) {
		return nil
	}
	return &Plan{
		Route: Federated, RemoteSQL: sql, Params: s.params, Inputs: b.inputs, Binds: b.binds(), Privileges: b.privileges, Copy: format, Guarded: s.guarded,
	}
}

// twice reports whether an input of home, which is read but once, stands in the text more often: what is printed twice may
// have a sub-select in it.
func (b *builder) twice(sql string) bool {
	for i := range b.inputs {
		if b.inputs[i].Server == nil && strings.Count(sql, feedOf(i+1)) > 1 {
			b.because("rows of home would be read twice")
			return true
		}
	}
	return false
}

// feedOf is the FROM item that reads an input of a federated statement, the first being 1.
func feedOf(input int) string { return feedName + itoa(input) + ")" }

const feedName = "sluice_feed("

// several reports whether relations of more than one place take part, so that no one engine can compute the statement.
func (b *builder) several() bool {
	return slices.ContainsFunc(b.req.References, func(r Reference) bool { return r.Relation == nil || r.Relation.Kind == 'm' }) ||
		slices.ContainsFunc(b.sources, func(s source) bool { return s.server != b.sources[0].server })
}

// namesSchema reports whether a column of a relation of home's is called by three names or more. Those of foreign tables
// were shortened.
func (b *builder) namesSchema() (found bool) {
	parser.Walk(b.statement.Node, func(m proto.Message) bool {
		if c, ok := m.(*pg_query.ColumnRef); ok {
			found = found || len(c.Fields) > 2
		}
		return true
	})
	return found
}

// addHome makes sources of the statement's relations of home.
func (b *builder) addHome() bool {
	var rows int64
	for i, r := range b.relations {
		if t := b.req.References[i].Relation; t != nil && t.Kind != 'm' {
			continue
		}
		h := b.req.Home[b.req.References[i].OID]
		switch {
		case h == nil:
			b.because("relation %q is read at home", r.Name)
			return false
		case !h.Readable:
			b.because("home checks which columns of %q the statement uses", r.Name)
			return false
		case b.req.Force != Federated && (h.Rows < 0 || rows+h.Rows > mostHomeRows):
			b.because("home has too many rows in %q to bring them to others", r.Name)
			return false
		}
		rows += h.Rows
		b.sources = append(b.sources, source{Relation: r, table: &h.Relation, alias: aliasOf(r.Var), dialect: dialect.DuckDB{}, rows: h.Rows})
	}
	return true
}

// feed makes an input of each source.
func (b *builder) feed() bool {
	filters := b.filters()
	b.share(filters)
	for i := range b.sources {
		s := &b.sources[i]
		var in *Input
		var err error
		if s.server == nil {
			in, err = b.homeInput(s, filters[s.Var])
		} else {
			in, err = b.input(s, filters[s.Var])
		}
		if err != nil {
			b.because("%s", pgerr.From(err).Message)
			return false
		}
		in.Spelled = false
		if in.Feed == nil && !b.feedColumns(s, in) {
			return false
		}
		s.feed = slices.IndexFunc(b.inputs, func(o Input) bool { return o.TempName == in.TempName }) + 1
		in.Rows = b.estimated(s, len(in.Filters) > 0)
		s.rows = in.Rows
	}
	return true
}

// feedColumns says what the columns of an input are in the federation engine.
func (b *builder) feedColumns(s *source, in *Input) bool {
	for _, i := range in.Columns {
		c := &s.table.Columns[i]
		name := dialect.DuckDB{}.Type(c.Type, c.Typmod)
		if name == "TIMETZ" || !dialect.Feeds(s.dialect, c) || (s.framed() || isSimple(s.dialect)) && strings.HasSuffix(name, "[]") {
			b.because("column %q is of a type that is not brought to other engines", c.Name)
			return false
		}
		in.Feed = append(in.Feed, engines.FeedColumn{Name: feedColumn(i), Type: name})
	}
	return true
}

// feedColumn is the name of a relation's i-th column in a feed: the relation's own may differ by case alone.
func feedColumn(i int) string { return "c" + itoa(i+1) }

// homeInput is the input that home yields for a relation of its own, in the binary form of the types that the federation
// engine has.
func (b *builder) homeInput(s *source, f filter) (*Input, error) {
	in := Input{Relation: s.table, Columns: b.columns(s), TempName: b.req.TempPrefix + itoa(len(b.inputs)+1)}
	alias := &pg_query.Alias{Aliasname: s.alias}
	sel := &pg_query.SelectStmt{
		FromClause: []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: &pg_query.RangeVar{
			Schemaname: s.table.Schema, Relname: s.table.Name, Inh: s.Var.Inh, Relpersistence: "p", Alias: alias,
		}}}},
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	for _, i := range in.Columns {
		c := &s.table.Columns[i]
		value := pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(s.alias), pg_query.MakeStrNode(c.Name)}, -1)
		if fedAsText(c) {
			value = castTo(value, "pg_catalog", "text")
		}
		sel.TargetList = append(sel.TargetList, pg_query.MakeResTargetNodeWithVal(value, -1))
	}
	var conditions []string
	for i, n := range f.nodes {
		text, err := parser.DeparseList(f.nodes[i : i+1])
		if err != nil {
			return nil, err
		}
		in.Filters = append(in.Filters, text)
		own := proto.CloneOf(n)
		in.Params = renumber(own, in.Params)
		if text, err = parser.DeparseList([]*pg_query.Node{own}); err != nil {
			return nil, err
		}
		conditions = append(conditions, text)
	}
	var err error
	in.RemoteSQL, err = parser.Deparse(&pg_query.RawStmt{Stmt: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}})
	if len(conditions) > 0 {
		in.RemoteSQL += " WHERE (" + strings.Join(conditions, ") AND (") + ")"
	}
	b.inputs = append(b.inputs, in)
	return &b.inputs[len(b.inputs)-1], err
}

// framed reports whether a source's rows come as frames of a Postgres in binary form.
func (s *source) framed() bool { return s.server == nil || s.dialect.Verbatim() }

// fedAsText reports whether a Postgres must spell out the values of a column as text for the federation engine. Of text and
// json the binary form is the text.
func fedAsText(c *catalog.Column) bool {
	t := dialect.DuckDB{}.Type(c.Type, c.Typmod)
	return (t == "VARCHAR" || t == "JSON") && c.Type != textOID && c.Type != varcharOID && c.Type != 114
}

// renumber makes the parameters of an expression count on from those that a list has, and returns the list with them.
func renumber(n *pg_query.Node, params []int) []int {
	parser.Walk(n, func(m proto.Message) bool {
		if p, ok := m.(*pg_query.ParamRef); ok {
			params = append(params, int(p.Number))
			p.Number = int32(len(params))
		}
		return true
	})
	return params
}
