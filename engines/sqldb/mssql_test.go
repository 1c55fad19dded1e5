package sqldb

import (
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
	"github.com/sluicedb/sluice/internal/tdstest"
)

// standIn returns what stands in for a SQL Server, and the objects for an engine on it, on a database in which statements were run.
func standIn(t testing.TB, statements ...string) (*tdstest.Server, engines.Server) {
	t.Helper()
	m := tdstest.Start(t, hometest.Database(t, hometest.Start(t)))
	conn, err := pgconn.Connect(t.Context(), m.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "SET search_path = dbo, pg_catalog; "+strings.Join(statements, "; ")).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return m, engines.Server{
		Name:    "other",
		Options: map[string]string{"host": "127.0.0.1", "port": strconv.Itoa(m.Port), "database": "sales", "sslmode": "disable"},
		Mapping: map[string]string{"user": tdstest.User, "password": tdstest.Password},
	}
}

// openServer opens an engine on it and closes it with the test.
func openServer(t testing.TB, s engines.Server) *Engine {
	t.Helper()
	e, err := SQLServer{}.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.(*Engine)
}

func serverConformance(open func(ctx context.Context) (engines.Engine, error)) enginetest.Harness {
	return enginetest.Harness{
		Open: open,
		Rows: sqlServerProbes.Rows, Blocking: sqlServerProbes.Blocking, FailAt: sqlServerProbes.FailAt, FailCode: sqlServerProbes.FailCode,
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1 FROM x", Code: "42601"},
			{SQL: "SELECT * FROM x LIMIT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope FROM sys.objects", Code: "42703"},
			{SQL: "SELECT nope(1) AS x", Code: "42883"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT CAST(NULL AS INT) AS x", Field: field(23, -1), Want: []string{"(null)"}},
			{SQL: "SELECT CAST(-9223372036854775808 AS BIGINT) AS x UNION ALL SELECT 9223372036854775807", Field: field(20, -1), Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT CAST('99999999999999999999999999999999999.999' AS DECIMAL(38,3)) AS x", Field: field(1700, decimal(38, 3)), Want: []string{"99999999999999999999999999999999999.999"}},
			{SQL: "SELECT CAST('-0.5' AS DECIMAL(10,2)) AS x", Field: field(1700, decimal(10, 2)), Want: []string{"-0.5"}},
			{SQL: "SELECT CAST('9999-12-31' AS DATE) AS x UNION ALL SELECT '0001-01-01'", Field: field(1082, -1), Want: []string{"9999-12-31", "0001-01-01"}},
		},
		Running: running,
		Source: enginetest.Source{
			Forbidden: []string{"database/sql", "sql.Open", "sql.OpenDB"},
			Only:      map[string]string{"mssql.NewConnectorConfig": "mssql.go", "mssql.NewSecurityTokenConnector": "mssql.go"},
		},
		Drain: 1_000_000,
	}
}

// portEnv hands the port of a test's server to its children.
const portEnv = "SLUICE_TDS_PORT"

func TestSQLServerConformance(t *testing.T) {
	s := engines.Server{
		Name:    "other",
		Options: map[string]string{"host": "127.0.0.1", "port": os.Getenv(portEnv), "database": "sales", "sslmode": "disable"},
		Mapping: map[string]string{"user": tdstest.User, "password": tdstest.Password},
	}
	if s.Options["port"] == "" {
		_, s = standIn(t)
		t.Setenv(portEnv, s.Options["port"])
	}
	enginetest.Run(t, serverConformance(func(ctx context.Context) (engines.Engine, error) { return SQLServer{}.Open(ctx, s) }))
}

// Values of each type are what they are, through the driver's protocol.
func TestSQLServerTypes(t *testing.T) {
	_, s := standIn(t)
	e := openServer(t, s)
	for _, c := range []struct {
		sql   string
		field engines.Field
		want  string // or an error's code
	}{
		{"CAST('2000-02-29 12:34:56.123457' AS DATETIME2(6))", field(1114, -1), "2000-02-29T12:34:56.123457"},
		{"CAST('2000-02-29 23:00:00+05:30' AS DATETIMEOFFSET(6))", field(1184, -1), "2000-02-29T17:30:00Z"},
		{"CAST('2000-02-29 23:00:00' AS DATETIME2(6))", field(1082, -1), "22P02"},
		{"CAST('23:59:59.999999' AS TIME(6))", field(1083, -1), "23:59:59.999999"},
		{"CAST('123e4567-e89b-12d3-a456-426614174000' AS UNIQUEIDENTIFIER)", field(2950, -1), "Ej5FZ+ibEtOkVkJmFBdAAA=="},
		{"CAST('922337203685477.5807' AS MONEY)", field(1700, decimal(19, 4)), "922337203685477.5807"},
		{"CAST(1 AS BIT)", field(16, -1), "true"},
		{"N'a ''quoted'' é 𝄞'", field(25, -1), "a 'quoted' é 𝄞"},
		{"N'12345'", field(1043, 4+4), "22001"},
		{"CAST(0.1 AS FLOAT)", field(701, -1), "0.1"},
		{"CAST(70000 AS INT)", field(21, -1), "22003"},
		{"CAST('12.345' AS DECIMAL(10,3))", field(1700, decimal(10, 2)), "22003"},
	} {
		got := one(t, e, engines.Query{SQL: "SELECT " + c.sql + " AS x", Fields: []engines.Field{c.field}})
		if got != c.want {
			t.Errorf("%s: %q instead of %q", c.sql, got, c.want)
		}
	}
}

// one returns the text of the only value of a statement, or the code of its error.
func one(t *testing.T, e *Engine, q engines.Query) string {
	t.Helper()
	s, err := e.Open(t.Context(), q)
	if err != nil {
		return code(err)
	}
	defer s.Close()
	b, err := s.Next(t.Context())
	if err != nil {
		return code(err)
	}
	return b.(engines.Columns).Record.Column(0).ValueStr(0)
}

// What is finer than a microsecond is rounded as Postgres rounds it: half to even.
func TestFinerThanMicroseconds(t *testing.T) {
	at := func(clock string) time.Time {
		v, err := time.Parse("2006-01-02 15:04:05.9999999", clock)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		oid         uint32
		value, want string
	}{
		{oidTimestamp, "2020-01-01 00:00:00.0000005", "2020-01-01 00:00:00"},
		{oidTimestamp, "2020-01-01 00:00:00.0000015", "2020-01-01 00:00:00.000002"},
		{oidTimestamp, "2020-01-01 00:00:00.0000025", "2020-01-01 00:00:00.000002"},
		{oidTimestamp, "2020-01-01 00:00:00.1234566", "2020-01-01 00:00:00.123457"},
		{oidTimestamp, "2019-12-31 23:59:59.9999999", "2020-01-01 00:00:00"},
		{oidTime, "0001-01-01 23:59:59.9999999", "24:00:00"},
		{oidTime, "0001-01-01 12:00:00.0000006", "12:00:00.000001"},
	} {
		got, ok := newColumn(field(c.oid, -1), false).momentOf(at(c.value))
		if !ok || got != c.want {
			t.Errorf("%s: %q, %v instead of %q", c.value, got, ok, c.want)
		}
	}
}

// A session that is used again has kept its settings, and parameters are bound.
func TestSQLServerSessions(t *testing.T) {
	m, s := standIn(t)
	e := openServer(t, s)
	hostile := `'; DROP TABLE x --`
	for range 3 {
		got := one(t, e, engines.Query{SQL: "SELECT CONCAT(CAST($2 AS NVARCHAR(MAX)), CAST($1 AS NVARCHAR(MAX))) AS x", Args: []*string{&hostile, nil}, Fields: []engines.Field{field(25, -1)}})
		if got != hostile {
			t.Errorf("%q", got)
		}
	}
	list, attended := m.Statements()
	if len(list) != 4 || list[1] != "SELECT CONCAT(CAST(@p1 AS NVARCHAR(MAX)), CAST(@p2 AS NVARCHAR(MAX))) AS x" || attended != 0 {
		t.Errorf("%d attention signals; %q", attended, list)
	}
}

// Who leaves a statement has the server stop it by an attention signal.
func TestSQLServerAttention(t *testing.T) {
	m, s := standIn(t)
	e := openServer(t, s)
	rows, err := e.Open(t.Context(), engines.Query{SQL: sqlServerProbes.Rows(1_000_000_000, 100)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = rows.Close()
	for deadline := time.Now().Add(10 * time.Second); m.Running() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server computes on")
		}
	}
	if _, attended := m.Statements(); attended == 0 {
		t.Error("there was no attention signal")
	}
}

func TestSQLServerFailures(t *testing.T) {
	_, s := standIn(t)
	for name, c := range map[string]struct {
		change func(s *engines.Server)
		code   string
	}{
		"password": {func(s *engines.Server) { s.Mapping["password"] = "wrong" }, "28P01"},
		"database": {func(s *engines.Server) { s.Options["database"] = "nowhere" }, "08001"},
		"port":     {func(s *engines.Server) { s.Options["port"] = "1" }, "08001"},
		"tls":      {func(s *engines.Server) { s.Options["sslmode"] = "require" }, "08001"},
	} {
		broken := engines.Server{Name: "other", Options: map[string]string{}, Mapping: map[string]string{}}
		for k, v := range s.Options {
			broken.Options[k] = v
		}
		for k, v := range s.Mapping {
			broken.Mapping[k] = v
		}
		c.change(&broken)
		if err := openServer(t, broken).Ping(t.Context()); code(err) != c.code || !strings.Contains(where(err), "other") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A secondary replica takes no handles, however its option says that it is one.
func TestSQLServerReadOnly(t *testing.T) {
	for _, yes := range []string{"true", "on", "1"} {
		options := map[string]string{"host": "h", "database": "d", "handles": yes, "read_only": yes}
		if err := (SQLServer{}).Check(engines.ServerObject, options); code(err) != "HV00D" {
			t.Errorf("%s: %v", yes, err)
		}
		options["handles"] = "off"
		if err := (SQLServer{}).Check(engines.ServerObject, options); err != nil {
			t.Errorf("%s: %v", yes, err)
		}
		src, err := newSQLServer(engines.Server{Name: "other", Options: options, Mapping: map[string]string{"user": "a"}})
		if err != nil || !src.(*sqlServer).config.ReadOnlyIntent {
			t.Errorf("%s: %v", yes, err)
		}
	}
}

// IMPORT FOREIGN SCHEMA reads the server's own catalog.
func TestSQLServerIntrospect(t *testing.T) {
	_, s := standIn(t, `CREATE TABLE "Orders" (id int NOT NULL, "tiny" dbo.tinyint, price dbo.money, at timestamp(3), zoned timestamptz, n numeric(12,2), t text, v varchar(10), c char(4), b bytea, u uuid, p point)`,
		`COMMENT ON TABLE "Orders" IS 'all of them'`, "CREATE VIEW few AS SELECT id FROM \"Orders\"")
	e := openServer(t, s)
	tables, err := e.Introspect(t.Context(), "dbo")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name+" "+c.Type+" / "+c.RemoteType)
		}
	}
	want := []string{
		"Orders.id integer / int", "Orders.tiny smallint / tinyint", "Orders.price numeric(19,4) / money", "Orders.at timestamp(3) / datetime2(3)",
		"Orders.zoned timestamp(6) with time zone / datetimeoffset(6)", "Orders.n numeric(12,2) / decimal(12,2)", "Orders.t text / nvarchar(max)",
		"Orders.v character varying(10) / varchar(10)", "Orders.c character(4) / nchar(4)", "Orders.b bytea / varbinary", "Orders.u uuid / uniqueidentifier", "Orders.p  / cursor",
		"few.id integer / int",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if tables[0].Comment != "all of them" || !tables[0].Columns[0].NotNull || tables[0].Columns[1].NotNull {
		t.Errorf("%+v", tables[0])
	}
	if _, err := e.Introspect(t.Context(), "nowhere"); code(err) != "HV00Q" {
		t.Error(err)
	}
}

// TestSQLServerFaults breaks the network within an answer.
func TestSQLServerFaults(t *testing.T) {
	_, s := standIn(t)
	enginetest.Faults(t, serverConformance(nil), net.JoinHostPort(s.Options["host"], s.Options["port"]), func(ctx context.Context, address string) (engines.Engine, error) {
		m := moved(t, s, address)
		m.Options["sslmode"] = "disable"
		return SQLServer{}.Open(ctx, m)
	})
}
