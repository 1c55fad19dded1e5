package proxy

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// delivery is a result for who cannot take rows one by one: a document, or where that would have too many rows or bytes, a
// handle.
type delivery struct {
	body   *string // an array of objects; nil where there is a handle
	handle string
	rows   int64
}

// inlineLimits say which results are delivered inline.
type inlineLimits struct{ rows, bytes int64 }

// deliverWhole returns the result of a query inline where it has no more rows and its text no more bytes than are given, else
// as a handle. What is read before it is known which it is goes into the handle, or, where home computes a query by itself, is undone and
// read again. x is the client's statement.
func (s *Session) deliverWhole(ctx context.Context, x *execution, h handleRequest, limits inlineLimits) (*delivery, error) {
	if err := s.checkHandle(h); err != nil {
		return nil, err
	}
	y, err := s.planKept(ctx, x, h.query)
	if err != nil {
		return nil, inQuery(err, h.query, "")
	}
	if err := distinctNames(y.described.fields); err != nil {
		return nil, err
	}
	var d *delivery
	switch {
	case len(y.described.fields) == 0:
	case y.plan == nil && !writesWithin(y.statement):
		d, err = s.deliverHome(ctx, y, limits)
	case y.plan != nil && y.apart():
		d, err = s.deliverStream(ctx, y, h, limits)
	}
	if d != nil || err != nil {
		return d, err
	}
	return s.deliverKept(ctx, x, h, limits)
}

// deliverKept is deliverWhole for what home computes over inputs that are shipped to it: the rows are kept as a table, which is dropped
// again where they are delivered inline.
func (s *Session) deliverKept(ctx context.Context, x *execution, h handleRequest, limits inlineLimits) (*delivery, error) {
	table, rows, err := s.keepRows(ctx, x, &h)
	if err != nil {
		return nil, err
	}
	d := &delivery{rows: rows}
	if rows <= limits.rows {
		body, err := s.Query(ctx, "SELECT sluice.inline_body($1::pg_catalog.regclass, $2::pg_catalog.int8)", table, strconv.FormatInt(limits.bytes, 10))
		if err != nil {
			return nil, withoutPosition(err)
		}
		if d.body = body[0][0]; d.body != nil {
			_, err := s.Exec(ctx, "DROP TABLE "+table)
			return d, err
		}
	}
	d.handle, err = s.noteHandle(ctx, table, h, rows)
	return d, err
}

// deliverHome is deliverWhole for what home computes by itself, nil where the result is not inline.
func (s *Session) deliverHome(ctx context.Context, y *execution, limits inlineLimits) (*delivery, error) {
	rows, err := s.Query(ctx, "SELECT r.body, r.row_count FROM sluice.inline_result($1, $2::pg_catalog.int8, $3::pg_catalog.int8) AS r",
		y.statement.Text, strconv.FormatInt(limits.rows, 10), strconv.FormatInt(limits.bytes, 10))
	if err != nil || rows[0][0] == nil {
		return nil, withoutPosition(err)
	}
	n, err := strconv.ParseInt(*rows[0][1], 10, 64)
	return &delivery{body: rows[0][0], rows: n}, err
}

// distinctNames refuses columns that a table cannot have.
func distinctNames(fields []pgproto3.FieldDescription) error {
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[string(f.Name)] {
			return pgerr.Hint(pgerr.New(pgerr.DuplicateColumn, "column %q specified more than once", f.Name), "Give each column a name of its own, by AS.")
		}
		seen[string(f.Name)] = true
	}
	return nil
}

// writesWithin reports whether a query writes in WITH, which no sub-select may.
func writesWithin(st *parser.Statement) (found bool) {
	parser.Walk(st.Node, func(m proto.Message) bool {
		switch m.(type) {
		case *pg_query.InsertStmt, *pg_query.UpdateStmt, *pg_query.DeleteStmt, *pg_query.MergeStmt:
			found = true
		}
		return !found
	})
	return found
}

// mostInline bounds what a document may take up.
const mostInline = 64 << 20

// document carries out SELECT … FROM sluice.document(…).
func (s *Session) document(ctx context.Context, x *execution) (*cursor, error) {
	args, err := s.called(ctx, x, calls(x.statement, "document"), "document_arguments")
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return nil, nullQuery()
	}
	var limits [2]int64
	for i, name := range []string{"inline_rows", "inline_bytes"} {
		if limits[i], err = strconv.ParseInt(*args[i+1], 10, 32); err != nil || limits[i] < 0 {
			return nil, pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "%s must not be negative", name), "0 allows none.")
		}
	}
	if limits[1] > mostInline {
		return nil, pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "inline_bytes must not be more than %d", mostInline), "The proxy holds a document as a whole; read larger results from a handle.")
	}
	d, err := s.deliverWhole(ctx, x, handleRequest{query: *args[0], ttl: defaultTTL}, inlineLimits{limits[0], limits[1]})
	if err != nil {
		return nil, err
	}
	y, first := x.withParams(d.body, nonEmpty(d.handle))
	return s.answerFrom(ctx, y, "sluice.delivered($"+strconv.Itoa(first)+"::pg_catalog.jsonb, $"+strconv.Itoa(first+1)+"::pg_catalog.uuid, "+strconv.FormatInt(d.rows, 10)+")")
}

func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// withParams returns a statement that has more parameters, of type text, and the number of the first of them.
func (x *execution) withParams(values ...*string) (y *execution, first int) {
	y = &execution{statement: x.statement, described: &description{params: slices.Clone(x.described.params)}, bind: &pgproto3.Bind{}}
	n := len(x.described.params)
	if x.bind != nil {
		y.bind.Parameters, y.bind.ResultFormatCodes = slices.Clone(x.bind.Parameters), x.bind.ResultFormatCodes
		for i := range n {
			y.bind.ParameterFormatCodes = append(y.bind.ParameterFormatCodes, formatOf(x.bind.ParameterFormatCodes, i))
		}
	}
	for _, v := range values {
		var value []byte
		if v != nil {
			value = []byte(*v)
		}
		y.described.params = append(y.described.params, textOID)
		y.bind.Parameters, y.bind.ParameterFormatCodes = append(y.bind.Parameters, value), append(y.bind.ParameterFormatCodes, 0)
	}
	return y, n + 1
}
