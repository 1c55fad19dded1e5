package sqldb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// mySQL is a server of MySQL or MariaDB.
type mySQL struct {
	server    string
	database  string
	config    *mysql.Config
	connector driver.Connector
}

// fixedMySQL is what statements depend on. Values of time are of UTC, double quotes name things, backslashes are letters. A
// server gives up a connection that nobody reads for long, but a paused portal may be read on.
var fixedMySQL = []string{
	"SET time_zone = '+00:00', sql_auto_is_null = 0, sql_select_limit = DEFAULT, net_write_timeout = 31536000, " +
		"sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
	"SET SESSION TRANSACTION READ ONLY",
}

func newMySQL(s engines.Server) (source, error) {
	host, port := s.Options["host"], s.Options["port"]
	if host == "" {
		host = "localhost"
	}
	if port == "" {
		port = "3306"
	}
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = s.Mapping["user"], s.Mapping["password"], s.Options["database"]
	config.Net, config.Addr = "tcp", net.JoinHostPort(host, port)
	if strings.HasPrefix(host, "/") {
		config.Net, config.Addr = "unix", host
	}
	config.Timeout = time.Duration(secondsOf(s, "connect_timeout", 10)) * time.Second
	config.Logger = &mysql.NopLogger{}
	if config.Net == "tcp" {
		if err := secure(config, s, host); err != nil {
			return nil, err
		}
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, pgerr.New(pgerr.FdwInvalidOption, "the options make no connection: %v", err)
	}
	return &mySQL{server: s.Name, database: config.DBName, config: config, connector: connector}, nil
}

// secure says how TLS is used.
func secure(config *mysql.Config, s engines.Server, host string) error {
	mode := s.Options["sslmode"]
	if mode == "disable" {
		return nil
	}
	t := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: mode != "verify-full"}
	if file := s.Options["sslrootcert"]; file != "" {
		pem, err := os.ReadFile(file)
		t.RootCAs = x509.NewCertPool()
		if err != nil || !t.RootCAs.AppendCertsFromPEM(pem) {
			return pgerr.New(pgerr.FdwInvalidOption, "option \"sslrootcert\": %q has no certificate", file)
		}
	}
	if mode == "verify-ca" {
		t.VerifyConnection = func(c tls.ConnectionState) error {
			o := x509.VerifyOptions{Roots: t.RootCAs, Intermediates: x509.NewCertPool()}
			for _, cert := range c.PeerCertificates[1:] {
				o.Intermediates.AddCert(cert)
			}
			_, err := c.PeerCertificates[0].Verify(o)
			return err
		}
	}
	config.TLS = t
	config.AllowFallbackToPlaintext = mode == "" || mode == "prefer"
	return nil
}

func (m *mySQL) strict() bool { return false }

func (m *mySQL) placeholder(int) string { return "?" }

// connect opens a session.
func (m *mySQL) connect(ctx context.Context) (*connection, error) {
	conn, err := m.connector.Connect(ctx)
	if err != nil {
		return nil, m.refused(err)
	}
	c := &connection{Conn: conn}
	err = c.execute(ctx, fixedMySQL...)
	if err == nil {
		c.id, err = m.idOf(ctx, c)
	}
	if err != nil {
		_ = c.Close()
		return nil, m.refused(err)
	}
	return c, nil
}

// idOf asks by which number the server calls a connection.
func (m *mySQL) idOf(ctx context.Context, c *connection) (string, error) {
	stmt, rows, err := c.query(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return "", err
	}
	return fmt.Sprint(row[0]), nil
}

// refused says why there is no connection, in words of the server where it has some.
func (m *mySQL) refused(err error) error {
	code, hint := "08001", "Look at the options of the server and at whether it runs."
	var my *mysql.MySQLError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &my) && (my.Number == 1040 || my.Number == 1203 || my.Number == 1226):
		code, hint = pgerr.TooManyConnections, "Raise the limit at the foreign server, or ask less at once."
	case errors.As(err, &my) && (my.Number == 1045 || my.Number == 1698):
		code, hint = pgerr.InvalidPassword, "Look at user and password of the user mapping."
	case errors.As(err, &my) && my.Number == 1049:
		hint = "Look at option \"database\" of the server."
	}
	text := err.Error()
	if my != nil {
		text = my.Message
	}
	return pgerr.Hint(pgerr.Detail(pgerr.New(code, "could not connect to server %q", m.server), "%s", text), "%s", hint)
}

// abandon closes the connection: on an open one the driver reads all rows to the end, unless its own watch of the context
// comes first.
func (m *mySQL) abandon(c *connection) { _ = c.Close() }

// killWithin bounds what it takes to kill a statement.
const killWithin = 3 * time.Second

// kill ends the session of a connection that was closed: a server that computes does not look whether its client is there.
func (m *mySQL) kill(c *connection) {
	if c.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), killWithin)
	defer cancel()
	conn, err := m.connector.Connect(ctx)
	if err != nil {
		return
	}
	killer := &connection{Conn: conn}
	_ = killer.execute(ctx, "KILL "+c.id) // it may have ended by itself
	_ = killer.Close()
}

// failures are SQLSTATEs of Postgres for numbers of errors.
var mySQLFailures = map[uint16]string{
	1064: pgerr.SyntaxError, 1065: pgerr.SyntaxError, 1149: pgerr.SyntaxError, 1146: pgerr.UndefinedTable, 1051: pgerr.UndefinedTable, 1054: pgerr.UndefinedColumn,
	1305: "42883", 1044: pgerr.InsufficientPrivilege, 1142: pgerr.InsufficientPrivilege, 1143: pgerr.InsufficientPrivilege,
	1227: pgerr.InsufficientPrivilege, 1370: pgerr.InsufficientPrivilege, 1792: pgerr.ReadOnlyTransaction, 1290: pgerr.ReadOnlyTransaction,
	1690: pgerr.NumericOutOfRange, 1264: pgerr.NumericOutOfRange, 1365: "22012", 1317: pgerr.QueryCanceled, 1969: pgerr.QueryCanceled, 3024: pgerr.QueryCanceled,
	1205: pgerr.LockNotAvailable, 1213: "40P01", 1040: pgerr.TooManyConnections, 1021: pgerr.DiskFull, 1037: pgerr.OutOfMemory, 1038: pgerr.OutOfMemory,
	1041: pgerr.OutOfMemory, 1053: pgerr.ConnectionFailure, 1077: pgerr.ConnectionFailure, 1158: pgerr.ConnectionFailure, 1159: pgerr.ConnectionFailure, 1160: pgerr.ConnectionFailure, 1161: pgerr.ConnectionFailure,
	1049: pgerr.FdwSchemaNotFound, 1927: pgerr.ConnectionFailure, 1665: pgerr.FeatureNotSupported,
}

// failure gives an error its SQLSTATE.
func (m *mySQL) failure(err error) *pgconn.PgError {
	var pe *pgconn.PgError
	var my *mysql.MySQLError
	var ne net.Error
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.As(err, &my):
		code := mySQLFailures[my.Number]
		if code == "" {
			code = pgerr.FdwError
		}
		return pgerr.Detail(pgerr.New(code, "%s", my.Message), "Error %d of the foreign server.", my.Number)
	case errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &ne):
		return pgerr.New(pgerr.ConnectionFailure, "the connection to the foreign server broke")
	case errors.Is(err, mysql.ErrMalformPkt), errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul), errors.Is(err, mysql.ErrPktTooLarge):
		return pgerr.New(pgerr.ProtocolViolation, "the foreign server sent a malformed message")
	}
	return pgerr.From(err)
}
