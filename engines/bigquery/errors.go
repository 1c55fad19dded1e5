package bigquery

import (
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluicedb/sluice/pgerr"
)

// verdict is what Postgres calls a failure, and what to do about it.
type verdict struct{ code, hint string }

// Hints that several failures have.
const (
	loginHint   = "Credentials may have expired or been revoked: ALTER USER MAPPING … OPTIONS (SET service_account 'file:PATH'), or put a new key into the file that it names."
	grantHint   = "The account needs the roles BigQuery Job User and BigQuery Read Session User on the project, and BigQuery Data Viewer on the dataset."
	laterHint   = "Try again later, or raise the project's quota."
	addressHint = `Check options "endpoint" and "storage_endpoint" of the server, and the network.`
	// partitionHint is for tables that are read with a condition on the partition alone.
	partitionHint = "Compare the column that the table is partitioned by with values. Where it is the time of ingestion, IMPORT FOREIGN SCHEMA … OPTIONS (import_partition 'true') makes it a column."
)

// reasons are those that the service gives.
var reasons = map[string]verdict{
	"accessDenied":             {pgerr.InsufficientPrivilege, grantHint},
	"forbidden":                {pgerr.InsufficientPrivilege, grantHint},
	"authError":                {pgerr.InvalidAuthorization, loginHint},
	"required":                 {pgerr.InvalidAuthorization, loginHint},
	"quotaExceeded":            {"53400", laterHint},
	"rateLimitExceeded":        {"53400", laterHint},
	"jobRateLimitExceeded":     {"53400", laterHint},
	"billingNotEnabled":        {pgerr.InsufficientPrivilege, "Enable billing for the project of option \"project\"."},
	"billingTierLimitExceeded": {pgerr.ProgramLimitExceeded, "Ask for less."},
	"bytesBilledLimitExceeded": {pgerr.ProgramLimitExceeded, "Ask for fewer columns or partitions, or raise option \"maximum_bytes_billed\" of the server."},
	"resourcesExceeded":        {"53000", "Ask for less, or for rows in no order."},
	"responseTooLarge":         {pgerr.ProgramLimitExceeded, "Ask for fewer rows or columns."},
	"blocked":                  {pgerr.InsufficientPrivilege, grantHint},
	"stopped":                  {pgerr.QueryCanceled, ""},
	"timeout":                  {pgerr.QueryCanceled, "Raise option \"job_timeout\" of the server, or ask for less."},
	"backendError":             {pgerr.CannotConnectNow, "Try again later."},
	"internalError":            {pgerr.CannotConnectNow, "Try again later."},
	"tableUnavailable":         {pgerr.CannotConnectNow, "Try again later."},
	"resourceInUse":            {pgerr.ObjectInUse, ""},
	"duplicate":                {"42P07", ""},
	"notImplemented":           {pgerr.FeatureNotSupported, ""},
}

// words tell failures of statements apart, whose reason is the same for all.
var words = []struct {
	form *regexp.Regexp
	verdict
}{
	{regexp.MustCompile(`^Syntax error`), verdict{pgerr.SyntaxError, ""}},
	{regexp.MustCompile(`(?i)\bdivision by zero\b|\bdivide by zero\b`), verdict{"22012", ""}},
	{regexp.MustCompile(`(?i)\b(bad|invalid|could not (cast|parse)|failed to (cast|parse))\b.*\b(int64|bool|float64|double|numeric|bignumeric|string|date|datetime|time|timestamp|bytes|value|literal)\b`), verdict{pgerr.InvalidTextRepr, ""}},
	{regexp.MustCompile(`(?i)\bout of range\b|\boverflow\b`), verdict{pgerr.NumericOutOfRange, ""}},
	{regexp.MustCompile(`(?i)unrecognized name|name .* not found inside|column .* not found|does not exist in struct`), verdict{pgerr.UndefinedColumn, ""}},
	{regexp.MustCompile(`(?i)function not found|no matching signature`), verdict{"42883", ""}},
	{regexp.MustCompile(`(?i)without a filter over column`), verdict{pgerr.FeatureNotSupported, partitionHint}},
	{regexp.MustCompile(`(?i)not found: table|table .* (was not found|does not exist)`), verdict{pgerr.UndefinedTable, ""}},
	{regexp.MustCompile(`(?i)not found: dataset`), verdict{pgerr.FdwSchemaNotFound, ""}},
}

// passing reports whether a request may succeed when it is made again.
func passing(err error) bool {
	var ge *googleapi.Error
	if errors.As(err, &ge) {
		switch reason := reasonOf(ge); {
		case ge.Code == 429, ge.Code == 502, ge.Code == 503, ge.Code == 504:
			return reason != "quotaExceeded"
		case reason == "rateLimitExceeded" || reason == "jobRateLimitExceeded":
			return true
		}
		return ge.Code == 500 && reasonOf(ge) == "backendError"
	}
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func reasonOf(ge *googleapi.Error) string {
	if len(ge.Errors) > 0 {
		return ge.Errors[0].Reason
	}
	return ""
}

// failure makes a Postgres error of a request that has failed.
func failure(err error) *pgconn.PgError {
	var pe *pgconn.PgError
	var ge *googleapi.Error
	var re *oauth2.RetrieveError
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.As(err, &ge):
		return refused(ge.Code, reasonOf(ge), ge.Message)
	case errors.As(err, &re):
		return pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "the service account's key was refused: %s", strings.TrimSpace(re.ErrorCode+" "+re.ErrorDescription)), loginHint)
	}
	if s, ok := status.FromError(err); ok {
		return rowsRefused(s)
	}
	return unreachable(err)
}

// refused makes a Postgres error of what the service says of a request or job.
func refused(code int, reason, message string) *pgconn.PgError {
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	if message == "" {
		message = "the service has refused the request: " + reason
	}
	v, known := reasons[reason]
	switch {
	case known:
	case reason == "notFound" || code == 404:
		return missing(message)
	case reason == "invalidQuery" || reason == "invalid" || reason == "badRequest" || code == 400:
		v = verdict{code: pgerr.SyntaxError}
		for _, w := range words {
			if w.form.MatchString(message) {
				v = w.verdict
				break
			}
		}
	case code == 401:
		v = verdict{pgerr.InvalidAuthorization, loginHint}
	case code == 403:
		v = verdict{pgerr.InsufficientPrivilege, grantHint}
	case code == 429:
		v = verdict{"53400", laterHint}
	case code >= 500:
		v = verdict{pgerr.CannotConnectNow, "Try again later."}
	default:
		v.code = pgerr.FdwError
	}
	return hinted(pgerr.New(v.code, "%s", message), v.hint)
}

func hinted(e *pgconn.PgError, hint string) *pgconn.PgError {
	if hint == "" {
		return e
	}
	return pgerr.Hint(e, "%s", hint)
}

// missing tells by its message what was not found.
func missing(message string) *pgconn.PgError {
	switch low := strings.ToLower(message); {
	case strings.Contains(low, "dataset"):
		return pgerr.Hint(pgerr.New(pgerr.FdwSchemaNotFound, "%s", message), `Check options "schema_name" of the foreign table, and "dataset" and "location" of the server.`)
	case strings.Contains(low, "project"):
		return pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "%s", message), `Check options "project" of the server and "catalog_name" of the foreign table.`)
	case strings.Contains(low, "table"):
		return pgerr.Hint(pgerr.New(pgerr.UndefinedTable, "%s", message), `Check options "catalog_name", "schema_name" and "table_name" of the foreign table.`)
	}
	return pgerr.New(pgerr.FdwError, "%s", message)
}

// rowsRefused makes a Postgres error of a request for rows.
func rowsRefused(s *status.Status) *pgconn.PgError {
	message, _, _ := strings.Cut(s.Message(), "\n")
	switch s.Code() {
	case codes.Unauthenticated:
		return pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "the credentials were refused: %s", message), loginHint)
	case codes.PermissionDenied:
		return pgerr.Hint(pgerr.New(pgerr.InsufficientPrivilege, "%s", message), grantHint)
	case codes.NotFound:
		return missing(message)
	case codes.ResourceExhausted:
		return pgerr.Hint(pgerr.New("53400", "%s", message), laterHint)
	case codes.Unavailable:
		return pgerr.Hint(pgerr.New("08001", "could not connect: %s", message), addressHint)
	case codes.DeadlineExceeded:
		return pgerr.Hint(pgerr.New("08001", "could not connect in time"), addressHint)
	case codes.Unimplemented:
		return pgerr.New(pgerr.FeatureNotSupported, "%s", message)
	}
	return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the rows could not be read: %s", message), "Run the statement again.")
}

// unreachable makes a Postgres error of a request that got no answer.
func unreachable(err error) *pgconn.PgError {
	var cause net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &cause) && cause.Timeout() {
		return pgerr.Hint(pgerr.New("08001", "could not connect in time"), addressHint)
	}
	var wrapped interface{ Unwrap() error } // without the request's URL
	if errors.As(err, &wrapped) && wrapped.Unwrap() != nil {
		err = wrapped.Unwrap()
	}
	return pgerr.Hint(pgerr.New("08001", "could not connect: %s", err), addressHint)
}

// malformed makes a Postgres error of an answer that cannot be read.
func malformed(err error) *pgconn.PgError {
	return pgerr.New(pgerr.ProtocolViolation, "the service's answer cannot be read: %s", err)
}
