package pgerr

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// AtServer says in an error's context which foreign server it came from, and what to look at where the error does not; an empty name is
// that of none. The error itself may be shared and stays as it is.
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
	if named.Hint == "" {
		named.Hint = remedy(named.Code)
	}
	return &named
}

// remedy is what to look at when an engine has failed by an SQLSTATE and says no more, empty where that depends on the statement.
func remedy(code string) string {
	switch code {
	case UndefinedTable, FdwTableNotFound:
		return "Look at the options of the foreign table, or drop it and IMPORT FOREIGN SCHEMA again."
	case UndefinedColumn, FdwColumnNotFound:
		return "Look at the options of the foreign table's columns, or drop it and IMPORT FOREIGN SCHEMA again."
	case FdwSchemaNotFound:
		return "Look at what the server has, and at what the user of the mapping may see there."
	case InsufficientPrivilege:
		return "Have the privilege granted at the server, or name another user in the user mapping."
	case InvalidAuthorization, InvalidPassword:
		return "Look at the options of the user mapping."
	case ConnectionFailure, ConnectionException, UnableToConnect, FdwUnableToConnect:
		return "Look at the options of the server and at whether it runs."
	}
	return ""
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
