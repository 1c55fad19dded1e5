package pgerr

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// AtServer says in an error's context which foreign server it came from; an empty name is that of none. The error itself may be
// shared and stays as it is.
func AtServer(server string, err error) error {
	e := From(err)
	switch {
	case e == nil:
		return nil
	case server == "":
		return e
	}
	named := *e
	if where := `foreign server "` + server + `"`; named.Where == "" {
		named.Where = where
	} else if !strings.HasSuffix(named.Where, where) {
		named.Where += "\n" + where
	}
	return &named
}

// Ended is the error of a statement that ctx ended: what its cause says when that is a Postgres error, as for a
// statement_timeout, and 57014 otherwise.
func Ended(ctx context.Context) *pgconn.PgError {
	var e *pgconn.PgError
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return From(context.Canceled)
}

// Interrupted is Ended where ctx has ended, and else err.
func Interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Ended(ctx)
	}
	return err
}
