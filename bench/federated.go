package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
)

// federated joins two columns of a large table of one server with the keys that another server holds, through a fresh
// proxy: all rows of the large table pass through the feed of the federation engine.
func federated(ctx context.Context, r *rig, report *report) (err error) {
	file, keys := filepath.Join(r.work, "feed.duckdb"), filepath.Join(r.work, "keys.duckdb")
	if err := makeLake(ctx, file, r.rows); err != nil {
		return err
	}
	if err := makeKeys(ctx, keys); err != nil {
		return err
	}
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
	options := ""
	if r.memory != "" {
		options = ", memory_limit '" + r.memory + "'"
	}
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice",
		"CREATE SERVER feed FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + file + "'" + options + ")",
		"CREATE SERVER keys FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + keys + "')",
		"CREATE SCHEMA feed", "IMPORT FOREIGN SCHEMA main FROM SERVER feed INTO feed", "IMPORT FOREIGN SCHEMA main FROM SERVER keys INTO feed",
		"SET sluice.route = 'federated'",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	const join = "SELECT count(l.amount), max(k.id) FROM feed.%s l LEFT JOIN feed.keys k ON k.id = l.id"
	if err := c.exec(ctx, fmt.Sprintf(join, "small")); err != nil {
		return err
	}
	idle, err := p.peak()
	if err != nil {
		return err
	}
	progress("federated: feeding %s rows", count(float64(r.rows)))
	run, err := c.query(ctx, fmt.Sprintf(join, "large"))
	if err != nil {
		return err
	}
	peak, err := p.peak()
	if err != nil {
		return err
	}
	rate, grown := float64(r.rows)/run.total.Seconds(), (peak-idle)/mib
	report.add(line{what: "federated, two columns of " + count(float64(r.rows)) + " rows: rows/s fed", values: [3]string{"", "", count(rate)}, goal: "≥ 10 M", reached: rate >= 10e6})
	report.add(line{what: "federated: peak memory", values: [3]string{"", "", fmt.Sprintf("%.1f MB more", grown)}, ratio: "than after a tenth of the rows", goal: "≤ 128 MB", reached: grown <= 128})
	return nil
}

// makeKeys fills a DuckDB file with a thousand keys of the large table's that lie all over it.
func makeKeys(ctx context.Context, file string) (err error) {
	db, err := sql.Open("duckdb", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "CREATE OR REPLACE TABLE keys AS SELECT i * 997 AS id FROM range(1000) t(i)")
	return err
}
