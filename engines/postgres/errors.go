package postgres

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

// remoteError turns an ErrorResponse into an error. Where it points to is in a text that the client has not written.
func remoteError(body []byte) error {
	var m pgproto3.ErrorResponse
	if err := m.Decode(body); err != nil {
		return malformed()
	}
	e := pgconn.ErrorResponseToPgError(&m)
	e.Position, e.InternalPosition, e.InternalQuery = 0, 0, ""
	if e.Severity == "FATAL" || e.Severity == "PANIC" { // of the remote session, not of the client's
		e.Severity, e.SeverityUnlocalized = "ERROR", "ERROR"
		e.Detail = strings.TrimSpace(e.Message + ". " + e.Detail)
		e.Code, e.Message, e.Hint = pgerr.ConnectionFailure, "the foreign server ended the connection", ""
	}
	return e
}

// connectError says why no connection was made, without the configuration that pgconn puts into its text. A login that was refused
// keeps its SQLSTATE.
func connectError(server string, err error) error {
	e := pgerr.Detail(pgerr.New("08001", "could not connect to server %q", server), "%s", reasonOf(err))
	var pe *pgconn.PgError
	switch {
	case strings.Contains(err.Error(), "require_auth check failed"):
		return pgerr.Hint(pgerr.Detail(pgerr.New("2F003", "server %q does not ask for the password", server),
			"The user mapping demands that it does: else whoever may make a mapping could log in as the proxy."),
			`Have it ask for one, by its pg_hba.conf; or a superuser sets option "password_required" of the user mapping to false.`)
	case !errors.As(err, &pe):
		return pgerr.Hint(e, "Look at the options of the server and at whether it runs.")
	case pe.Code == pgerr.InvalidPassword || pe.Code == pgerr.InvalidAuthorization:
		e.Code = pe.Code
		return pgerr.Hint(e, "Look at the options of the user mapping, and at who may log in there.")
	case pe.Code == pgerr.TooManyConnections:
		e.Code = pe.Code
		return pgerr.Hint(e, `Lower option "max_sessions" of the server, or raise the limit there.`)
	}
	return e
}

// reasonOf returns the innermost reasons of an error of pgconn.
func reasonOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Message
	}
	var ne *net.OpError
	if errors.As(err, &ne) {
		return ne.Error()
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// lost says that the connection broke.
func lost(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return pgerr.New(pgerr.ConnectionFailure, "the foreign server closed the connection unexpectedly")
	}
	return pgerr.New(pgerr.ConnectionFailure, "the connection to the foreign server broke: %s", reasonOf(err))
}

func malformed() error {
	return pgerr.New(pgerr.ProtocolViolation, "the foreign server sent a malformed message")
}
