package sqldb

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// sqLite is a database file of SQLite.
type sqLite struct {
	server, file string
	dsn, written string // to read, and to write
}

func newSQLite(s engines.Server) (source, error) {
	wait := secondsOf(s, "connect_timeout", 10) * 1000
	file := s.Options["file"]
	timeout := "&_busy_timeout=" + strconv.Itoa(wait)
	return &sqLite{server: s.Name, file: file, dsn: fileURL(file) + "?mode=ro&_query_only=true" + timeout, written: fileURL(file) + "?mode=rw" + timeout}, nil
}

// fileURL spells a path as SQLite reads it in a URL.
func fileURL(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

func (l *sqLite) strict() bool { return true }

func (l *sqLite) placeholder(int) string { return "?" }

// connect opens the file for reading.
func (l *sqLite) connect(ctx context.Context) (*connection, error) { return l.open(ctx, l.dsn) }

// open opens the file as a data source name says. A schema's own functions and triggers are not trusted.
func (l *sqLite) open(ctx context.Context, dsn string) (*connection, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	if err != nil {
		return nil, l.unable(err)
	}
	c := &connection{Conn: conn}
	if err := c.execute(ctx, "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "SELECT 1 FROM sqlite_schema LIMIT 1"); err != nil {
		_ = c.Close()
		return nil, l.unable(err)
	}
	return c, nil
}

func (l *sqLite) unable(err error) error {
	var se sqlite3.Error
	if !errors.As(err, &se) || se.Code != sqlite3.ErrCantOpen && se.Code != sqlite3.ErrNotADB {
		return err
	}
	return pgerr.Hint(pgerr.Detail(pgerr.New(pgerr.FdwUnableToConnect, "could not open SQLite database %q of server %q", l.file, l.server), "%s", se.Error()),
		"Look at option \"file\" and at whether the proxy may read it.")
}

// abandon has nothing to do: the driver reads no more than it is asked for.
func (l *sqLite) abandon(*connection) {}

// kill has nothing to do: a statement ends with its connection.
func (l *sqLite) kill(*connection) {}

var sqLiteFailures = map[sqlite3.ErrNo]string{
	sqlite3.ErrPerm: pgerr.InsufficientPrivilege, sqlite3.ErrAuth: pgerr.InsufficientPrivilege, sqlite3.ErrBusy: pgerr.LockNotAvailable,
	sqlite3.ErrLocked: pgerr.LockNotAvailable, sqlite3.ErrNomem: pgerr.OutOfMemory, sqlite3.ErrReadonly: pgerr.ReadOnlyTransaction,
	sqlite3.ErrInterrupt: pgerr.QueryCanceled, sqlite3.ErrIoErr: pgerr.IOError, sqlite3.ErrCorrupt: "XX001", sqlite3.ErrNotADB: "XX001",
	sqlite3.ErrFull: pgerr.DiskFull, sqlite3.ErrCantOpen: pgerr.FdwUnableToConnect, sqlite3.ErrTooBig: pgerr.ProgramLimitExceeded,
}

// sqLiteMessages give an error a SQLSTATE whose code says nothing.
var sqLiteMessages = []struct{ part, code string }{
	{"syntax error", pgerr.SyntaxError}, {"incomplete input", pgerr.SyntaxError}, {"no such table", pgerr.UndefinedTable}, {"no such column", pgerr.UndefinedColumn},
	{"no such function", "42883"}, {"integer overflow", pgerr.NumericOutOfRange}, {"readonly database", pgerr.ReadOnlyTransaction},
}

func (l *sqLite) failure(err error) *pgconn.PgError {
	var pe *pgconn.PgError
	var se sqlite3.Error
	switch {
	case errors.As(err, &pe):
		return pe
	case !errors.As(err, &se):
		return pgerr.From(err)
	}
	code := sqLiteFailures[se.Code]
	for _, m := range sqLiteMessages {
		if code == "" && strings.Contains(se.Error(), m.part) {
			code = m.code
		}
	}
	if code == "" {
		code = pgerr.FdwError
	}
	return pgerr.New(code, "%s", se.Error())
}
