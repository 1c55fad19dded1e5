package databricks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// failure is what the service says of a statement or request that failed.
type failure struct {
	Code     string `json:"error_code"`
	Message  string `json:"message"`
	SQLState string `json:"sql_state"`
}

// states are SQLSTATEs of the service for which Postgres has others.
var states = map[string]string{
	"22018": pgerr.InvalidTextRepr, "42P01": pgerr.UndefinedTable, "42704": pgerr.UndefinedObject, "42883": "42883", "42000": pgerr.SyntaxError,
	"22000": "22000", "54000": pgerr.ProgramLimitExceeded, "42846": "42846", "42K09": "42804", "KD000": "42804",
}

// kept are the classes whose SQLSTATEs mean the same in Postgres.
var kept = []string{"08", "0A", "21", "22", "23", "28", "40", "42", "53", "54", "57"}

// codes are those of a failure that bears no SQLSTATE.
var codes = map[string]string{
	"TEMPORARILY_UNAVAILABLE": pgerr.CannotConnectNow, "SERVICE_UNDER_MAINTENANCE": pgerr.CannotConnectNow,
	"WORKSPACE_TEMPORARILY_UNAVAILABLE": pgerr.CannotConnectNow, "RESOURCE_EXHAUSTED": "53000", "DEADLINE_EXCEEDED": pgerr.QueryCanceled,
	"CANCELLED": pgerr.QueryCanceled, "ABORTED": pgerr.QueryCanceled, "UNAUTHENTICATED": pgerr.InvalidAuthorization, "IO_ERROR": pgerr.IOError,
}

// raise begins the message of an error that a statement of ours raises by raise_error, with the SQLSTATE and a colon behind it.
const raise = "[USER_RAISED_EXCEPTION] SQLSTATE "

// postgres makes a Postgres error of it. Messages begin with a condition in brackets and may go on with a plan, which is left out.
func (f failure) postgres() *pgconn.PgError {
	message, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
	message, stated, _ := strings.Cut(message, " SQLSTATE: ")
	state := f.SQLState
	if state == "" {
		state, _, _ = strings.Cut(stated, " ")
	}
	code := codes[f.Code]
	raised, text, isRaised := strings.Cut(strings.TrimPrefix(message, raise), ": ")
	switch {
	case isRaised && strings.HasPrefix(message, raise) && len(raised) == 5:
		code, message = raised, text
	case states[state] != "":
		code = states[state]
	case len(state) == 5 && standard(state):
		code = state
	case code == "":
		code = pgerr.FdwError
	}
	if message == "" {
		message = "the statement failed: " + f.Code
	}
	return pgerr.New(code, "%s", message)
}

// standard reports whether Postgres gives an SQLSTATE the same meaning: those with letters are the service's own.
func standard(state string) bool {
	for _, class := range kept {
		if state[:2] == class {
			return strings.Trim(state[2:], "0123456789") == "" || state[2] == 'P'
		}
	}
	return false
}

// refused makes a Postgres error of a request that the service did not take.
func refused(status int, body []byte) *pgconn.PgError {
	var f failure
	if json.Unmarshal(body, &f) != nil || f.Message == "" {
		f.Message = http.StatusText(status)
	}
	message, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
	switch status {
	case http.StatusUnauthorized:
		return pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "the credentials were refused: %s", message),
			"They may have expired: ALTER USER MAPPING … OPTIONS (SET token 'env:NAME'), or put a new one into the file that it names.")
	case http.StatusForbidden:
		return pgerr.Hint(pgerr.New(pgerr.InsufficientPrivilege, "the workspace denies the request: %s", message),
			"The remote user needs CAN USE on the SQL warehouse, and privileges on catalog, schema and table.")
	case http.StatusNotFound:
		return pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "not found: %s", message), `Check options "host" and "warehouse_id" of the server.`)
	case http.StatusTooManyRequests:
		return pgerr.Hint(pgerr.New("53400", "the workspace takes no more requests at present: %s", message), "Try again later.")
	case http.StatusBadRequest:
		return f.postgres()
	}
	return pgerr.New(pgerr.ConnectionException, "the service answered with status %d: %s", status, message)
}

// unreachable makes a Postgres error of a request that got no answer.
func unreachable(ctx context.Context, err error) error {
	var pe *pgconn.PgError
	switch {
	case ctx.Err() != nil:
		return pgerr.Ended(ctx)
	case errors.As(err, &pe):
		return pe
	}
	var cause interface{ Unwrap() error } // without the request's URL
	if errors.As(err, &cause) && cause.Unwrap() != nil {
		err = cause.Unwrap()
	}
	return pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "could not connect: %s", err), `Check option "host" of the server, and the network.`)
}

var (
	errNoID   = errors.New("a statement has no id")
	errNoText = errors.New("a text is none")
)

// malformed makes a Postgres error of an answer that cannot be read.
func malformed(err error) error {
	if err == nil {
		return nil
	}
	return pgerr.New(pgerr.ProtocolViolation, "the service's answer cannot be read: %s", err)
}
