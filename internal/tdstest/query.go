package tdstest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// numbers are those of errors that a SQL Server has, by Postgres' SQLSTATE.
var numbers = map[string]int32{"42601": 102, "42P01": 208, "42703": 207, "42883": 195, "42501": 229, "22012": 8134, "22003": 8115, "22P02": 245}

var errStopped = errors.New("the statement was stopped")

// query has Postgres compute a statement and sends its rows as they come. An error of the statement is an answer, but
// where it was stopped; any other that is returned ends the session.
func (s *session) query(ctx context.Context, db *pgconn.PgConn, sql string, args []*string) error {
	translated, err := translate(sql)
	if err == nil && strings.Contains(sql, describing) {
		translated, args, err = described(ctx, db, args)
	}
	if err != nil {
		s.fail(102, err.Error())
		return nil
	}
	values := make([][]byte, len(args))
	for i, a := range args {
		if a != nil {
			values[i] = []byte(*a)
		}
	}
	defer cancelled(ctx, db)()
	r := db.ExecParams(context.Background(), translated, values, nil, nil, nil)
	rows := int64(-1)
	for r.NextRow() {
		if rows < 0 {
			s.columns(r.FieldDescriptions())
			rows = 0
		}
		if ctx.Err() != nil { // nobody wants what Postgres has sent already
			continue
		}
		if err := s.row(r.FieldDescriptions(), r.Values()); err != nil {
			_, _ = r.Close()
			return err
		}
		if rows++; rows == 1 {
			if err := s.out.flush(); err != nil {
				_, _ = r.Close()
				return err
			}
		}
	}
	fields := r.FieldDescriptions()
	tag, err := r.Close()
	var pe *pgconn.PgError
	switch {
	case ctx.Err() != nil && err != nil: // the answer ends with what the attention signal is answered by
		return errStopped
	case errors.As(err, &pe):
		number := numbers[pe.Code]
		if number == 0 {
			number = 50000
		}
		s.fail(number, pe.Message)
		return nil
	case err != nil:
		return err
	}
	switch {
	case len(fields) == 0:
		rows = tag.RowsAffected()
	case rows < 0:
		s.columns(fields)
		rows = 0
	}
	s.done(doneCount, rows)
	return nil
}

// cancelled has Postgres asked to end what a connection computes when ctx ends, so that the connection stays, and asked again until the
// function is called that it returns: a request that comes before the statement is lost.
func cancelled(ctx context.Context, db *pgconn.PgConn) (over func()) {
	computed, asked := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(asked)
		for {
			request, done := context.WithTimeout(context.Background(), 5*time.Second)
			_ = db.CancelRequest(request)
			done()
			select {
			case <-computed:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() {
		if close(computed); !stop() {
			<-asked // or the request would end the next statement
		}
	}
}
