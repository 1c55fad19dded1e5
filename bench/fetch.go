package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgproto3"
)

// fetchRows is how many rows a client asks for at once that does not take the result whole.
const fetchRows = 1000

// rowLimits compares a result that is fetched by fetchRows with the same fetched whole, on each route.
func rowLimits(ctx context.Context, r *rig, report *report) (err error) {
	progress("fetch: making tables of %s rows", count(float64(r.fetch)))
	if err := r.makeFetch(ctx); err != nil {
		return err
	}
	p, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	if err := r.declareFetch(ctx, p.addr); err != nil {
		return err
	}
	for _, route := range []struct {
		name, setting, sql string
		home               bool // the table is home's, so that home alone can be asked as well
	}{
		{"home", "", "SELECT id, amount, name FROM fetched", true},
		{"remote", "remote", "SELECT id, amount, name FROM part.fetched", false},
		{"home_join", "home_join", "SELECT id, amount, name FROM part.fetched", false},
	} {
		progress("fetch: route %s, %d turns", route.name, r.turns)
		addrs := [3]string{sluice: p.addr}
		if route.home {
			addrs[direct] = r.home.Addr()
		}
		l, err := r.fetchTurns(ctx, addrs, route.setting, route.sql)
		if err != nil {
			return fmt.Errorf("route %s: %w", route.name, err)
		}
		l.what = fmt.Sprintf("%s rows by %d, %s: rows/s", count(float64(r.fetch)), fetchRows, route.name)
		report.add(l)
	}
	return nil
}

// fetchTurns fetches whole and in parts in turns, and returns the rate of the latter and its ratio to the former.
func (r *rig) fetchTurns(ctx context.Context, addrs [3]string, route, query string) (l line, err error) {
	var whole, parts [3][]float64
	for range r.turns {
		for i, addr := range addrs {
			if addr == "" {
				continue
			}
			for limit, into := range map[uint32]*[]float64{0: &whole[i], fetchRows: &parts[i]} {
				d, err := r.fetchOnce(ctx, addr, route, query, limit)
				if err != nil {
					return l, err
				}
				*into = append(*into, d.rate())
			}
		}
	}
	got := median(ratios(parts[sluice], whole[sluice]))
	l = line{values: values(parts, count), ratio: fmt.Sprintf("%.2f of unlimited", got), goal: "≥ 0.7", reached: got >= 0.7}
	if len(whole[direct]) > 0 {
		l.ratio += fmt.Sprintf(" (direct %.2f)", median(ratios(parts[direct], whole[direct])))
	}
	return l, nil
}

// fetchOnce reads a result on a connection of its own, by a route if one is named, limit rows at once (0: all).
func (r *rig) fetchOnce(ctx context.Context, addr, route, query string, limit uint32) (all drained, err error) {
	c, err := connect(ctx, addr, database)
	if err != nil {
		return all, err
	}
	defer c.close()
	if route != "" {
		if err := c.exec(ctx, "SET sluice.route = '"+route+"'"); err != nil {
			return all, err
		}
	}
	if err := c.exec(ctx, "BEGIN"); err != nil { // in which portals live on
		return all, err
	}
	if all, err = c.fetch(ctx, query, limit); err == nil && all.rows != int64(r.fetch) {
		err = fmt.Errorf("%s yielded %d rows, not %d", addr, all.rows, r.fetch)
	}
	return all, err
}

// fetch reads a result through a portal as drivers do: each part by an Execute and a Sync.
func (c *client) fetch(ctx context.Context, query string, limit uint32) (all drained, err error) {
	const portal = "part"
	more, err := encode(&pgproto3.Execute{Portal: portal, MaxRows: limit}, &pgproto3.Sync{})
	if err != nil {
		return all, err
	}
	out, err := encode(&pgproto3.Parse{Query: query}, &pgproto3.Bind{DestinationPortal: portal}, &pgproto3.Describe{ObjectType: 'P', Name: portal})
	if err != nil {
		return all, err
	}
	for out = append(out, more...); ; out = more {
		d, err := c.exchange(ctx, out)
		if all.rows == 0 {
			all.first = d.first
		}
		all.rows, all.bytes, all.total = all.rows+d.rows, all.bytes+d.bytes, all.total+d.total
		if err != nil || !d.suspended {
			return all, err
		}
	}
}

func encode(messages ...pgproto3.FrontendMessage) (out []byte, err error) {
	for _, m := range messages {
		if out, err = m.Encode(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// makeFetch makes the same rows at home and in a DuckDB file.
func (r *rig) makeFetch(ctx context.Context) (err error) {
	c, err := connect(ctx, r.home.Addr(), database)
	if err != nil {
		return err
	}
	defer c.close()
	for _, sql := range []string{
		fmt.Sprintf(`CREATE TABLE fetched AS SELECT i::bigint AS id, (i %% 1000) / 8.0::float8 AS amount, 'name ' || (i %% 100000) AS name
			FROM generate_series(0, %d) i`, r.fetch-1),
		"VACUUM (FREEZE, ANALYZE) fetched",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	db, err := sql.Open("duckdb", r.fetchFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, fmt.Sprintf(`CREATE OR REPLACE TABLE fetched AS
		SELECT i AS id, (i %% 1000) / 8.0::DOUBLE AS amount, 'name ' || (i %% 100000) AS name FROM range(%d) t(i)`, r.fetch))
	return err
}

func (r *rig) fetchFile() string { return filepath.Join(r.work, "fetch.duckdb") }

func (r *rig) declareFetch(ctx context.Context, addr string) error {
	c, err := connect(ctx, addr, database)
	if err != nil {
		return err
	}
	defer c.close()
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice",
		"CREATE SERVER part FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + r.fetchFile() + "')",
		"CREATE SCHEMA part",
		"IMPORT FOREIGN SCHEMA main FROM SERVER part INTO part",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
