package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // makes the file; what is tested runs in the sluice process
)

const (
	plain   = "plain"   // schema of plain tables
	lake    = "lake"    // schema of foreign tables
	scratch = "scratch" // schema that a client may do anything in
)

// stage is the database of one client.
type stage struct {
	rig      *rig
	database string
}

// The columns of the tables, as Postgres and as DuckDB have them.
const (
	itemColumns = `id int NOT NULL, name text NOT NULL, price numeric(10,2), qty smallint, big bigint, ratio double precision,
		r4 real, ok boolean, day date, at timestamp, atz timestamptz, uid uuid, doc jsonb, tags text[], raw bytea, span interval,
		t time, note varchar(40)`
	seriesColumns = `n bigint, label text`
	sinkColumns   = `id int NOT NULL, name text, price numeric(10,2), qty smallint, at timestamp, raw bytea`

	duckItem = `CREATE TABLE item (id INTEGER, name VARCHAR, price DECIMAL(10,2), qty SMALLINT, big BIGINT, ratio DOUBLE,
		r4 FLOAT, ok BOOLEAN, day DATE, "at" TIMESTAMP, atz TIMESTAMPTZ, uid UUID, doc JSON, tags VARCHAR[], raw BLOB, span INTERVAL,
		t TIME, note VARCHAR)`
	duckSeries = `CREATE TABLE series (n BIGINT, label VARCHAR)`
	duckSink   = `CREATE TABLE sink (id INTEGER, name VARCHAR, price DECIMAL(10,2), qty SMALLINT, "at" TIMESTAMP, raw BLOB)`
)

// items fills item. Each column has its NULLs, and values at the edge of what its type holds.
const items = `INSERT INTO item SELECT i,
	CASE i % 10 WHEN 1 THEN '' WHEN 2 THEN 'Zoë 日本語 🙂' WHEN 3 THEN E'tab\there\nnewline' WHEN 4 THEN 'quote''s "and" \ back' ELSE 'item ' || i END,
	CASE WHEN i % 7 = 0 THEN NULL WHEN i = 1 THEN -99999999.99 WHEN i = 2 THEN 99999999.99 WHEN i = 3 THEN 0 ELSE i * 1.25 - 40 END,
	CASE WHEN i % 11 = 0 THEN NULL WHEN i = 1 THEN -32768 WHEN i = 2 THEN 32767 ELSE i - 100 END,
	CASE WHEN i % 13 = 0 THEN NULL WHEN i = 1 THEN -9223372036854775808 WHEN i = 2 THEN 9223372036854775807 ELSE i * 10000000019 END,
	CASE WHEN i % 17 = 0 THEN NULL WHEN i = 1 THEN 'infinity' WHEN i = 2 THEN '-infinity' WHEN i = 3 THEN 'nan' WHEN i = 4 THEN -0.0
		WHEN i = 5 THEN 1.7976931348623157e308 WHEN i = 6 THEN 5e-324 ELSE i / 3.0 END::float8,
	CASE WHEN i % 19 = 0 THEN NULL WHEN i = 1 THEN 3.4028235e38 WHEN i = 2 THEN 'infinity' ELSE i / 7.0 END::float4,
	CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN true ELSE false END,
	CASE WHEN i % 5 = 0 THEN NULL WHEN i = 1 THEN '0001-01-01' WHEN i = 2 THEN '9999-12-31' ELSE date '2024-02-29' + i END,
	CASE WHEN i % 6 = 0 THEN NULL WHEN i = 1 THEN '0001-01-01 00:00:00' WHEN i = 2 THEN '9999-12-31 23:59:59.999999'
		ELSE timestamp '1999-12-31 23:59:59.5' + i * interval '37 hours 1 microsecond' END,
	CASE WHEN i % 9 = 0 THEN NULL ELSE timestamptz '1970-01-01 00:00:00+00' + i * interval '100 days 1 second' END,
	CASE WHEN i % 8 = 0 THEN NULL ELSE md5(i::text)::uuid END,
	CASE WHEN i % 4 = 0 THEN NULL WHEN i % 4 = 1 THEN jsonb_build_object('id', i, 'name', 'ä"' || i, 'list', jsonb_build_array(1, 2.5, null, true))
		WHEN i % 4 = 2 THEN to_jsonb(i) ELSE '[]' END,
	CASE WHEN i % 6 = 1 THEN NULL WHEN i % 6 = 2 THEN '{}' WHEN i % 6 = 3 THEN ARRAY['a', NULL, 'NULL', '', 'b,c', '"', '{}', '\'] ELSE ARRAY['tag' || i, 'ü'] END,
	CASE WHEN i % 12 = 0 THEN NULL WHEN i = 1 THEN '' ELSE decode(repeat(lpad(to_hex(i), 2, '0'), i % 5) || '00ff27', 'hex') END,
	CASE WHEN i % 10 = 0 THEN NULL WHEN i = 1 THEN interval '-1 year -2 days -03:04:05.678' ELSE make_interval(months => i % 30, days => i % 7, secs => i * 61.5) END,
	CASE WHEN i % 14 = 0 THEN NULL WHEN i = 1 THEN '00:00:00' WHEN i = 2 THEN '23:59:59.999999' ELSE time '00:00:00.25' + i * interval '7 minutes' END,
	CASE WHEN i % 15 = 0 THEN NULL WHEN i = 1 THEN repeat('é', 40) ELSE 'note ' || i || '  ' END
	FROM generate_series(1, 200) i`

// newStage makes a client's databases with the tables in them, plain and foreign.
func (r *rig) newStage(ctx context.Context, c *client) (*stage, error) {
	s := &stage{r, "interop_" + c.key()}
	if err := execute(ctx, r.home.URL("postgres"), "CREATE DATABASE "+s.quoted("")); err != nil {
		return nil, err
	}
	if err := execute(ctx, r.home.URL(s.database), tables(plain)...); err != nil {
		return nil, err
	}
	file := filepath.Join(r.work, c.key()+".duckdb")
	if err := makeDuck(ctx, file); err != nil {
		return nil, err
	}
	if err := execute(ctx, s.admin(), foreignTables(file)...); err != nil {
		return nil, err
	}
	return s, s.addTwin(ctx)
}

// The second Postgres has, beside a database for the client, a twin of the client's home: its foreign tables are those of
// postgres_fdw, over plain ones in a third database.
const (
	twinSuffix = "_twin"
	rowsSuffix = "_rows"
)

func (s *stage) addTwin(ctx context.Context) error {
	second := s.rig.second
	if err := execute(ctx, second.URL("postgres"), "CREATE DATABASE "+s.quoted(""),
		"CREATE DATABASE "+s.quoted(twinSuffix), "CREATE DATABASE "+s.quoted(rowsSuffix)); err != nil {
		return err
	}
	if err := execute(ctx, second.URL(s.database+rowsSuffix), tables(lake)...); err != nil {
		return err
	}
	host, port, _ := strings.Cut(second.Addr(), ":")
	statements := append(tables(plain),
		"CREATE EXTENSION postgres_fdw",
		fmt.Sprintf("CREATE SERVER lake FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname '%s')", host, port, s.database+rowsSuffix),
		"CREATE USER MAPPING FOR "+role+" SERVER lake OPTIONS (user '"+role+"', password '"+password+"')",
		"CREATE SCHEMA scratch", "GRANT ALL ON SCHEMA scratch TO "+role)
	return execute(ctx, second.URL(s.database+twinSuffix), append(statements, declareForeign()...)...)
}

// tables makes plain tables with the rows.
func tables(schema string) []string {
	return []string{
		"CREATE SCHEMA " + schema, "GRANT USAGE ON SCHEMA " + schema + " TO " + role, "SET search_path TO " + schema,
		"CREATE TABLE item (" + itemColumns + ", PRIMARY KEY (id))",
		"CREATE TABLE series (" + seriesColumns + ")",
		"CREATE TABLE sink (" + sinkColumns + ")",
		items,
		"INSERT INTO series SELECT n, 'label ' || n FROM generate_series(1, 50000) n",
		"GRANT ALL ON ALL TABLES IN SCHEMA " + schema + " TO " + role,
		"ANALYZE",
	}
}

// declareForeign declares the foreign tables of a server called lake.
func declareForeign() []string {
	return []string{
		"CREATE SCHEMA lake", "GRANT USAGE ON SCHEMA lake TO " + role,
		"CREATE FOREIGN TABLE lake.item (" + itemColumns + ") SERVER lake",
		"CREATE FOREIGN TABLE lake.series (" + seriesColumns + ") SERVER lake",
		"CREATE FOREIGN TABLE lake.sink (" + sinkColumns + ") SERVER lake",
		"GRANT ALL ON ALL TABLES IN SCHEMA lake TO " + role,
	}
}

func foreignTables(file string) []string {
	statements := append([]string{
		"CREATE EXTENSION sluice",
		"CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + file + "', read_only 'false', memory_limit '300MB')",
	}, declareForeign()...)
	return append(statements, "INSERT INTO lake.item SELECT * FROM plain.item", "INSERT INTO lake.series SELECT * FROM plain.series")
}

// makeDuck makes a DuckDB file with the tables, empty.
func makeDuck(ctx context.Context, file string) (err error) {
	db, err := sql.Open("duckdb", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, create := range []string{duckItem, duckSeries, duckSink} {
		if _, err := db.ExecContext(ctx, create); err != nil {
			return err
		}
	}
	return nil
}

// admin is the URL of the database for the superuser, through the proxy.
func (s *stage) admin() string { return urlOf(s.rig.sluice.addr, s.database, url.User("postgres")) }

// clear empties sink and scratch before a run.
func (s *stage) clear(ctx context.Context) error {
	return execute(ctx, s.admin(), "TRUNCATE plain.sink", "DELETE FROM lake.sink", "DROP SCHEMA IF EXISTS scratch CASCADE",
		"CREATE SCHEMA scratch", "GRANT ALL ON SCHEMA scratch TO "+role)
}

// intact reports whether the tables that a client may only read are as they were.
func (s *stage) intact(ctx context.Context) error {
	return execute(ctx, s.admin(),
		"CREATE TEMPORARY TABLE i AS SELECT * FROM lake.item", "CREATE TEMPORARY TABLE s AS SELECT * FROM lake.series",
		`DO $$ BEGIN
			IF EXISTS ((TABLE i EXCEPT ALL TABLE plain.item) UNION ALL (TABLE plain.item EXCEPT ALL TABLE i))
				OR (SELECT count(*) FROM plain.item) <> 200 THEN RAISE 'item is not as it was'; END IF;
			IF EXISTS ((TABLE s EXCEPT ALL TABLE plain.series) UNION ALL (TABLE plain.series EXCEPT ALL TABLE s))
				OR (SELECT count(*) FROM plain.series) <> 50000 THEN RAISE 'series is not as it was'; END IF;
		END $$`)
}

// environment is what a client's program is told.
func (s *stage) environment(t trial) []string {
	addr, database := s.rig.sluice.addr, s.database
	switch t.server {
	case homeServer:
		addr = s.rig.home.Addr()
	case secondServer:
		addr, database = s.rig.second.Addr(), s.database+twinSuffix
	}
	host, port, _ := strings.Cut(addr, ":")
	return []string{
		"SLUICE_INTEROP_URL=" + urlOf(addr, database, url.UserPassword(role, password)),
		"SLUICE_INTEROP_SCHEMA=" + t.schema, "SLUICE_INTEROP_SCRATCH=" + scratch,
		"SLUICE_INTEROP_SECOND=" + s.rig.second.URL(s.database), "SLUICE_INTEROP_CHECKS=" + t.only,
		"PGHOST=" + host, "PGPORT=" + port, "PGUSER=" + role, "PGPASSWORD=" + password, "PGDATABASE=" + database,
	}
}

// quoted is the name of one of the client's databases for SQL.
func (s *stage) quoted(suffix string) string { return `"` + s.database + suffix + `"` }
