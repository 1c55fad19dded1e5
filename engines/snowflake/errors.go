package snowflake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/pgerr"
)

// meaning is what an error's number means: a SQLSTATE and what is to be done.
type meaning struct{ code, hint string }

const (
	sqlUnreachable = "08001"

	hintLogin = `Check the user mapping: ALTER USER MAPPING … OPTIONS (SET …), or put a new secret into the file that it names.`
	hintName  = "Check that it exists, and that the role of the server or user mapping has privileges on it."
	hintLater = "Try again later."
)

// meanings are those of the server's errors, by number.
var meanings = map[int]meaning{
	603:    {pgerr.FdwError, ""},
	604:    {pgerr.QueryCanceled, ""},
	630:    {pgerr.QueryCanceled, `It took longer than the server allows: see option "statement_timeout".`},
	606:    {pgerr.ObjectNotInPrerequisite, `Name a warehouse that the role may use: ALTER SERVER … OPTIONS (SET warehouse '…').`},
	608:    {pgerr.CannotConnectNow, "The warehouse is suspended and does not resume by itself: ALTER WAREHOUSE … RESUME at Snowflake."},
	90064:  {"53000", "A resource monitor has suspended the warehouse: raise its quota at Snowflake."},
	90073:  {"53000", "A resource monitor has suspended the warehouse: raise its quota at Snowflake."},
	625:    {"53400", hintLater},
	1003:   {pgerr.SyntaxError, ""},
	904:    {pgerr.UndefinedColumn, "Check option column_name of the foreign table's columns."},
	2003:   {pgerr.UndefinedTable, hintName},
	2043:   {pgerr.UndefinedTable, hintName},
	3001:   {pgerr.InsufficientPrivilege, "Grant it at Snowflake to the role of the server or user mapping."},
	1044:   {"42883", ""},
	2140:   {"42883", ""},
	90105:  {pgerr.FdwUnableToConnect, `Check option "database" of the server.`},
	100035: {"22007", ""},
	100038: {pgerr.InvalidTextRepr, ""},
	100039: {pgerr.NumericOutOfRange, ""},
	100051: {"22012", ""},
	100132: {pgerr.NumericOutOfRange, ""},
	390100: {pgerr.InvalidPassword, hintLogin},
	390101: {pgerr.InvalidPassword, hintLogin},
	390144: {pgerr.InvalidAuthorization, "The key is not the one that the user has: ALTER USER … SET RSA_PUBLIC_KEY at Snowflake. " + hintLogin},
	390303: {pgerr.InvalidAuthorization, hintLogin},
	390318: {pgerr.InvalidAuthorization, "The token has expired. " + hintLogin},
	390195: {pgerr.InvalidAuthorization, hintLogin},
	390189: {pgerr.InvalidAuthorization, `The role does not exist or is not the user's: check option "role".`},
	390201: {pgerr.FdwUnableToConnect, `Check options "database", "schema" and "warehouse" of the server.`},
	390422: {pgerr.InvalidAuthorization, "A network policy of the account does not let this machine in."},
	260007: {pgerr.CannotConnectNow, hintLater},
	260008: {sqlUnreachable, `Check options "account" and "host" of the server, and whether a network policy lets this machine in.`},
	390110: {pgerr.TooManyConnections, hintLater},
	390127: {"53400", hintLater},
}

// gone are the numbers of errors that say that a session has ended: another login makes another.
var gone = map[int]bool{390104: true, 390111: true, 390112: true, 390114: true, 390115: true}

// kept are the classes whose SQLSTATEs mean the same in Postgres.
var kept = []string{"22", "23", "40", "42", "53", "54", "57"}

// remote makes a Postgres error of one that the server or library states.
func remote(e *gosnowflake.SnowflakeError) *pgconn.PgError {
	message := strings.TrimSpace(e.Message)
	if len(e.MessageArgs) > 0 {
		message = fmt.Sprintf(message, e.MessageArgs...)
	}
	message, _, _ = strings.Cut(message, ", URL:") // which has options and ids in it
	message = strings.Join(strings.Fields(strings.TrimPrefix(message, "SQL compilation error:")), " ")
	m, known := meanings[e.Number]
	switch {
	case known:
	case e.Number >= 390000 && e.Number < 391000:
		m = meaning{pgerr.InvalidAuthorization, hintLogin}
	case e.Number >= 260000 && e.Number < 280000: // the library's own
		m.code = pgerr.ConnectionException
	case len(e.SQLState) == 5 && standard(e.SQLState):
		m.code = e.SQLState
	default:
		m.code = pgerr.FdwError
	}
	if message == "" {
		message = "the statement failed"
	}
	return pgerr.Hint(pgerr.Detail(pgerr.New(m.code, "%s", message), "Snowflake's error %06d%s.", e.Number, inQuery(e.QueryID)), "%s", m.hint)
}

func inQuery(id string) string {
	if id == "" {
		return ""
	}
	return ", query " + id
}

// standard reports whether Postgres gives an SQLSTATE the same meaning: those with letters are the server's own.
func standard(state string) bool {
	for _, class := range kept {
		if strings.HasPrefix(state, class) {
			return strings.Trim(state[2:], "0123456789") == "" && state[2:] != "000"
		}
	}
	return false
}

// failed is the error of a call of the library under ctx, of whose requests t was noted.
func failed(ctx context.Context, t *trouble, err error) error {
	var se *gosnowflake.SnowflakeError
	var pe *pgconn.PgError
	switch {
	case ctx.Err() != nil:
		return pgerr.Ended(ctx)
	case t.err != nil:
		return unreachable(t.err)
	case errors.As(err, &se):
		return remote(se)
	case errors.As(err, &pe):
		return pe
	case strings.HasPrefix(err.Error(), "timeout after"): // the library's last word where it was put off too often
		return pgerr.Hint(pgerr.New(pgerr.CannotConnectNow, "the service takes no requests at present: %s", err), hintLater)
	}
	return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the answer broke off: %s", err), "Run the statement again.")
}

// unreachable makes a Postgres error of a request that got no answer.
func unreachable(err error) *pgconn.PgError {
	return pgerr.Hint(pgerr.New(sqlUnreachable, "could not connect: %s", err), `Check options "account", "host" and "port" of the server, and the network.`)
}

// isGone reports whether a session has ended, so that the server has not looked at the statement.
func isGone(err error) bool {
	var se *gosnowflake.SnowflakeError
	return errors.As(err, &se) && gone[se.Number]
}

// states reports whether an error is one of the server's, whose session is of use afterwards.
func states(err error) bool {
	var se *gosnowflake.SnowflakeError
	return errors.As(err, &se) && !gone[se.Number] && (se.Number < 260000 || se.Number >= 280000)
}

func noCredentials() *pgconn.PgError {
	return pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "no credentials"),
		`CREATE USER MAPPING … OPTIONS (user '…', private_key 'file:PATH'), or password, or token.`)
}

// malformed makes a Postgres error of an answer that cannot be read.
func malformed(format string, args ...any) *pgconn.PgError {
	return pgerr.New(pgerr.ProtocolViolation, "the server's answer cannot be read: %s", fmt.Sprintf(format, args...))
}
