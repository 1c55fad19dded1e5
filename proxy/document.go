package proxy

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

// delivery is a result for who cannot take rows one by one: a document, or where that would have too many rows or bytes, a
// handle.
type delivery struct {
	body   *string // an array of objects; nil where there is a handle
	handle string
	rows   int64
}

// deliverWhole runs a query once and returns its result inline where it has no more rows and its text no more bytes than are
// given, else as a handle. The rows are kept as a table in either case, so that those that were read before it is known which
// it is are not lost; that of an inline result is dropped again. x is the client's statement.
func (s *Session) deliverWhole(ctx context.Context, x *execution, h handleRequest, inlineRows, inlineBytes int64) (*delivery, error) {
	table, rows, err := s.keepRows(ctx, x, &h)
	if err != nil {
		return nil, err
	}
	d := &delivery{rows: rows}
	if rows <= inlineRows {
		body, err := s.Query(ctx, "SELECT sluice.inline_body($1::pg_catalog.regclass, $2::pg_catalog.int8)", table, strconv.FormatInt(inlineBytes, 10))
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
	d, err := s.deliverWhole(ctx, x, handleRequest{query: *args[0], ttl: defaultTTL}, limits[0], limits[1])
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
