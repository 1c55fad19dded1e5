package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/internal/tpch"
)

// analytics asks the TPC-H queries of Parquet files, in turns of the DuckDB library in this process and of the proxy on
// route remote. Both drain the answers as text.
func analytics(ctx context.Context, r *rig, report *report) (err error) {
	files := filepath.Join(r.work, fmt.Sprintf("tpch-%g", r.factor))
	if err := makeTPCH(ctx, files, r.factor); err != nil {
		return err
	}
	library, err := openTPCH(ctx, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	p, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	c, err := declareTPCH(ctx, p.addr, files)
	if err != nil {
		return err
	}
	defer c.close()
	var logs, all float64
	var n int
	var slowest, left []string
	for i, query := range tpch.Queries() {
		progress("tpch: query %d, %d turns", i+1, r.turns)
		ratio, err := tpchTurns(ctx, r.turns, library, c, query)
		if isNotSupported(err) {
			left = append(left, fmt.Sprint(i+1))
			continue
		} else if err != nil {
			return fmt.Errorf("query %d: %w", i+1, err)
		}
		n, logs, all = n+1, logs+math.Log(ratio), max(all, ratio)
		slowest = append(slowest, fmt.Sprintf("%d: %.2f", i+1, ratio))
	}
	if n == 0 {
		return errors.New("no query runs remote")
	}
	mean := math.Exp(logs / float64(n))
	report.add(line{what: fmt.Sprintf("TPC-H at %g, %d of 22 queries remote: time", r.factor, n), ratio: fmt.Sprintf("%.2f of the DuckDB library's", mean), goal: "≤ 1.10", reached: mean <= 1.1})
	report.note("TPC-H is the geometric mean of the ratios of each query's times; the largest is %.2f. They are: %s. Not remote: %s.", all,
		strings.Join(slowest, ", "), strings.Join(append(left, "none")[:max(len(left), 1)], ", "))
	return nil
}

// isNotSupported reports whether a forced route refused the statement.
func isNotSupported(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == "0A000"
}

// tpchTurns returns the median of the ratios of the proxy's time to the library's.
func tpchTurns(ctx context.Context, turns int, library *sql.DB, c *client, query string) (float64, error) {
	var there, here []float64
	for turn := range turns + 1 { // the first only warms up
		started := time.Now()
		rows, err := drainLibrary(ctx, library, query)
		if err != nil {
			return 0, err
		}
		took := time.Since(started)
		d, err := c.query(ctx, query)
		if err != nil {
			return 0, err
		}
		if d.rows != rows {
			return 0, fmt.Errorf("%d rows, the library has %d", d.rows, rows)
		}
		if turn > 0 {
			there, here = append(there, took.Seconds()), append(here, d.total.Seconds())
		}
	}
	return median(ratios(here, there)), nil
}

// drainLibrary runs a query and writes each value as text to nowhere.
func drainLibrary(ctx context.Context, db *sql.DB, query string) (n int64, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(places...); err != nil {
			return n, err
		}
		fmt.Fprintln(io.Discard, values...)
	}
	return n, rows.Err()
}

// makeTPCH makes the Parquet files, unless they are there from an earlier run.
func makeTPCH(ctx context.Context, dir string, factor float64) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, t := range tpch.Tables() {
		target := filepath.Join(dir, t.Name+".parquet")
		if isFile(target) {
			continue
		}
		progress("tpch: making %s at %g", t.Name, factor)
		if err := makeTPCHTable(ctx, db, t, target, factor); err != nil {
			return err
		}
	}
	return nil
}

func makeTPCHTable(ctx context.Context, db *sql.DB, t tpch.Table, target string, factor float64) (err error) {
	text := target + ".tbl"
	file, err := os.Create(text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(text)) }()
	if err = t.Write(file, factor); err == nil {
		err = file.Close()
	}
	if err != nil {
		return err
	}
	for _, sql := range []string{
		fmt.Sprintf("CREATE TABLE %s (%s)", t.Name, t.Definition("")),
		fmt.Sprintf("COPY %s FROM '%s' (DELIMITER '|', HEADER false)", t.Name, text),
		fmt.Sprintf("COPY %s TO '%s.part' (FORMAT parquet)", t.Name, target),
		"DROP TABLE " + t.Name,
	} {
		if _, err := db.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	return os.Rename(target+".part", target)
}

// openTPCH opens the files as views of a DuckDB in this process.
func openTPCH(ctx context.Context, dir string) (*sql.DB, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	for _, t := range tpch.Tables() {
		view := fmt.Sprintf("CREATE VIEW %s AS FROM read_parquet('%s')", t.Name, filepath.Join(dir, t.Name+".parquet"))
		if _, err := db.ExecContext(ctx, view); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// declareTPCH makes foreign tables of the files and returns a connection that asks for them on route remote alone.
func declareTPCH(ctx context.Context, addr, dir string) (*client, error) {
	c, err := connect(ctx, addr, database)
	if err != nil {
		return nil, err
	}
	statements := []string{
		"CREATE EXTENSION IF NOT EXISTS sluice", "CREATE SCHEMA tpch",
		"CREATE SERVER tpch FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '" + dir + "')",
	}
	for _, t := range tpch.Tables() {
		statements = append(statements, fmt.Sprintf("CREATE FOREIGN TABLE tpch.%s (%s) SERVER tpch OPTIONS (file '%[1]s.parquet')", t.Name, t.Definition(" NOT NULL")))
	}
	for _, sql := range append(statements, "SET search_path = tpch", "SET sluice.route = remote") {
		if err := c.exec(ctx, sql); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}
