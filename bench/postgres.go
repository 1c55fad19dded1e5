package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/embedded"
)

// otherRows is how many rows the larger table of the second Postgres has.
const otherRows = 1_000_000

// lookups is how many single rows one turn looks up.
const lookups = 1000

// otherQueries are asked of a second Postgres through postgres_fdw of home and through Sluice. {s} is the schema.
var otherQueries = []struct {
	name, sql string
	goal      float64
}{
	{"EXISTS", "SELECT count(*) FROM {s}.items i WHERE EXISTS (SELECT 1 FROM {s}.groups g WHERE g.id = i.grp AND g.flag)", 3},
	{"IN sub-query", "SELECT count(*) FROM {s}.items WHERE grp IN (SELECT id FROM {s}.groups WHERE flag)", 3},
	{"DISTINCT", "SELECT DISTINCT grp, kind FROM {s}.items", 3},
	{"ROLLUP", "SELECT kind, grp % 10, count(*), sum(amount) FROM {s}.items GROUP BY ROLLUP (kind, grp % 10)", 3},
	{"CTE", "WITH t AS MATERIALIZED (SELECT grp, kind, amount FROM {s}.items WHERE amount > 250) SELECT t.kind, count(*), sum(t.amount) FROM t WHERE t.amount > (SELECT avg(amount) FROM t) GROUP BY t.kind", 3},
	{"UNION", "SELECT kind FROM {s}.items WHERE amount > 500 UNION SELECT name FROM {s}.groups", 3},
	{"join and aggregate", "SELECT g.name, count(*), sum(i.amount) FROM {s}.items i JOIN {s}.groups g ON g.id = i.grp GROUP BY g.name ORDER BY g.name", 3},
	{"scan of 1 M rows", "SELECT id, grp, amount, kind, note FROM {s}.items", 3},
}

// otherPostgres compares Sluice with home's postgres_fdw, the same second Postgres behind both.
func otherPostgres(ctx context.Context, r *rig, report *report) (err error) {
	progress("postgres: making a second Postgres with %s rows", count(otherRows))
	other, err := embedded.Start(ctx, filepath.Join(r.work, "other"), embedded.Options{Settings: map[string]string{
		"fsync": "off", "shared_buffers": "512MB", "max_wal_size": "4GB", "autovacuum": "off",
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Stop()) }()
	if err := fillOther(ctx, other.Addr()); err != nil {
		return err
	}
	p, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	if err := r.declareOther(ctx, p.addr, other.Addr()); err != nil {
		return err
	}
	var clients [3]*client
	for i, addr := range map[int]string{direct: r.home.Addr(), sluice: p.addr} {
		if clients[i], err = connect(ctx, addr, database); err != nil {
			return err
		}
		defer clients[i].close()
	}
	for _, q := range otherQueries {
		ask := func(c *client, schema string) (time.Duration, error) {
			d, err := c.query(ctx, strings.ReplaceAll(q.sql, "{s}", schema))
			return d.total, err
		}
		if err := r.compareOther(clients, q.name, ask, q.goal, report); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	for _, kind := range lookupKinds {
		ask := func(c *client, schema string) (time.Duration, error) { return lookUp(ctx, c, schema, kind) }
		if err := r.compareOther(clients, "point lookup, "+kind, ask, 2, report); err != nil {
			return fmt.Errorf("point lookup, %s: %w", kind, err)
		}
	}
	report.note("Of the figures \"other Postgres\" the column direct is home with postgres_fdw, asked without Sluice; its fetch_size is the default of 100.")
	return nil
}

func (r *rig) compareOther(clients [3]*client, name string, ask func(*client, string) (time.Duration, error), goal float64, report *report) error {
	progress("postgres: %s, %d turns", name, r.turns)
	var seconds [3][]float64
	for range r.turns {
		for i, schema := range map[int]string{direct: "viafdw", sluice: "viasluice"} {
			d, err := ask(clients[i], schema)
			if err != nil {
				return err
			}
			seconds[i] = append(seconds[i], d.Seconds())
		}
	}
	ms := func(v float64) string { return fmt.Sprintf("%.2f ms", v*1000) }
	got := median(ratios(seconds[direct], seconds[sluice]))
	report.add(line{
		what: "other Postgres, " + name, values: values(seconds, ms), ratio: fmt.Sprintf("%.1f × faster", got),
		goal: fmt.Sprintf("≥ %.0f ×", goal), reached: got >= goal,
	})
	return nil
}

// lookupKinds are the ways to look up a row: by a query text, by a statement that is parsed each time, and by one that is
// prepared once.
var lookupKinds = []string{"simple", "extended", "prepared"}

// lookUp looks up rows one by one and returns what one takes.
func lookUp(ctx context.Context, c *client, schema, kind string) (time.Duration, error) {
	const columns = "SELECT id, grp, amount, kind, note FROM "
	parse := pgproto3.Parse{Query: columns + schema + ".items WHERE id = $1"}
	if kind == "prepared" {
		parse.Name = "lookup"
		out, err := encode(&pgproto3.Close{ObjectType: 'S', Name: parse.Name}, &parse, &pgproto3.Sync{})
		if err == nil {
			_, err = c.exchange(ctx, out)
		}
		if err != nil {
			return 0, err
		}
	}
	started := time.Now()
	for i := range lookups {
		id := strconv.Itoa(1 + i*997%otherRows)
		messages := []pgproto3.FrontendMessage{&pgproto3.Query{String: columns + schema + ".items WHERE id = " + id}}
		if kind != "simple" {
			messages = []pgproto3.FrontendMessage{&parse, &pgproto3.Bind{PreparedStatement: parse.Name, Parameters: [][]byte{[]byte(id)}},
				&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{}}
		}
		if kind == "prepared" {
			messages = messages[1:]
		}
		out, err := encode(messages...)
		if err != nil {
			return 0, err
		}
		d, err := c.exchange(ctx, out)
		if err == nil && d.rows != 1 {
			err = fmt.Errorf("%d rows", d.rows)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(started) / lookups, nil
}

func fillOther(ctx context.Context, addr string) error {
	c, err := connect(ctx, addr, "postgres")
	if err != nil {
		return err
	}
	defer c.close()
	for _, sql := range []string{
		"DROP TABLE IF EXISTS items, groups",
		`CREATE TABLE items AS SELECT i AS id, i % 10000 AS grp, (i % 100000 / 100.0)::numeric(10,2) AS amount, 'kind ' || i % 20 AS kind, 'note ' || i AS note
			FROM generate_series(1, ` + fmt.Sprint(otherRows) + `) i`,
		"CREATE TABLE groups AS SELECT i AS id, 'group ' || i % 100 AS name, i % 3 = 0 AS flag FROM generate_series(0, 9999) i",
		"ALTER TABLE items ADD PRIMARY KEY (id)", "ALTER TABLE groups ADD PRIMARY KEY (id)", "VACUUM ANALYZE",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// declareOther makes foreign tables of the second Postgres, of both kinds.
func (r *rig) declareOther(ctx context.Context, proxy, other string) error {
	c, err := connect(ctx, proxy, database)
	if err != nil {
		return err
	}
	defer c.close()
	host, port, err := net.SplitHostPort(other)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("OPTIONS (host '%s', port '%s', dbname 'postgres')", host, port)
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice", "CREATE EXTENSION IF NOT EXISTS postgres_fdw",
		"CREATE SERVER viafdw FOREIGN DATA WRAPPER postgres_fdw " + options,
		"CREATE SERVER viasluice FOREIGN DATA WRAPPER sluice_postgres " + options,
		"CREATE USER MAPPING FOR PUBLIC SERVER viafdw OPTIONS (user 'postgres', password_required 'false')",
		"CREATE USER MAPPING FOR PUBLIC SERVER viasluice OPTIONS (user 'postgres', password_required 'false')",
		"CREATE SCHEMA viafdw", "CREATE SCHEMA viasluice",
		"IMPORT FOREIGN SCHEMA public FROM SERVER viafdw INTO viafdw", "IMPORT FOREIGN SCHEMA public FROM SERVER viasluice INTO viasluice",
		"ANALYZE viafdw.items", "ANALYZE viafdw.groups",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
