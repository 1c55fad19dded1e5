// Package pgerr makes Postgres errors: every failure that a client may see is a *pgconn.PgError, from where it is
// known to where it is sent. The one rule: a message names what was wrong, a hint says what to do.
//
// SQLSTATE codes are those of the manual's appendix "PostgreSQL Error Codes".
package pgerr

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE codes that Sluice itself raises.
const (
	FeatureNotSupported     = "0A000"
	ProtocolViolation       = "08P01"
	ConnectionException     = "08000"
	UnableToConnect         = "08001"
	ConnectionFailure       = "08006"
	NumericOutOfRange       = "22003"
	InvalidTextRepr         = "22P02"
	InvalidParameter        = "22023"
	ReadOnlyTransaction     = "25006"
	InvalidAuthorization    = "28000"
	InvalidPassword         = "28P01"
	InvalidStatementName    = "26000"
	DependentObjects        = "2BP01"
	InvalidCursorName       = "34000"
	InsufficientPrivilege   = "42501"
	SerializationFailure    = "40001"
	SyntaxError             = "42601"
	DuplicateColumn         = "42701"
	UndefinedColumn         = "42703"
	UndefinedObject         = "42704"
	UndefinedTable          = "42P01"
	DuplicateCursor         = "42P03"
	InvalidColumnReference  = "42P10"
	DuplicateObject         = "42710"
	WrongObjectType         = "42809"
	ProgramLimitExceeded    = "54000"
	OutOfMemory             = "53200"
	DiskFull                = "53100"
	TooManyConnections      = "53300"
	ObjectNotInPrerequisite = "55000"
	ObjectInUse             = "55006"
	LockNotAvailable        = "55P03"
	QueryCanceled           = "57014"
	AdminShutdown           = "57P01"
	CannotConnectNow        = "57P03"
	IOError                 = "58030"
	SystemError             = "58000"
	UndefinedFile           = "58P01"
	FdwError                = "HV000"
	FdwOptionNotFound       = "HV00B" // a required option is missing
	FdwInvalidOption        = "HV00D" // an option that the wrapper does not know
	FdwUnableToConnect      = "HV00N"
	FdwTableNotFound        = "HV00R"
	FdwColumnNotFound       = "HV005"
	FdwSchemaNotFound       = "HV00Q"
	FdwInvalidDataType      = "HV004"
	InternalError           = "XX000"
)

// New returns an error of severity ERROR with the SQLSTATE and message given.
func New(code, format string, args ...any) *pgconn.PgError {
	return &pgconn.PgError{
		Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code,
		Message: fmt.Sprintf(format, args...),
	}
}

// Hint sets the hint of e and returns e.
func Hint(e *pgconn.PgError, format string, args ...any) *pgconn.PgError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Detail sets the detail of e and returns e.
func Detail(e *pgconn.PgError, format string, args ...any) *pgconn.PgError {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// From turns any error into a Postgres error: a *pgconn.PgError as it is, a context's end into 57014, and anything
// else into XX000 with its text. It returns nil for nil.
func From(err error) *pgconn.PgError {
	var pe *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pe):
		return pe
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return New(QueryCanceled, "canceling statement due to user request")
	default:
		return New(InternalError, "%s", err.Error())
	}
}
