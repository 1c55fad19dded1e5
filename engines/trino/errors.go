package trino

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// failure is what the server says of a statement that failed.
type failure struct {
	Message string `json:"message"`
	Name    string `json:"errorName"`
	Type    string `json:"errorType"`
}

// states are the SQLSTATEs of Trino's errors by their names.
var states = map[string]string{
	"SYNTAX_ERROR": pgerr.SyntaxError, "TABLE_NOT_FOUND": pgerr.UndefinedTable, "SCHEMA_NOT_FOUND": "3F000", "MISSING_SCHEMA_NAME": "3F000",
	"CATALOG_NOT_FOUND": "3D000", "MISSING_CATALOG_NAME": "3D000", "COLUMN_NOT_FOUND": pgerr.UndefinedColumn, "FUNCTION_NOT_FOUND": "42883",
	"TYPE_MISMATCH": "42804", "TYPE_NOT_FOUND": pgerr.UndefinedObject, "AMBIGUOUS_NAME": "42702", "EXPRESSION_NOT_AGGREGATE": "42803",
	"COLUMN_TYPE_UNKNOWN": "42P18", "ROLE_NOT_FOUND": pgerr.UndefinedObject, "INVALID_ROLE": pgerr.UndefinedObject,
	"DIVISION_BY_ZERO": "22012", "NUMERIC_VALUE_OUT_OF_RANGE": pgerr.NumericOutOfRange, "INVALID_CAST_ARGUMENT": pgerr.InvalidTextRepr,
	"INVALID_FUNCTION_ARGUMENT": pgerr.InvalidParameter, "INVALID_LITERAL": pgerr.InvalidTextRepr, "SUBQUERY_MULTIPLE_ROWS": "21000",
	"INVALID_SESSION_PROPERTY": pgerr.InvalidParameter, "INVALID_CATALOG_PROPERTY": pgerr.InvalidParameter, "INVALID_PARAMETER_USAGE": pgerr.InvalidParameter,
	"NOT_SUPPORTED": pgerr.FeatureNotSupported, "PERMISSION_DENIED": pgerr.InsufficientPrivilege, "READ_ONLY_VIOLATION": pgerr.ReadOnlyTransaction,
	"USER_CANCELED": pgerr.QueryCanceled, "EXCEEDED_TIME_LIMIT": pgerr.QueryCanceled, "ABANDONED_QUERY": pgerr.QueryCanceled,
	"ADMINISTRATIVELY_KILLED": pgerr.AdminShutdown, "ADMINISTRATIVELY_PREEMPTED": pgerr.AdminShutdown, "SERVER_SHUTTING_DOWN": pgerr.AdminShutdown,
	"SERVER_STARTING_UP": pgerr.CannotConnectNow, "NO_NODES_AVAILABLE": pgerr.CannotConnectNow, "QUERY_QUEUE_FULL": pgerr.TooManyConnections,
	"QUERY_REJECTED": "53400", "EXCEEDED_CPU_LIMIT": "53400", "EXCEEDED_SCAN_LIMIT": "53400", "EXCEEDED_GLOBAL_MEMORY_LIMIT": pgerr.OutOfMemory,
	"EXCEEDED_LOCAL_MEMORY_LIMIT": pgerr.OutOfMemory, "CLUSTER_OUT_OF_MEMORY": pgerr.OutOfMemory, "EXCEEDED_SPILL_LIMIT": pgerr.DiskFull,
	"EXCEEDED_LOCAL_SPILL_LIMIT": pgerr.DiskFull, "OUT_OF_SPILL_SPACE": pgerr.DiskFull, "QUERY_TEXT_TOO_LARGE": pgerr.ProgramLimitExceeded,
	"COMPILER_ERROR": pgerr.ProgramLimitExceeded, "QUERY_HAS_TOO_MANY_STAGES": pgerr.ProgramLimitExceeded,
	"WORKER_RESTARTED": pgerr.ConnectionFailure, "TOO_MANY_REQUESTS_FAILED": pgerr.ConnectionFailure, "PAGE_TRANSPORT_ERROR": pgerr.ConnectionFailure,
	"PAGE_TRANSPORT_TIMEOUT": pgerr.ConnectionFailure, "REMOTE_HOST_GONE": pgerr.ConnectionFailure, "REMOTE_TASK_ERROR": pgerr.ConnectionFailure,
}

// hints are what to do about errors of a SQLSTATE.
var hints = map[string]string{
	pgerr.UndefinedTable:        `Check options "catalog_name", "schema_name" and "table_name" of the foreign table.`,
	"3F000":                     `Check option "schema" of the server and option "schema_name" of the foreign table.`,
	"3D000":                     `Check option "catalog" of the server and option "catalog_name" of the foreign table.`,
	pgerr.UndefinedColumn:       `Check option "column_name" of the foreign table's columns.`,
	pgerr.InsufficientPrivilege: `Grant the remote user the right to read the table, or set option "role" of the server.`,
	pgerr.TooManyConnections:    "The cluster's queue is full. Wait, or have its resource group widened.",
	"53400":                     "The remote user has used up what its cluster grants. Wait, or have it raised.",
	pgerr.OutOfMemory:           "Ask for less at once, or have the cluster's limit of memory raised.",
}

// raise begins the message of an error that a statement of ours raises by fail, with the SQLSTATE and a colon behind it.
const raise = "SQLSTATE "

// postgres makes a Postgres error of it.
func (f *failure) postgres() *pgconn.PgError {
	state := states[f.Name]
	if state == "" {
		state = pgerr.FdwError
	}
	message, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
	if message == "" {
		message = "the statement failed"
	}
	if raised, text, ok := strings.Cut(strings.TrimPrefix(message, raise), ": "); ok && f.Name == "GENERIC_USER_ERROR" && strings.HasPrefix(message, raise) && len(raised) == 5 {
		state, message = raised, text
	}
	e := pgerr.New(state, "%s", printable(message))
	if e.Hint = hints[state]; f.Name == "EXCEEDED_TIME_LIMIT" {
		e.Hint = `Raise option "max_execution_time" of the server, or the cluster's own limit.`
	}
	return pgerr.Detail(e, "Trino error %s", f.Name)
}

func printable(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "?") }

// refused makes a Postgres error of a request that the server did not take.
func refused(status int, body []byte) *pgconn.PgError {
	said, _, _ := strings.Cut(strings.TrimSpace(printable(string(body[:min(len(body), 300)]))), "\n")
	if said == "" || strings.HasPrefix(said, "<") || strings.HasPrefix(said, "{") {
		said = http.StatusText(status)
	}
	if _, denied, ok := strings.Cut(said, "Access Denied: "); ok && status == http.StatusInternalServerError {
		return pgerr.Hint(pgerr.New(pgerr.InsufficientPrivilege, "the cluster denies the session: %s", denied),
			`Check option "role" of the server, and what the remote user may do.`)
	}
	switch status {
	case http.StatusBadRequest:
		return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "the cluster does not take the request: %s", said),
			`Check options "role" and "session_properties" of the server.`)
	case http.StatusUnauthorized:
		return pgerr.Hint(pgerr.New(pgerr.InvalidPassword, "the cluster refused the login: %s", said),
			`Check options "user", and "password" or "token", of the user mapping: they may have expired.`)
	case http.StatusForbidden:
		return pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "the cluster denies the request: %s", said),
			`Check option "user" of the user mapping: the login may not be allowed to act for it.`)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "no Trino answers there: %s", said), `Check options "host" and "port" of the server.`)
	case http.StatusGone:
		return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the cluster no longer knows the statement"), "Its coordinator may have started anew. Run the statement again.")
	case http.StatusTooManyRequests:
		return pgerr.Hint(pgerr.New(pgerr.TooManyConnections, "the cluster takes no more requests at present: %s", said), "Try again later.")
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return pgerr.Hint(pgerr.New(pgerr.CannotConnectNow, "the cluster is not available: %s", said), "Try again later.")
	}
	return pgerr.New(pgerr.ConnectionException, "the cluster answered with status %d: %s", status, said)
}

// unreachable makes a Postgres error of a request that got no answer, or a part of one.
func unreachable(method string, err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe
	}
	var about *url.Error // which begins with the request's address
	if errors.As(err, &about) {
		err = about.Err
	}
	if method == http.MethodPost {
		return pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "could not connect: %s", err),
			`Check options "host", "port" and "secure" of the server, and the network.`)
	}
	return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the result broke off: %s", err), "Run the statement again.")
}

// malformed makes a Postgres error of an answer that cannot be read.
func malformed(err error) error {
	return pgerr.New(pgerr.ProtocolViolation, "the cluster's answer cannot be read: %s", err)
}
