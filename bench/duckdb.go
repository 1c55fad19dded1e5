package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	_ "github.com/duckdb/duckdb-go/v2" // makes the data; what is measured runs in the sluice process
)

const mib = 1 << 20

// duckRun is one drained result of a fresh proxy.
type duckRun struct {
	drained
	idle, peak float64 // resident memory before and at most
}

// duckdbResults drains results of N/10 and of N rows from a DuckDB table, each through a fresh proxy.
func duckdbResults(ctx context.Context, r *rig, report *report) error {
	file := filepath.Join(r.work, "lake.duckdb")
	if err := makeLake(ctx, file, r.rows); err != nil {
		return err
	}
	if err := declareLake(ctx, r, file); err != nil {
		return err
	}
	var small, large duckRun
	for _, run := range []struct {
		table string
		rows  int
		into  *duckRun
	}{{"small", r.rows / 10, &small}, {"large", r.rows, &large}} {
		progress("DuckDB: draining %s rows", count(float64(run.rows)))
		got, err := drainLake(ctx, r, run.table)
		if err != nil {
			return err
		}
		if got.rows != int64(run.rows) {
			return fmt.Errorf("table %s yielded %d rows, not %d", run.table, got.rows, run.rows)
		}
		*run.into = got
	}
	reportLake(report, r.rows, small, large)
	if r.memory != "" {
		report.note("The DuckDB server has memory_limit '%s': its buffers cache the file up to that, and up to the default of 1 GB without it.", r.memory)
	}
	return nil
}

func reportLake(report *report, rows int, small, large duckRun) {
	n, m := count(float64(rows)), count(float64(rows/10))
	mb := func(v float64) string { return fmt.Sprintf("%.1f MB", v/mib) }
	grown := large.peak / small.peak
	firstMS := float64(large.first.Microseconds()) / 1000
	report.add(line{what: "DuckDB, " + m + " rows: peak memory", values: [3]string{"", "", mb(small.peak)}})
	report.add(line{what: "DuckDB, " + n + " rows: peak memory", values: [3]string{"", "", mb(large.peak)},
		ratio: fmt.Sprintf("%.2f of %s rows'", grown, m), goal: "≤ 96 MB, within 10 %", reached: large.peak <= 96*mib && math.Abs(grown-1) <= 0.1})
	report.add(line{what: "DuckDB, " + n + " rows: first row", values: [3]string{"", "", fmt.Sprintf("%.1f ms", firstMS)},
		ratio: fmt.Sprintf("%.2f of %s rows'", large.first.Seconds()/small.first.Seconds(), m), goal: "≤ 20 ms", reached: firstMS <= 20})
	report.add(line{what: "DuckDB, " + n + " rows: text rows/s", values: [3]string{"", "", count(large.rate())},
		ratio: fmt.Sprintf("%.2f of %s rows'", large.rate()/small.rate(), m), goal: "≥ 3 M", reached: large.rate() >= 3e6})
	report.note("Peak memory is VmHWM of a proxy started for that result alone; it was %s before the query, most of it pages of the binary.", mb(large.idle))
}

// makeLake fills the tables small and large of a DuckDB file, unless they are there from an earlier run.
func makeLake(ctx context.Context, file string, rows int) (err error) {
	db, err := sql.Open("duckdb", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for table, n := range map[string]int{"small": rows / 10, "large": rows} {
		var have sql.NullInt64
		if err := db.QueryRowContext(ctx, "SELECT max(estimated_size) FROM duckdb_tables() WHERE table_name = ?", table).Scan(&have); err != nil {
			return err
		}
		if have.Valid && have.Int64 == int64(n) {
			continue
		}
		progress("DuckDB: making a table of %s rows", count(float64(n)))
		if _, err := db.ExecContext(ctx, fmt.Sprintf(`CREATE OR REPLACE TABLE %s AS
			SELECT i AS id, (i %% 1000) / 8.0::DOUBLE AS amount, 'name ' || (i %% 100000) AS name FROM range(%d) t(i)`, table, n)); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, "CHECKPOINT")
	return err
}

// declareLake makes foreign tables of the file, by the DDL that a user would type.
func declareLake(ctx context.Context, r *rig, file string) (err error) {
	p, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	c, err := connect(ctx, p.addr, database)
	if err != nil {
		return err
	}
	defer c.close()
	options := "database '" + file + "'"
	if r.memory != "" {
		options += ", memory_limit '" + r.memory + "'"
	}
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice",
		"CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (" + options + ")",
		"CREATE SCHEMA lake",
		"IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO lake",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// drainLake reads a whole table through a proxy that has served nothing but one row before.
func drainLake(ctx context.Context, r *rig, table string) (run duckRun, err error) {
	p, err := r.startSluice(ctx)
	if err != nil {
		return run, err
	}
	defer func() { err = p.end(err) }()
	c, err := connect(ctx, p.addr, database)
	if err != nil {
		return run, err
	}
	defer c.close()
	if err := c.exec(ctx, "SELECT id FROM lake.small LIMIT 1"); err != nil {
		return run, err
	}
	if run.idle, err = p.peak(); err != nil {
		return run, err
	}
	if run.drained, err = c.query(ctx, "SELECT id, amount, name FROM lake."+table); err != nil {
		return run, err
	}
	run.peak, err = p.peak()
	return run, err
}
