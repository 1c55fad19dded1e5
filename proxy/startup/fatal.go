package startup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

// farewell is how long a client that is being refused may take to read why.
const farewell = 2 * time.Second

// fatal makes an error that ends a connection.
func fatal(code, message string) *pgconn.PgError {
	e := pgerr.New(code, "%s", message)
	e.Severity, e.SeverityUnlocalized = "FATAL", "FATAL"
	return e
}

// refusal is what the client is told of a failure whose cause is for the log alone.
type refusal struct {
	told  *pgconn.PgError
	cause error
}

func (r *refusal) Error() string   { return fmt.Sprintf("%s: %v", r.told.Message, r.cause) }
func (r *refusal) Unwrap() []error { return []error{r.told, r.cause} }

// fail tells the client of err, if that is something to tell, and closes both connections.
func (h *handshake) fail(ctx context.Context, err error) {
	_ = h.guard.release()
	if e := toTell(ctx, err); e != nil {
		_ = h.client.SetDeadline(time.Now().Add(farewell))
		h.tell(e)
	}
	_ = h.client.Close()
	if h.home != nil {
		_ = h.home.Close()
	}
}

// tell sends e in the form of the client's protocol, which was another one before 3.0.
func (h *handshake) tell(e *pgconn.PgError) {
	if v := h.packet.version; v != 0 && h.packet.major() < protocolMajor {
		_, _ = h.client.Write([]byte("E" + e.Severity + ":  " + e.Message + "\n\x00"))
		return
	}
	_ = h.client.send(errorResponse(e))
}

// toTell returns what the client gets to know of err; nil for nothing: it is gone, or it is no client.
func toTell(ctx context.Context, err error) *pgconn.PgError {
	var cause *pgconn.PgError
	switch {
	case errors.As(context.Cause(ctx), &cause):
		return cause
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fatal(pgerr.QueryCanceled, "canceling authentication due to timeout")
	case ctx.Err() != nil:
		return fatal(pgerr.AdminShutdown, "terminating connection due to administrator command")
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return nil
	}
	return whole(e)
}

// whole returns e with the fields that every error has, for what calls itself home may leave them out.
func whole(e *pgconn.PgError) *pgconn.PgError {
	if e.Code != "" && e.Severity != "" && e.Message != "" {
		return e
	}
	out := *e
	out.Code = cmp.Or(e.Code, pgerr.InternalError)
	out.Severity = cmp.Or(e.Severity, "FATAL")
	out.SeverityUnlocalized = cmp.Or(e.SeverityUnlocalized, "FATAL")
	out.Message = cmp.Or(e.Message, "the home server refused the login and did not say why")
	return &out
}

func errorResponse(e *pgconn.PgError) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{
		Severity: e.Severity, SeverityUnlocalized: e.SeverityUnlocalized, Code: e.Code, Message: e.Message,
		Detail: e.Detail, Hint: e.Hint, Position: e.Position, InternalPosition: e.InternalPosition,
		InternalQuery: e.InternalQuery, Where: e.Where, SchemaName: e.SchemaName, TableName: e.TableName,
		ColumnName: e.ColumnName, DataTypeName: e.DataTypeName, ConstraintName: e.ConstraintName,
		File: e.File, Line: e.Line, Routine: e.Routine,
	}
}
