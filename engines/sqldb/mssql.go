package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// sqlServer is a database of Microsoft SQL Server, or of what speaks its protocol and its SQL: Azure SQL, Synapse, Fabric.
type sqlServer struct {
	server, token string
	config        msdsn.Config
}

// encryption is what the driver calls what options mean.
var encryption = map[string]url.Values{
	"disable":     {"encrypt": {"disable"}},
	"require":     {"encrypt": {"true"}, "TrustServerCertificate": {"true"}},
	"verify-full": {"encrypt": {"true"}, "TrustServerCertificate": {"false"}},
	"strict":      {"encrypt": {"strict"}},
}

func newSQLServer(s engines.Server) (source, error) {
	query := url.Values{
		"database": {s.Options["database"]}, "app name": {appName}, "dial timeout": {strconv.Itoa(secondsOf(s, "connect_timeout", 10))},
		"connection timeout": {"0"}, "guid conversion": {"true"}, "packet size": {"32767"}, "disableretry": {"true"}, "keepalive": {"30"}, "multisubnetfailover": {"false"},
	}
	mode := s.Options["sslmode"]
	if mode == "" {
		mode = "verify-full"
	}
	for name, value := range encryption[mode] {
		query[name] = value
	}
	if file := s.Options["sslrootcert"]; file != "" {
		if _, err := os.Stat(file); err != nil {
			return nil, pgerr.New(pgerr.FdwInvalidOption, "option \"sslrootcert\": %s", err)
		}
		query.Set("certificate", file)
	}
	if on, _ := engines.ParseBool(s.Options["read_only"], false); on { // which was checked
		query.Set("applicationintent", "ReadOnly")
	}
	port := s.Options["port"]
	if port == "" {
		port = "1433"
	}
	address := url.URL{Scheme: "sqlserver", Host: net.JoinHostPort(s.Options["host"], port), RawQuery: query.Encode()}
	config, err := msdsn.Parse(address.String())
	if err != nil {
		return nil, pgerr.New(pgerr.FdwInvalidOption, "%s", err)
	}
	config.User, config.Password = s.Mapping["user"], s.Mapping["password"]
	return &sqlServer{server: s.Name, token: s.Mapping["token"], config: config}, nil
}

// appName is what the server calls the program of a session.
const appName = "sluice"

// strict is false: decimals come as text.
func (m *sqlServer) strict() bool { return false }

func (m *sqlServer) placeholder(n int) string { return "@p" + strconv.Itoa(n) }

// fixedSQLServer makes a session read names and NULL as standard SQL has it, and dates in one form, and say how many rows it has written.
var fixedSQLServer = []string{"SET QUOTED_IDENTIFIER ON; SET ANSI_NULLS ON; SET ANSI_PADDING ON; SET ANSI_WARNINGS ON; SET CONCAT_NULL_YIELDS_NULL ON; SET NOCOUNT OFF; SET DATEFORMAT ymd"}

// connect opens a session.
func (m *sqlServer) connect(ctx context.Context) (*connection, error) {
	connector := mssql.NewConnectorConfig(m.config)
	if m.token != "" {
		var err error
		if connector, err = mssql.NewSecurityTokenConnector(m.config, func(context.Context) (string, error) { return m.token, nil }); err != nil {
			return nil, m.refused(ctx, err)
		}
	}
	dialer := &keptDialer{}
	connector.Dialer = dialer
	conn, err := connector.Connect(ctx)
	if err != nil {
		if dialer.socket != nil {
			_ = dialer.socket.Close()
		}
		return nil, m.refused(ctx, err)
	}
	session := &sqlServerSession{conn.(*mssql.Conn), dialer.socket}
	c := &connection{Conn: session, hurry: session.hurry}
	if err := c.execute(ctx, fixedSQLServer...); err != nil {
		_ = c.Close()
		return nil, m.refused(ctx, err)
	}
	return c, nil
}

// refused says why there is no connection, in words of the server where it has some.
func (m *sqlServer) refused(ctx context.Context, err error) error {
	code, hint := "08001", `Look at options "host", "port" and "sslmode" of the server and at whether it runs.`
	var ms mssql.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &ms) && (ms.Number == 18456 || ms.Number == 18452 || ms.Number == 18488):
		code, hint = pgerr.InvalidPassword, "Look at user and password, or token, of the user mapping."
	case errors.As(err, &ms) && (ms.Number == 4060 || ms.Number == 916):
		hint = `Look at option "database" of the server.`
	case errors.As(err, &ms) && (ms.Number == 10928 || ms.Number == 10929 || ms.Number == 17809):
		code, hint = pgerr.TooManyConnections, "Raise the limit at the foreign server, or ask less at once."
	}
	text := err.Error()
	if ms.Number != 0 {
		text = ms.Message
	}
	return pgerr.Hint(pgerr.Detail(pgerr.New(code, "could not connect to server %q", m.server), "%s", text), "%s", hint)
}

// abandon has nothing to do: when a statement's context ends, the driver tells the server to stop, by its attention signal, before
// rows are closed.
func (m *sqlServer) abandon(*connection) {}

// kill has nothing to do, for the same reason.
func (m *sqlServer) kill(*connection) {}

// sqlServerFailures are SQLSTATEs of Postgres for numbers of errors.
var sqlServerFailures = map[int32]string{
	102: pgerr.SyntaxError, 105: pgerr.SyntaxError, 156: pgerr.SyntaxError, 2812: pgerr.SyntaxError, 208: pgerr.UndefinedTable, 207: pgerr.UndefinedColumn, 4104: pgerr.UndefinedColumn,
	195: "42883", 229: pgerr.InsufficientPrivilege, 230: pgerr.InsufficientPrivilege, 262: pgerr.InsufficientPrivilege, 297: pgerr.InsufficientPrivilege,
	220: pgerr.NumericOutOfRange, 232: pgerr.NumericOutOfRange, 248: pgerr.NumericOutOfRange, 8115: pgerr.NumericOutOfRange, 8134: "22012", 245: pgerr.InvalidTextRepr,
	8114: pgerr.InvalidTextRepr, 241: "22007", 242: "22008", 1205: "40P01", 1222: pgerr.LockNotAvailable, 3960: pgerr.SerializationFailure,
	701: pgerr.OutOfMemory, 802: pgerr.OutOfMemory, 8645: pgerr.OutOfMemory, 1105: pgerr.DiskFull, 1101: pgerr.DiskFull, 9002: pgerr.DiskFull, 40544: pgerr.DiskFull,
	10928: pgerr.TooManyConnections, 10929: pgerr.TooManyConnections, 40501: pgerr.TooManyConnections, 3906: pgerr.ReadOnlyTransaction, 596: pgerr.AdminShutdown, 6005: pgerr.AdminShutdown,
	40197: pgerr.ConnectionFailure, 40613: pgerr.CannotConnectNow, 18456: pgerr.InvalidPassword,
}

// failure gives an error its SQLSTATE.
func (m *sqlServer) failure(err error) *pgconn.PgError {
	var pe *pgconn.PgError
	var ms mssql.Error
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.As(err, &ms):
		code := sqlServerFailures[ms.Number]
		if code == "" {
			code = pgerr.FdwError
		}
		return pgerr.Detail(pgerr.New(code, "%s", ms.Message), "Error %d of the foreign server.", ms.Number)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return pgerr.From(err)
	}
	return pgerr.Detail(pgerr.New(pgerr.ConnectionFailure, "the connection to the foreign server broke"), "%s", err) // or what came over it is none of the protocol's
}

// natural is the type of a result's column that nobody has named a type for.
func (m *sqlServer) natural(rows driver.Rows, i int) engines.Field {
	f := engines.Field{OID: oidText, Typmod: -1}
	if t, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		if oid, ok := sqlServerResults[t.ColumnTypeDatabaseTypeName(i)]; ok {
			f.OID = oid
		}
	}
	return f
}

// probes count by what makes a row as it is asked for.
func (m *sqlServer) probes(ctx context.Context, ask asker) (engines.Probes, error) {
	p := sqlServerProbes
	rows, err := ask(ctx, "SELECT CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(128))")
	if err != nil {
		return p, err
	}
	p.Version = "SQL Server " + value(rows[0][0])
	if major, _, _ := strings.Cut(value(rows[0][0]), "."); len(major) < 2 || major < "16" {
		return p, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "%s cannot be certified", p.Version), "Certification asks for GENERATE_SERIES, which SQL Server 2022 has.")
	}
	return p, nil
}

var sqlServerProbes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT value AS i, REPLICATE(CAST('x' AS VARCHAR(MAX)), %d) AS s FROM GENERATE_SERIES(CAST(0 AS BIGINT), CAST(%d AS BIGINT)) WHERE value < %d", width, max(n-1, 0), n)
	},
	Blocking: "SELECT MAX(value) AS i, '' AS s FROM GENERATE_SERIES(CAST(0 AS BIGINT), CAST(1000000000000 AS BIGINT))",
	FailAt: func(n int64) string {
		return fmt.Sprintf("SELECT value + 0 / (value - %d) AS i, '' AS s FROM GENERATE_SERIES(CAST(0 AS BIGINT), CAST(100000000 AS BIGINT))", n)
	},
	FailCode: "22012",
	Errors:   map[string]string{"SELEKT 1 FROM": "42601", "SELECT nope FROM sys.objects": "42703"},
}
