package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/govern"
	"github.com/sluicedb/sluice/pgerr"
)

// Build plans a statement over foreign tables. Route Home says that nothing of ours is in it.
func Build(req Request) (*Plan, error) {
	p, err := build(req)
	if err == nil {
		err = p.checkScans(req)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func build(req Request) (*Plan, error) {
	if !anyOurs(req.References) {
		return &Plan{Route: Home}, nil
	}
	switch req.Force {
	case "", Remote, Federated, HomeJoin:
	default:
		return nil, pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "invalid value for parameter \"sluice.route\": %q", string(req.Force)),
			"Available values: remote, federated, home_join.")
	}
	b := newBuilder(req)
	p, err := b.plan()
	if err == nil {
		p.checks, p.Moments, p.Governed = b.checks, b.moments, b.governed
		if b.refused != nil { // nothing that could be run stands in it
			p = &Plan{Route: p.Route, Reason: p.Reason, Privileges: p.Privileges, Governed: true, Refused: b.refused}
		}
		p.Masked, p.Home = slices.Sorted(maps.Keys(b.masked)), b.maskedTables()
	}
	return p, err
}

// plan chooses a route.
func (b *builder) plan() (*Plan, error) {
	req := b.req
	if err := b.resolve(); err != nil {
		return nil, err
	}
	if b.target != nil {
		return b.write()
	}
	if b.passes() {
		return &Plan{Route: Home}, nil
	}
	if b.atHome && len(b.sources) == 0 { // whatever route is asked for
		b.because("home computes the masks of its own tables")
		return b.homeJoin()
	}
	if c := b.statement.Node.Stmt.GetCreateTableAsStmt(); c != nil && c.Objtype == pg_query.ObjectType_OBJECT_MATVIEW && !c.Into.GetSkipData() && len(b.sources) > 0 {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "a materialized view over foreign tables cannot be filled"),
			"Use CREATE TABLE … AS, or WITH NO DATA.")
	}
	if p := b.shipped(); p != nil {
		if p.Joined() {
			p.Reason = b.elsewhere
		}
		return p, nil
	}
	if req.Force == Remote || req.Force == Federated {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the statement cannot run %s: %s", req.Force, b.reason),
			"RESET sluice.route lets home compute what cannot be shipped.")
	}
	return b.homeJoin()
}

// shipped plans the statement without home, where that is possible and asked for.
func (b *builder) shipped() (p *Plan) {
	if b.req.Force == HomeJoin {
		b.reason = "sluice.route asks for it"
		return nil
	}
	if b.atHome {
		b.because("home computes the masks of its own tables")
		return nil
	}
	if b.req.Force != Federated {
		p = b.remote()
	}
	if p == nil && b.req.Force != Remote {
		p = b.distributed()
	}
	if p == nil && (b.req.Force == Federated || b.req.Force == "" && b.req.Home != nil && b.several()) {
		b.reason = "" // what stands against several places as such is no reason any more
		p = b.federated()
	}
	return p
}

func anyOurs(references []Reference) bool {
	return slices.ContainsFunc(references, func(r Reference) bool { return r.Relation != nil })
}

// builder makes one plan. It works on a clone of the statement, in which views are replaced by their definitions.
type builder struct {
	req        Request
	statement  *parser.Statement // the clone
	feeding    bool              // inputs are made for the federation engine
	relations  []parser.Relation // that the statement itself names, as the request's references
	sources    []source
	atHome     bool     // tables of home that have masks are named, or views over these alone
	masks      []source // references to tables of home that have masks which may hold for the role
	target     *source
	inlined    map[*pg_query.RangeSubselect]*view
	views      []*view // an outer one before those in it
	privileges []Privilege
	inputs     []Input
	used       usedColumns
	moments    []Moment
	checks     []check // of values of parameters, wherever these are shipped
	governed   bool    // rules hold for a relation of the statement
	guard      *Guard  // of the target, nil for none
	masked     map[string]bool
	refused    error // why it must not run, though the role may hold all privileges
	reason     string
	elsewhere  string // why the server of sluice.federation_server does not compute the statement
}

// source is one reference to a foreign table in the clone, or to a view whose rows its server computes.
type source struct {
	parser.Relation
	table   *catalog.Relation
	server  *catalog.Server
	alias   string          // by which the statement calls it
	role    uint32          // whose user mapping is used, 0 for the current role
	dialect dialect.Dialect // the server's
	body    string          // of a view or a SELECT: what stands for it in a FROM clause of the engine
	params  []int           // of a SELECT: the parameters in it
	feed    int             // of a federated statement: which of its inputs, from 1
	sent    int             // of a statement whose text has the source's rows: which of its inputs, from 1
	rows    int64           // an estimate, 0 for none
	rules   *govern.Rules   // what governs it, nil for nothing
}

func newBuilder(req Request) *builder {
	return &builder{req: req, statement: req.Statement.Clone(), inlined: map[*pg_query.RangeSubselect]*view{}}
}

// resolve finds the foreign tables of the statement, its views inlined, and the privileges that they need.
func (b *builder) resolve() error {
	relations := b.statement.Relations()
	if len(relations) != len(b.req.References) {
		return pgerr.New(pgerr.InternalError, "a statement names %d relations, home resolved %d", len(relations), len(b.req.References))
	}
	b.relations = relations
	for i, r := range relations {
		if t := b.req.References[i].Relation; t != nil {
			if err := b.add(r, t, 0); err != nil {
				return err
			}
		}
	}
	b.bind()
	b.readMasked()
	b.used = columnsUsed(b.statement.Node)
	return nil
}

// add takes in one reference. It is read as the owner of the view given, or (0) as the current role.
func (b *builder) add(r parser.Relation, t *catalog.Relation, as uint32) error {
	if ofHome(t) {
		return b.addMasked(r, t)
	}
	if stays, err := b.staysAtHome(t); stays || err != nil {
		b.atHome = true
		return err
	}
	if r.Target {
		switch {
		case t.Kind != 'f':
			return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot write to view %q over foreign tables, or tables with masks", t.Name), "Write to the table itself.")
		case b.target != nil:
			return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot write to foreign tables %q and %q in one statement", b.target.table.Name, t.Name),
				"Write to one foreign table in a statement of its own.")
		}
		if err := b.guardTarget(t); err != nil {
			return err
		}
		d, err := dialect.Of(t.Server)
		b.target = &source{Relation: r, table: t, server: t.Server, dialect: d, alias: aliasOf(r.Var)}
		return err
	}
	g := govern.Read(t, as)
	t, b.privileges = g.Relation, append(b.privileges, g.Needs...)
	switch t.Kind {
	case 'f':
		d, err := dialect.Of(t.Server)
		if err != nil {
			return err
		}
		rules, err := b.rules(t)
		b.sources = append(b.sources, source{Relation: r, table: t, server: t.Server, role: b.owner(as), dialect: d, alias: aliasOf(r.Var), rules: rules})
		return err
	case 'v':
		return b.inline(r, t, g.Within)
	}
	return nil // a materialized view is home's own rows
}

// owner returns the owner of a view, who reads what its definition names; 0 for no view.
func (b *builder) owner(view uint32) uint32 {
	if v := b.req.Snapshot.Relations[view]; v != nil {
		return v.Owner
	}
	return 0
}

func aliasOf(v *pg_query.RangeVar) string {
	if v.Alias != nil {
		return v.Alias.Aliasname
	}
	return v.Relname
}

// homeJoin plans that home runs the statement over temporary tables.
func (b *builder) homeJoin() (*Plan, error) {
	if b.statement.Kind == parser.CopyTo {
		return b.copyHome()
	}
	if err := b.shipSources(); err != nil {
		return nil, err
	}
	sql, err := parser.Deparse(b.statement.Node)
	if err != nil {
		return nil, err
	}
	if b.elsewhere != "" {
		b.reason += "; " + b.elsewhere
	}
	return &Plan{Route: HomeJoin, Reason: b.reason, Inputs: b.inputs, HomeSQL: sql, Privileges: b.privileges}, nil
}

// shipSources makes an input of each foreign table, or view that its server can compute, and lets the clone read that
// instead.
func (b *builder) shipSources() error {
	b.shipViews()
	b.shipSelects()
	filters, probes, gates := b.filters(), b.probes(), b.gates()
	b.share(filters)
	for i := range b.sources {
		s := &b.sources[i]
		before := len(b.inputs)
		in, err := b.input(s, filters[s.Var])
		if err != nil {
			return err
		}
		b.shut(in, gates[s.Var], len(b.inputs) > before)
		in.probe(s, probes[s.Var])
		if b.req.Estimates {
			in.Rows = b.estimated(s, len(in.Filters) > 0)
		}
		if !in.Spelled {
			b.redirect(s, in.TempName)
		} else if err := spell(s, in); err != nil {
			return err
		}
	}
	return nil
}

// input returns the input for a source; sources that need the same share one.
func (b *builder) input(s *source, f filter) (*Input, error) {
	switch {
	case len(s.params) > 0: // whose places are taken
		f = filter{kept: f.kept, params: s.params}
	case b.screens(s): // the server would compare what the role must not see
		f = filter{kept: f.kept}
	}
	in := Input{Relation: s.table, Server: s.server, Role: s.role, Columns: b.columns(s), Filters: f.texts, Kept: f.kept, Params: f.params, Spelled: b.req.ReadOnly}
	if in.Blank = len(in.Columns) == 0; in.Blank {
		in.Columns = []int{0}
	}
	from, read, err := b.readThrough(s, &in)
	if err != nil {
		return nil, err
	}
	columns := make([]string, len(read))
	for i, c := range read {
		if columns[i] = b.shippedColumn(s, &s.table.Columns[c]); in.Blank && in.Screen == nil {
			columns[i] = "NULL"
		}
	}
	in.RemoteSQL = "SELECT " + strings.Join(s.labelled(columns, read), ", ") + " FROM " + from
	if len(f.sql) > 0 {
		in.RemoteSQL += " WHERE " + strings.Join(f.sql, " AND ")
	}
	in.Whole = s.body == "" && len(f.sql) == 0
	for i := range b.inputs {
		if o := &b.inputs[i]; o.Relation == in.Relation && o.Role == in.Role && o.RemoteSQL == in.RemoteSQL && slices.Equal(o.Params, in.Params) && o.Screen.equal(in.Screen) {
			return o, nil
		}
	}
	in.TempName = b.req.TempPrefix + strconv.Itoa(len(b.inputs)+1)
	b.inputs = append(b.inputs, in)
	return &b.inputs[len(b.inputs)-1], nil
}

// readThrough says what an input reads of a source's server, by an engine's FROM item and the columns of the table.
func (b *builder) readThrough(s *source, in *Input) (from string, columns []int, err error) {
	if !b.screens(s) {
		from, err = b.origin(s)
		return from, in.Columns, err
	}
	if in.Screen, err = b.screen(s, in); err != nil {
		return "", nil, err
	}
	from, err = s.dialect.Relation(s.table)
	return from, in.Screen.Columns, err
}

// shippedColumn prints a column in the type that it is shipped in, which for a federated statement is one of those that
// the federation engine has.
func (b *builder) shippedColumn(s *source, c *catalog.Column) string {
	sql := s.dialect.Column(c, "")
	if simple, ok := s.dialect.(dialect.Simple); ok {
		sql = simple.Selected(sql)
	}
	if b.feeding && s.framed() && fedAsText(c) {
		sql = "CAST(" + sql + " AS text)"
	}
	return sql
}

// labelled gives what an input reads of columns names, where an engine takes one of the columns' own for none of a result's.
func (s *source) labelled(list []string, columns []int) []string {
	n, ok := s.dialect.(dialect.Namer)
	if !ok || !slices.ContainsFunc(columns, func(c int) bool { return !n.Names(dialect.ColumnName(&s.table.Columns[c])) }) {
		return list
	}
	for i, name := range numbered(make([]string, len(list))) {
		list[i] += " AS " + n.Identifier(name)
	}
	return list
}

// origin returns the engine's FROM item for a source.
func (b *builder) origin(s *source) (string, error) {
	if s.body != "" {
		return s.body, nil
	}
	from, err := b.relation(s)
	if err == nil && s.rules != nil {
		from += " AS " + s.dialect.Identifier("g")
	}
	return from, err
}

// redirect makes a reference name a temporary table, under the alias that the statement uses.
func (b *builder) redirect(s *source, temp string) {
	if s.Var.Alias == nil {
		s.Var.Alias = &pg_query.Alias{Aliasname: s.Var.Relname}
	}
	s.Var.Catalogname, s.Var.Schemaname, s.Var.Relname = "", "pg_temp", temp
}

// because notes the first reason against a faster route.
func (b *builder) because(format string, args ...any) {
	if b.reason == "" {
		b.reason = fmt.Sprintf(format, args...)
	}
}
