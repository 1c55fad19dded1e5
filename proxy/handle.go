package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// handleSchema is the schema of home that handles stand in.
const handleSchema = "sluice_handle"

// handleRequest is what a handle is asked for by. The query is one SELECT.
type handleRequest struct {
	query  string
	ttl    string // an interval, as home reads it
	server string // empty for home
	name   string
}

// calls returns the one call of a function of schema sluice that makes up the FROM clause of a statement and stands for one
// row; nil for any other statement. Its arguments must need no relation.
func calls(st *parser.Statement, function string) *pg_query.RangeFunction {
	n := st.Node.Stmt.GetSelectStmt()
	if st.Kind != parser.Select || n == nil || len(n.FromClause) != 1 || n.WithClause != nil || len(st.Relations()) > 0 {
		return nil
	}
	f := n.FromClause[0].GetRangeFunction()
	if f == nil || f.Ordinality || f.IsRowsfrom || len(f.Functions) != 1 || len(f.Coldeflist) > 0 {
		return nil
	}
	call := callIn(f)
	names := call.GetFuncname()
	if len(names) != 2 || names[0].GetString_().GetSval() != "sluice" || names[1].GetString_().GetSval() != function {
		return nil
	}
	return f
}

// callIn is the call that an entry of a FROM clause consists of.
func callIn(f *pg_query.RangeFunction) *pg_query.FuncCall {
	return f.Functions[0].GetList().GetItems()[0].GetFuncCall()
}

// called has home evaluate the arguments of a call, by a function of the same parameters which returns them.
func (s *Session) called(ctx context.Context, x *execution, f *pg_query.RangeFunction, arguments string) ([]*string, error) {
	st := x.statement.Clone()
	call := callIn(st.Node.Stmt.GetSelectStmt().FromClause[0].GetRangeFunction())
	call.Funcname = []*pg_query.Node{pg_query.MakeStrNode("sluice"), pg_query.MakeStrNode(arguments)}
	list, err := parser.DeparseList([]*pg_query.Node{{Node: &pg_query.Node_FuncCall{FuncCall: call}}})
	if err != nil {
		return nil, err
	}
	rows, _, err := s.once(ctx, "SELECT a FROM pg_catalog.unnest("+list+") a", x.described.params, x.bind)
	if err != nil {
		return nil, withoutPosition(err)
	}
	values := make([]*string, len(rows))
	for i, r := range rows {
		values[i] = r[0]
	}
	return values, nil
}

// replaced returns a statement's text with another call in the place of the one that makes up its FROM clause, under the same
// name.
func replaced(st *parser.Statement, with string) (string, error) {
	list, err := parser.Parse("SELECT * FROM " + with)
	if err != nil {
		return "", err
	}
	out := st.Clone()
	from := out.Node.Stmt.GetSelectStmt().FromClause
	f := from[0].GetRangeFunction()
	if f.Alias == nil {
		names := callIn(f).Funcname
		f.Alias = &pg_query.Alias{Aliasname: names[len(names)-1].GetString_().GetSval()}
	}
	f.Functions = list[0].Clone().Node.Stmt.GetSelectStmt().FromClause[0].GetRangeFunction().Functions
	return parser.Deparse(out.Node)
}

// materialize carries out SELECT … FROM sluice.materialize(…): the result of a query becomes a table, in the transaction that
// is open, and home answers the statement from what was noted of it.
func (s *Session) materialize(ctx context.Context, x *execution) (*cursor, error) {
	args, err := s.called(ctx, x, calls(x.statement, "materialize"), "materialize_arguments")
	if err != nil {
		return nil, err
	}
	switch {
	case args[0] == nil:
		return nil, nullQuery()
	case args[1] == nil:
		return nil, pgerr.New(codeNull, "the time to live of a handle must not be null")
	}
	id, err := s.makeHandle(ctx, x, handleRequest{*args[0], *args[1], textOf(args[2]), textOf(args[3])})
	if err != nil {
		return nil, err
	}
	return s.answerFrom(ctx, x, "sluice.made_handle('"+id+"')")
}

// codeNull is what Postgres answers to a NULL where there must be a value.
const codeNull = "22004"

func nullQuery() error { return pgerr.New(codeNull, "the query must not be null") }

// answerFrom has home answer a statement with another call in the place of the one in its FROM clause.
func (s *Session) answerFrom(ctx context.Context, x *execution, call string) (*cursor, error) {
	sql, err := replaced(x.statement, call)
	if err != nil {
		return nil, err
	}
	var formats []int16
	if x.bind != nil {
		formats = x.bind.ResultFormatCodes
	}
	rows, err := s.openRows(ctx, s.tempPrefix(false)+"handle", sql, x, formats)
	if err != nil {
		return nil, err
	}
	return &cursor{stream: rows}, nil
}

func textOf(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

// makeHandle keeps the result of a query as a table and returns the identity of the handle. x is the client's statement.
func (s *Session) makeHandle(ctx context.Context, x *execution, h handleRequest) (id string, err error) {
	table, rows, err := s.keepRows(ctx, x, &h)
	if err != nil {
		return "", err
	}
	return s.noteHandle(ctx, table, h, rows)
}

// keepRows makes a table of the result of a query, and a name for it where there is none.
func (s *Session) keepRows(ctx context.Context, x *execution, h *handleRequest) (table string, rows int64, err error) {
	if err := s.checkHandle(*h); err != nil {
		return "", 0, err
	}
	if err := s.nameHandle(ctx, h); err != nil {
		return "", 0, err
	}
	table = pgx.Identifier{handleSchema, h.name}.Sanitize()
	task := s.server.activity.Start(s.origin(s.role), "materialize", handleSchema+"."+h.name, 0)
	defer task.End()
	if h.server != "" {
		rows, err = s.keepAt(ctx, x, table, h)
		return table, rows, err
	}
	if rows, ok, err := s.streamKept(ctx, x, table, h.query); ok || err != nil {
		return table, rows, err
	}
	prefix := "CREATE TABLE " + table + " AS "
	rows, err = s.createFrom(ctx, x, prefix+h.query)
	return table, rows, inQuery(err, h.query, prefix)
}

// nameHandle makes a name for a handle that has none.
func (s *Session) nameHandle(ctx context.Context, h *handleRequest) error {
	if h.name != "" {
		return nil
	}
	rows, err := s.Query(ctx, "SELECT 'h_' OPERATOR(pg_catalog.||) pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-', '')")
	if err == nil {
		h.name = *rows[0][0]
	}
	return err
}

// noteHandle notes a table that was made as a handle.
func (s *Session) noteHandle(ctx context.Context, table string, h handleRequest, rows int64) (id string, err error) {
	hash := sha256.Sum256([]byte(h.query))
	noted, err := s.Query(ctx, `SELECT sluice.note_handle($1::pg_catalog.regclass, $2::pg_catalog.interval, NULLIF($3, '')::pg_catalog.name, $4, $5::pg_catalog.int8)`,
		table, h.ttl, h.server, hex.EncodeToString(hash[:]), strconv.FormatInt(rows, 10))
	if err != nil {
		return "", withoutPosition(err)
	}
	return *noted[0][0], nil
}

// checkHandle refuses what is no query that a handle can be made of.
func (s *Session) checkHandle(h handleRequest) error {
	statements, err := s.parse(h.query)
	if err != nil {
		return inQuery(err, h.query, "")
	}
	if len(statements) != 1 || statements[0].Kind != parser.Select {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "a handle is made of one SELECT, VALUES or TABLE statement"), "Give the text of one query.")
	}
	const longest = 63
	if len(h.name) > longest {
		return pgerr.New("42622", "the name %q of a handle is longer than %d bytes", h.name, longest)
	}
	return nil
}

// createFrom carries out a CREATE TABLE AS in place of x, the client's statement, and returns how many rows the table has.
func (s *Session) createFrom(ctx context.Context, x *execution, sql string) (int64, error) {
	statements, err := s.parse(sql)
	if err != nil {
		return 0, err
	}
	if len(statements) != 1 || statements[0].Kind != parser.CreateTableAs {
		return 0, pgerr.New(pgerr.InternalError, "a query reads differently behind CREATE TABLE AS")
	}
	return s.create(ctx, x, statements[0], nil)
}

// create carries out a CREATE TABLE AS in place of x, the client's statement, with parameters of x's where it has any.
func (s *Session) create(ctx context.Context, x *execution, st *parser.Statement, types []uint32) (int64, error) {
	d, err := s.describe(ctx, ownPrefix+"created", st.Text, types)
	if err != nil {
		return 0, err
	}
	if len(d.params) > len(types) {
		return 0, noParameter()
	}
	y := &execution{statement: st, described: d, within: x.statement}
	if len(types) > 0 {
		y.bind = x.bind
	}
	ours, err := s.planBody(ctx, y)
	if err = s.enter(ctx, y, err); err != nil {
		return 0, err
	}
	if !ours || y.plan == nil {
		_, tag, err := s.once(ctx, st.Text, types, y.bind)
		n, _ := taggedRows([]byte(tag))
		return n, err
	}
	run := s.begin()
	defer run.end()
	defer run.limit(y.timeout())()
	defer run.spend(y.ledger)()
	n, err := s.createOver(run.ctx, y, types)
	if y.ledger != nil && err == nil {
		y.ledger.wrote = n
	}
	s.settle(y.ledger, s.cause(err))
	return n, s.cause(err)
}

// createOver lets home carry out a CREATE TABLE AS over inputs that are shipped to it.
func (s *Session) createOver(ctx context.Context, y *execution, types []uint32) (int64, error) {
	if err := s.shipInputs(ctx, y); err != nil {
		return 0, err
	}
	s.temps = append(s.temps, y.temps()...)
	_, tag, err := s.once(ctx, y.homeSQL(), types, y.bind)
	n, _ := taggedRows([]byte(tag))
	return n, err
}

// inQuery makes the position of an error one in the query that stands behind a prefix in the text which has met it, as home tells
// of a query that a function runs.
func inQuery(err error, query, prefix string) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || pe.Severity == "FATAL" {
		return err
	}
	e := *pe
	shift := int32(utf8.RuneCountInString(prefix))
	if e.InternalQuery = ""; e.Position > shift {
		e.InternalPosition, e.InternalQuery = e.Position-shift, query
	}
	e.Position = 0
	return &e
}

// withoutPosition is an error without a position in a text that the client has not written.
func withoutPosition(err error) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || pe.Severity == "FATAL" {
		return err
	}
	e := *pe
	e.Position, e.Where = 0, ""
	return &e
}
