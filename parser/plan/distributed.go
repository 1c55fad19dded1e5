package plan

import (
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/dialect"
)

// distributed plans that the server of sluice.federation_server computes the whole statement over relations of others, which
// its catalogs reach; nil, with the reason noted, where it cannot.
func (b *builder) distributed() *Plan {
	if b.req.Federation == nil {
		return nil
	}
	own, first := b.sources, b.reason
	b.reason = ""
	sel, format := b.rows()
	if b.reached(sel) && b.deliverable() {
		if p := b.computed(sel, format); p != nil && b.once(p.RemoteSQL) {
			p.Route, p.Inputs = Federated, b.inputs
			for i, s := range own {
				if s.server != p.Server && b.sources[i].sent == 0 && !slices.Contains(p.Over, s.server) {
					p.Over = append(p.Over, s.server)
				}
			}
			return p
		}
	}
	b.elsewhere = "server \"" + b.req.Federation.Name + "\" does not compute it: " + b.reason
	b.sources, b.reason, b.inputs = own, first, nil
	return nil
}

// reached makes all relations of the statement tables of the server that joins them, or rows in its text.
func (b *builder) reached(sel *pg_query.SelectStmt) bool {
	if sel == nil {
		b.because("only a SELECT, or COPY of one to STDOUT in text or binary, runs there")
		return false
	}
	if b.namesSchema() {
		b.because("a column that is named with its table's schema is read at home")
		return false
	}
	sources, beyond := slices.Clone(b.sources), sendable{}
	role, ok := b.reachForeign(sources, beyond)
	if !ok {
		return false
	}
	if sources, ok = b.reachHome(sources, beyond, role); !ok || !b.send(sources, beyond) {
		return false
	}
	for i := range beyond {
		sources[i].role = role
	}
	b.sources = sources
	return true
}

// reachForeign makes foreign tables those of the server that joins, and notes those that it does not reach. It returns whose user mapping
// is used there.
func (b *builder) reachForeign(sources []source, beyond sendable) (role uint32, ok bool) {
	catalogs, err := engines.ParsePairs(b.req.Federation.Options["catalogs"])
	if err != nil {
		catalogs = nil // it reaches its own tables, and perhaps those of home
	}
	first := true
	for i := range sources {
		s := &sources[i]
		own := s.server.OID == b.req.Federation.OID
		schema, table, named := dialect.PlaceOf(s.dialect, s.table)
		name := catalogs[s.server.Name]
		if !own && (name == "" || !named) {
			beyond[i] = fmt.Sprintf("none of its catalogs reaches table %q of server %q", s.table.Name, s.server.Name)
			continue
		}
		if !first && s.role != role {
			b.because("relations are read as several roles")
			return 0, false
		}
		first, role = false, s.role
		if !own && !b.move(s, map[string]string{"catalog_name": name, "schema_name": schema, "table_name": table}) {
			return 0, false
		}
	}
	return role, true
}

// reachHome adds the relations of home: as tables of the server that joins as far as others see of them what this session does.
func (b *builder) reachHome(sources []source, beyond sendable, role uint32) ([]source, bool) {
	name := b.req.Federation.Options["home_catalog"]
	for i, r := range b.relations {
		if t := b.req.References[i].Relation; t != nil && t.Kind != 'm' {
			continue
		}
		h := b.req.Home[b.req.References[i].OID]
		if h == nil {
			b.because("relation %q is read at home", r.Name)
			return nil, false
		}
		if !h.Readable {
			b.because("home checks which columns of %q the statement uses", r.Name)
			return nil, false
		}
		s := source{Relation: r, table: &h.Relation, alias: aliasOf(r.Var), dialect: dialect.DuckDB{}, rows: h.Rows}
		switch {
		case name == "":
			beyond[len(sources)] = fmt.Sprintf("relation %q is read at home", r.Name)
		case !h.Shared || !r.Var.Inh:
			beyond[len(sources)] = fmt.Sprintf("other sessions may see other rows of %q", r.Name)
		case role != 0:
			beyond[len(sources)] = "relations are read as several roles"
		case !b.move(&s, map[string]string{"catalog_name": name, "schema_name": h.Schema, "table_name": h.Name}):
			return nil, false
		}
		sources = append(sources, s)
	}
	return sources, true
}

// move makes the table of a source one of the server that joins.
func (b *builder) move(s *source, options map[string]string) bool {
	for _, i := range b.used.of(s) {
		c := &s.table.Columns[i]
		if !dialect.Moves(c) {
			b.because("column %q is of a type that another server may spell otherwise", c.Name)
			return false
		}
		if s.framed() && s.rules != nil && (c.Type == timestampOID || c.Type == timestamptzOID) { // nobody may learn of infinity in what they hide
			b.because("column %q of a governed table may have an infinite time", c.Name)
			return false
		}
	}
	table := *s.table
	table.Server, table.Options, table.Columns = b.req.Federation, options, nil
	for _, c := range s.table.Columns {
		if dialect.Moves(&c) { // others may not even be there
			c.Options = map[string]string{"column_name": dialect.ColumnName(&c)}
			if s.framed() {
				c.Options[dialect.Finite] = "true"
			}
			table.Columns = append(table.Columns, c)
		}
	}
	d, err := dialect.Of(table.Server)
	if err != nil {
		b.because("%v", err)
		return false
	}
	s.table, s.server, s.dialect = &table, table.Server, d
	return true
}

// Joined reports whether the federation engine computes the statement, over Inputs.
func (p *Plan) Joined() bool { return p.Route == Federated && p.Server == nil }

// Reads reports whether the plan reads a server without home: then no other statement's writes can be waited for.
func (p *Plan) Reads(server *catalog.Server) bool {
	reads := func(s *catalog.Server) bool { return s != nil && s.OID == server.OID }
	switch p.Route {
	case Remote, Federated:
		return reads(p.Server) || slices.ContainsFunc(p.Over, reads) || slices.ContainsFunc(p.Inputs, func(in Input) bool { return reads(in.Server) })
	}
	return false
}
