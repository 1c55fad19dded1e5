package proxy

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/page"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// pageName is the name at home of queries of pages that are being analysed.
const pageName = ownPrefix + "page"

// defaultPage and largestPage are how many rows a page has where nothing else is said.
const (
	defaultPage = 50
	largestPage = 1000
)

// pages reports whether a text may have calls of sluice.page and its kin.
func (s *Session) pages(text string) bool { return page.Mentions(text) }

// expandQuery expands the text of a simple query that is one statement; those of several are expanded when it is their turn.
func (s *Session) expandQuery(text string) (*expanded, error) {
	same := &expanded{text, true}
	if list, err := s.parse(text); err != nil || len(list) != 1 {
		return same, nil
	}
	if err := s.takeHome(); err != nil {
		return same, ignoreCopyIn(err)
	}
	s.settleTransaction()
	e, err := s.expand(text)
	if err == nil && s.home.pipelines() && !s.home.inBlock() { // what was asked is no part of the client's transaction
		err = s.syncHome(s.ctx)
	}
	return e, err
}

// expandStatement expands one of several statements of a simple query. Home is ours.
func (s *Session) expandStatement(st *parser.Statement) (*parser.Statement, error) {
	if !s.pages(st.Text) {
		return st, nil
	}
	e, err := s.expand(st.Text)
	if err != nil || e.text == st.Text {
		return st, err
	}
	text := e.text
	if edited, ok := s.shadow(text); ok {
		text = edited
	}
	list, err := s.parse(text)
	if err != nil || len(list) != 1 {
		return st, err
	}
	expanded := *list[0]
	expanded.Source, expanded.Start = st.Source, st.Start
	return &expanded, nil
}

// expanded is a text with what home is to run in place of calls of sluice.page and its kin.
type expanded struct {
	text     string
	concerns bool // it may name something of ours, but for what we have written into it
}

// expand expands the text of a statement. Home, which is ours, is asked about the queries of pages, within the transaction that is
// open or that the statement opens.
func (s *Session) expand(text string) (*expanded, error) {
	same := &expanded{text, true}
	if s.home.failed() || s.home.state() == 'E' {
		return same, nil
	}
	list, err := s.parse(text)
	if err != nil {
		return same, nil // home complains of it
	}
	calls, err := page.Find(text, list)
	if err != nil || len(calls) == 0 {
		return same, err
	}
	run := s.begin()
	defer run.end()
	if !s.snapshot.Installed { // it may have been, since
		if err := s.refresh(run.ctx); err != nil || !s.snapshot.Installed {
			return same, err
		}
	}
	var b, own strings.Builder // own is what the client has written: the queries stand as such in it
	at := 0
	for _, c := range calls {
		sql, query, err := s.expandCall(run.ctx, &c)
		if err != nil {
			return same, s.cause(positionedAt(err, c.Position))
		}
		b.WriteString(text[at:c.Start] + sql)
		if !c.Alias {
			b.WriteString(" AS " + c.Function)
		}
		own.WriteString(text[at:c.Start] + text[c.Open:c.End] + "\n" + query + "\n")
		at = c.End
	}
	return &expanded{withSource(b.String()+text[at:], text), s.mentions(own.String() + text[at:])}, nil
}

// positionedAt gives an error that stands nowhere a position.
func positionedAt(err error, position int) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || pe.Position > 0 || pe.InternalPosition > 0 {
		return err
	}
	e := *pe
	e.Position = int32(position)
	return &e
}

// expandCall returns what stands in place of a call, and the query that it reads.
func (s *Session) expandCall(ctx context.Context, c *page.Call) (sql, query string, err error) {
	var q *paged
	switch c.Function {
	case "open_cursor":
		return s.openKeyset(ctx, c)
	case "fetch_cursor":
		return s.nextPage(ctx, c)
	}
	text, ok := constantText(c.Args["query"])
	if !ok {
		return "", "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page must be a string constant"),
			"Write it out; values go into it as parameters of the statement, $1 and so on.")
	}
	if q, err = s.paged(ctx, c, text); err != nil {
		return "", "", err
	}
	if q.options.After, err = pageAfter(c.Args["after"]); err != nil {
		return "", "", err
	}
	sql, err = q.Expand(q.columns, q.options)
	return sql, text, err
}

// paged is a query that home has analysed.
type paged struct {
	*page.Query
	columns []string
	options page.Options
}

// paged finds out what the pages of a call's query are to be.
func (s *Session) paged(ctx context.Context, c *page.Call, text string) (*paged, error) {
	q, err := page.Read(text)
	if err != nil {
		return nil, err
	}
	answer, err := catalog.PageFacts(ctx, s, q.Relations(), q.Functions())
	if err != nil {
		return nil, err
	}
	known, err := s.analysedPage(ctx, q, answer)
	if err != nil {
		return nil, err
	}
	p := &paged{Query: known.query, columns: known.columns, options: page.Options{Index: known.index}}
	if err := pageSize(&p.options, c.Args["page_size"], known.facts); err != nil {
		return nil, err
	}
	if known.advice != nil {
		err = s.advise(ctx, known.advice, known.facts)
	}
	return p, err
}

// analysedPage has home analyse a query of pages, unless it has done so for the same text under the same facts, and nothing else
// counts.
func (s *Session) analysedPage(ctx context.Context, q *page.Query, answer string) (*pageAnalysis, error) {
	key := pageKey{s.database, q.Text, answer}
	if known, ok := s.server.pages.Get(key); ok {
		return known, nil
	}
	facts, err := page.ReadFacts(answer)
	if err != nil {
		return nil, err
	}
	a := &pageAnalysis{query: q, facts: facts}
	if a.columns, err = s.describePage(ctx, q, facts); err != nil {
		return nil, err
	}
	a.index, a.advice = q.Served()
	if _, edited := s.shadow(q.Text); !edited && q.Settled() {
		s.server.pages.Put(key, a, 4<<10+8*len(q.Text)+8*len(answer))
	}
	return a, nil
}

// pageKey is what an analysis hangs on.
type pageKey struct{ database, text, facts string }

// pageAnalysis is what was found out of a query. It is shared: nobody changes it.
type pageAnalysis struct {
	query   *page.Query
	facts   *page.Facts
	columns []string
	index   bool
	advice  *page.Advice
}

// pageBytes bounds what is kept of analyses.
const pageBytes = 16 << 20

// constantText returns the text that a constant is.
func constantText(n *pg_query.Node) (string, bool) {
	if c := n.GetTypeCast(); c != nil {
		n = c.Arg
	}
	if v := n.GetAConst().GetSval(); v != nil {
		return v.Sval, true
	}
	return "", false
}

// describePage has home analyse the query as it stands, for its errors, and as pages read it, and returns its columns.
func (s *Session) describePage(ctx context.Context, q *page.Query, facts *page.Facts) ([]string, error) {
	types := make([]uint32, 0, 8)
	for _, used := range q.Params() {
		if used {
			types = append(types, 0)
		} else { // home would find no type for it
			types = append(types, pgtype.TextOID)
		}
	}
	text := q.Text
	if edited, ok := s.shadow(text); ok {
		text = edited
	}
	if _, err := s.describe(ctx, pageName, text, types); err != nil {
		return nil, page.Inside(err, q.Text)
	}
	if err := q.Know(facts); err != nil {
		return nil, err
	}
	inner, err := q.Inner()
	if err != nil {
		return nil, err
	}
	if edited, ok := s.shadow(inner); ok {
		inner = edited
	}
	d, err := s.readDescription(ctx, analysis(pageName, inner, types).close('S', pageName))
	if err != nil {
		return nil, page.Inside(err, inner)
	}
	fields := make([]page.Field, len(d.fields))
	for i, f := range d.fields {
		fields[i] = page.Field{Name: string(f.Name), OID: f.DataTypeOID}
		if dialect.BuiltIn(f.DataTypeOID) {
			fields[i].Type = dialect.Postgres{}.Type(f.DataTypeOID, -1)
		}
	}
	return q.Describe(fields, func(oid uint32) (string, error) { return s.enumName(ctx, oid) })
}

// enumName returns the name of a type that is an enumeration, empty for any other.
func (s *Session) enumName(ctx context.Context, oid uint32) (string, error) {
	rows, err := s.Query(ctx, `SELECT pg_catalog.format('%I.%I', n.nspname, t.typname) FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
 WHERE t.oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid AND t.typtype OPERATOR(pg_catalog.=) 'e'`, strconv.FormatUint(uint64(oid), 10))
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return *rows[0][0], nil
}

// pageSize reads the argument page_size.
func pageSize(o *page.Options, n *pg_query.Node, facts *page.Facts) (err error) {
	most := largestPage
	if facts.Max != "" {
		if most, err = strconv.Atoi(facts.Max); err != nil || most < 1 || most > 999999 {
			return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "invalid value for parameter \"sluice.max_page_size\": %q", facts.Max), "It is a number of rows, from 1 to 999999.")
		}
	}
	switch v := n.GetAConst(); {
	case n == nil, v.GetIsnull():
		o.Rows = min(defaultPage, most)
	case v.GetIval() != nil:
		if o.Rows = min(int(v.GetIval().Ival), most); o.Rows < 1 {
			return pgerr.New(pgerr.InvalidParameter, "page_size must be greater than zero")
		}
	default:
		o.Size, err = pageArgument("page_size", n, "pg_catalog.int8")
	}
	return err
}

// pageAfter reads the argument after.
func pageAfter(n *pg_query.Node) (string, error) {
	constant := n
	if c := n.GetTypeCast(); c != nil {
		constant = c.Arg
	}
	if n == nil || constant.GetAConst().GetIsnull() {
		return "", nil
	}
	return pageArgument("after", n, "pg_catalog.text")
}

// pageArgument prints an argument that is the same for all rows.
func pageArgument(name string, n *pg_query.Node, typ string) (string, error) {
	if !page.Fixed(n) {
		return "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "argument %s of sluice.page must be a constant or a parameter, or made of these", name),
			"It cannot be a column of another table: ask for that first.")
	}
	sql, err := parser.DeparseList([]*pg_query.Node{n})
	return "(" + sql + ")::" + typ, err
}

// refusePage answers a message whose text was not expanded for err.
func (s *Session) refusePage(typ byte, size int, err error) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if typ != 'Q' {
		return s.refuse(size, err)
	}
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	if err := s.drop(size); err != nil {
		return err
	}
	if err := s.fail(err); err != nil {
		return err
	}
	if err := s.relay(syncMessage, wire.Reply{Kind: 'S'}); err != nil {
		return homeGone(err)
	}
	return s.afterSync()
}

// parseExpanded lets home prepare a text that stands in for the client's, and remembers it where it concerns us.
func (s *Session) parseExpanded(name string, e *expanded, size int) error {
	text := e.text
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	var m pgproto3.Parse
	if err := m.Decode(frame[wire.HeaderSize:]); err != nil {
		return s.pass('P', size)
	}
	delete(s.control, name)
	if edited, ok := s.shadow(text); ok {
		text = edited
	}
	m.Query = text
	data := appendMessage(nil, &m)
	if err := s.drop(size); err != nil {
		return err
	}
	var p *prepared
	if st := s.ours(text); st != nil && e.concerns {
		p = &prepared{statement: st}
	}
	s.parsing = true
	return s.relay(data, wire.Reply{Kind: 'P', Done: s.parsed(name, p)})
}

// advise tells of an index that would serve a page, or refuses the page without.
func (s *Session) advise(ctx context.Context, a *page.Advice, facts *page.Facts) error {
	message := "no index of table \"" + a.Relation.Name + "\" has the order of sluice.page: each page reads all of it"
	hint := a.SQL + ";"
	switch facts.Unindexed {
	case "", "warning":
	case "ignore":
		return nil
	case "error":
		return pgerr.Hint(pgerr.New(pgerr.ProgramLimitExceeded, "%s", message), "%s", hint)
	default:
		return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "invalid value for parameter \"sluice.on_unindexed_page\": %q", facts.Unindexed),
			"Available values: warning, error, ignore.")
	}
	if facts.Writes {
		if err := catalog.AdviseIndex(ctx, s, a.Relation.OID, a.Keys); err != nil {
			return err
		}
	}
	w := pgerr.Hint(pgerr.New("01000", "%s", message), "%s", hint)
	w.Severity, w.SeverityUnlocalized = "WARNING", "WARNING"
	s.notices([]*pgconn.PgError{w})
	return nil
}
