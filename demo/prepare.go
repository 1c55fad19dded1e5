package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/jackc/pgx/v5/pgconn"
)

// Database is the name of the demo's database at home.
const Database = "demo"

// Config says where the demo runs.
type Config struct {
	HomeURL  string // home itself, as superuser, any database
	ProxyURL string // the same through the proxy
	Dir      string // for the files outside of home
	Out      io.Writer
	// Progress is told what is being done, and how far it has come: done of total. It may be nil.
	Progress func(what string, done, total int64)
}

func (c Config) progress(what string, done, total int64) {
	if c.Progress != nil {
		c.Progress(what, done, total)
	}
}

// plainTables hold the same rows as the foreign tables, to compare with.
const plainTables = `
CREATE TABLE public.airports (iata text PRIMARY KEY, name text NOT NULL, city text, state text, latitude double precision, longitude double precision);
COMMENT ON TABLE public.airports IS 'airports in the United States';
CREATE SCHEMA plain;
CREATE TABLE plain.flights (departed timestamp NOT NULL, delay integer NOT NULL, distance integer, origin text, destination text);
CREATE TABLE plain.weather (city text, day date, precipitation numeric(5,1), temp_max numeric(4,1), temp_min numeric(4,1), wind numeric(4,1), weather text)`

// Prepare makes the demo's database afresh, loads it, and declares the foreign tables through the proxy.
func Prepare(ctx context.Context, c Config) error {
	c.progress("making a DuckDB database and a Parquet file", 0, 0)
	f, err := makeFiles(ctx, c.Dir)
	if err != nil {
		return err
	}
	if err := within(ctx, c.HomeURL, func(conn *pgconn.PgConn) error { return makeDatabase(ctx, conn) }); err != nil {
		return err
	}
	if err := within(ctx, inDatabase(c.HomeURL), func(conn *pgconn.PgConn) error { return c.loadHome(ctx, conn) }); err != nil {
		return err
	}
	return within(ctx, inDatabase(c.ProxyURL), func(conn *pgconn.PgConn) error { return c.declare(ctx, conn, f) })
}

// makeDatabase makes the demo's database, without what an earlier demo left there.
func makeDatabase(ctx context.Context, conn *pgconn.PgConn) error {
	return run(ctx, conn, "DROP DATABASE IF EXISTS "+Database+" WITH (FORCE)", "CREATE DATABASE "+Database)
}

// loadHome fills home's own table and the plain copies.
func (c Config) loadHome(ctx context.Context, conn *pgconn.PgConn) error {
	if err := run(ctx, conn, plainTables); err != nil {
		return err
	}
	for file, table := range map[string]string{"airports": "public.airports", "flights": "plain.flights", "weather": "plain.weather"} {
		text, err := testdata.ReadFile("testdata/" + file + ".csv")
		if err != nil {
			return err
		}
		rest := &reading{Reader: bytes.NewReader(text), total: int64(len(text)), progress: func(done, total int64) { c.progress("loading "+table+", bytes", done, total) }}
		if _, err := conn.CopyFrom(ctx, rest, "COPY "+table+" FROM STDIN WITH (FORMAT csv, HEADER)"); err != nil {
			return fmt.Errorf("loading %s: %w", table, err)
		}
	}
	return run(ctx, conn, "ANALYZE")
}

// reading is a Reader that tells how much of it was read.
type reading struct {
	*bytes.Reader
	total    int64
	progress func(done, total int64)
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.progress(r.total-int64(r.Len()), r.total)
	return n, err
}

// declare is what a DBA types once.
func (c Config) declare(ctx context.Context, conn *pgconn.PgConn, f files) error {
	statements := []string{
		"CREATE EXTENSION sluice",
		"CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database " + quote(f.database) + ")",
		"CREATE SCHEMA lake",
		"IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO lake",
		"CREATE SERVER files FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory " + quote(f.directory) + ")",
		"CREATE SCHEMA files",
		"IMPORT FOREIGN SCHEMA files FROM SERVER files INTO files",
	}
	title(c.Out, "Once: say what stands where")
	for i, statement := range statements {
		c.progress("declaring foreign tables", int64(i), int64(len(statements)))
		if _, err := fmt.Fprintln(c.Out, statement+";"); err != nil {
			return err
		}
		if err := run(ctx, conn, statement); err != nil {
			return err
		}
	}
	return nil
}

// run runs statements whose rows nobody wants.
func run(ctx context.Context, conn *pgconn.PgConn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// within connects, and disconnects after f.
func within(ctx context.Context, url string, f func(*pgconn.PgConn) error) (err error) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return f(conn)
}

// inDatabase points a connection URL at the demo's database.
func inDatabase(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Path = "/" + Database
	return u.String()
}
