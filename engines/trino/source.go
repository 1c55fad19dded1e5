package trino

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
)

// source reads the pages of one statement.
type source struct {
	engine *Engine
	next   *url.URL // the page that is read next, nil at the end
	body   bytes.Buffer
	table  table
	record arrow.RecordBatch // that was given out last, or that the first page had
	first  bool              // record was not given out yet
	wake   func()            // ends that the cluster is told to wait, nil where it is not
}

// begin hands in a statement and reads pages until one says what columns there are. A statement that fails is no more at the server;
// of others, after an error too, next is what ends them.
func (s *source) begin(ctx context.Context, sql, tag string) error {
	c := s.engine.client
	if err := c.call(ctx, http.MethodPost, c.base.JoinPath("/v1/statement"), sql, tag, &s.body); err != nil {
		return err
	}
	for {
		rows, err := s.read()
		if err != nil {
			return err
		}
		if rows > 0 {
			s.record, s.first = s.table.record(rows), true
		}
		if s.table.columns != nil {
			return nil
		}
		if s.next == nil {
			return malformed(errors.New("the statement has no columns"))
		}
		if err := c.call(ctx, http.MethodGet, s.next, "", "", &s.body); err != nil {
			return err
		}
	}
}

// read reads the page that has come.
func (s *source) read() (rows int, err error) {
	p, err := s.table.read(s.body.Bytes())
	if err != nil {
		return 0, err
	}
	s.next = nil
	if p.failure != nil {
		return 0, p.failure.postgres()
	}
	if p.next != "" {
		s.next, err = s.engine.client.following(p.next)
	}
	return p.rows, err
}

// fields are the columns.
func (s *source) fields() []engines.Field {
	out := make([]engines.Field, len(s.table.columns))
	for i, c := range s.table.columns {
		out[i] = c.field
	}
	return out
}

// Next returns the rows of the next page that has some.
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	s.resume()
	if s.first {
		s.first = false
		s.pause()
		return s.record, nil
	}
	s.release()
	for s.next != nil {
		if err := s.engine.client.call(ctx, http.MethodGet, s.next, "", "", &s.body); err != nil {
			return nil, err
		}
		rows, err := s.read()
		if err != nil {
			return nil, err
		}
		if rows > 0 {
			s.record = s.table.record(rows)
			s.pause()
			return s.record, nil
		}
	}
	return nil, io.EOF
}

// pause has the cluster wait until somebody reads on.
func (s *source) pause() {
	if s.next != nil {
		ctx, wake := context.WithCancel(context.Background())
		s.engine.wait(ctx, s.next)
		s.wake = wake
	}
}

func (s *source) resume() {
	if s.wake != nil {
		s.wake()
		s.wake = nil
	}
}

func (s *source) release() {
	if s.record != nil {
		s.record.Release()
		s.record = nil
	}
}

// Close frees the rows, and ends the statement where it has not come to its end.
func (s *source) Close(complete bool) {
	s.resume()
	s.release()
	for _, c := range s.table.columns {
		c.builder.Release()
	}
	if !complete && s.next != nil {
		s.engine.cancel(s.next)
	}
}

// known makes an error of a value's a Postgres error.
func known(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return err
	}
	return malformed(err)
}
