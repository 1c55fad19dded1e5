package clickhouse

import (
	"errors"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// sqlStates are the SQLSTATEs of ClickHouse's errors by their numbers; HV000 stands for all others.
var sqlStates = map[int32]string{
	6: pgerr.InvalidTextRepr, 26: pgerr.InvalidTextRepr, 27: pgerr.InvalidTextRepr, 72: pgerr.InvalidTextRepr, 376: pgerr.InvalidTextRepr,
	38: "22007", 41: "22007", 69: pgerr.NumericOutOfRange, 321: pgerr.NumericOutOfRange, 407: pgerr.NumericOutOfRange, 153: "22012",
	36: pgerr.InvalidParameter, 395: "22000", 125: "21000",
	62: pgerr.SyntaxError, 60: pgerr.UndefinedTable, 218: pgerr.UndefinedTable, 81: "3F000", 8: pgerr.UndefinedColumn, 10: pgerr.UndefinedColumn,
	16: pgerr.UndefinedColumn, 47: pgerr.UndefinedColumn, 46: "42883", 42: "42883", 43: "42804", 44: "42804", 53: "42804", 386: "42804", 70: "42846",
	50: pgerr.UndefinedObject, 184: "42803", 215: "42803", 48: pgerr.FeatureNotSupported, 1: pgerr.FeatureNotSupported,
	164: pgerr.ReadOnlyTransaction, 291: pgerr.InsufficientPrivilege, 497: pgerr.InsufficientPrivilege,
	192: pgerr.InvalidPassword, 193: pgerr.InvalidPassword, 194: pgerr.InvalidPassword, 516: pgerr.InvalidPassword, 195: pgerr.InvalidAuthorization,
	159: pgerr.QueryCanceled, 160: pgerr.QueryCanceled, 394: pgerr.QueryCanceled, 158: pgerr.ProgramLimitExceeded, 307: pgerr.ProgramLimitExceeded, 396: pgerr.ProgramLimitExceeded,
	202: pgerr.TooManyConnections, 201: "53400", 173: pgerr.OutOfMemory, 241: pgerr.OutOfMemory, 243: pgerr.DiskFull,
	209: pgerr.ConnectionFailure, 210: pgerr.ConnectionFailure, 279: pgerr.ConnectionFailure,
}

// hints are what to do about errors of a SQLSTATE.
var hints = map[string]string{
	pgerr.InvalidPassword:       `Check options "user" and "password" of the user mapping.`,
	pgerr.UndefinedTable:        `Check options "schema_name" and "table_name" of the foreign table.`,
	"3F000":                     `Check option "database" of the server and option "schema_name" of the foreign table.`,
	pgerr.UndefinedColumn:       `Check option "column_name" of the foreign table's columns.`,
	pgerr.InsufficientPrivilege: "Grant the remote user the right to read the table, or map the role to another user.",
	"53400":                     "The remote user has used up its quota. Wait, or have it raised.",
}

// engineTime is the error that says that the server's own limit of time is over.
const engineTime = 159

// remoteError makes a Postgres error of an exception.
func remoteError(code int32, message string) *pgconn.PgError {
	state, ok := sqlStates[code]
	if !ok {
		state = pgerr.FdwError
	}
	e := pgerr.New(state, "%s", clean(message))
	if e.Hint = hints[state]; code == engineTime {
		e.Hint = `Raise option "max_execution_time" of the server.`
	}
	return pgerr.Detail(e, "ClickHouse error %d", code)
}

var (
	before = regexp.MustCompile(`^(Received from [^ ]+ )?(DB::Exception: )+`)
	behind = regexp.MustCompile(`(?s)(, e\.what\(\) = .*|\.? Stack trace:.*|\(version [^()]*\([^()]*\)\))$`)
)

// clean is a message without what programmers of ClickHouse add.
func clean(message string) string {
	message = before.ReplaceAllString(strings.TrimSpace(message), "")
	message = behind.ReplaceAllString(message, "")
	return strings.ToValidUTF8(strings.ReplaceAll(strings.TrimSpace(message), "\x00", ""), "?")
}

// errBroken marks that a connection is of no further use.
var errBroken = errors.New("connection broken")

// broken marks an error of reading or writing, and keeps what ClickHouse itself said apart from it.
func broken(err error) error {
	var pe *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pe), interrupted(err):
		return errors.Join(err, errBroken)
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return errors.Join(pgerr.New(pgerr.ConnectionFailure, "the foreign server closed the connection unexpectedly"), errBroken)
	}
	return errors.Join(pgerr.New(pgerr.ConnectionFailure, "the connection to the foreign server broke: %s", reasonOf(err)), errBroken)
}

// isLost reports whether an error says that the connection had gone.
func isLost(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == pgerr.ConnectionFailure && !isRemote(err)
}

// reasonOf returns the innermost reason of an error.
func reasonOf(err error) string {
	var ne *net.OpError
	if errors.As(err, &ne) {
		return ne.Error()
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return "the server closed the connection"
	}
	return err.Error()
}

func malformed() error {
	return pgerr.New(pgerr.ProtocolViolation, "the foreign server sent a malformed message")
}

func itoa(n int) string { return strconv.Itoa(n) }

// isSettingRefused reports whether an error of a user that may only read is about a setting, and not about a statement.
func isSettingRefused(message string) bool {
	return strings.Contains(message, "setting") && strings.Contains(message, "readonly mode")
}

// isNetwork reports whether an error is one of a socket.
func isNetwork(err error) bool {
	var ne *net.OpError
	return errors.As(err, &ne) || interrupted(err)
}

// errNoColumns says that an answer is empty: of no rows, where these are all there is, or of a statement that has none.
var errNoColumns = errors.New("no columns")

// isRemote reports whether an error is one that the server has sent: the statement has ended with it.
func isRemote(err error) bool {
	var r remote
	return errors.As(err, &r)
}

// remote is an error that the server has sent.
type remote struct{ *pgconn.PgError }

func (r remote) Unwrap() error { return r.PgError }
