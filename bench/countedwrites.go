package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/embedded"
)

// countedWrite is a way to write, as pgbench runs it, with what it must keep of the rate without counters.
type countedWrite struct {
	what, sql string
	clients   int
	keep      float64
}

var countedWrites = []countedWrite{
	{"single-row inserts, c = 16", "INSERT INTO %s (k, v) VALUES ('a', 1);", 16, 0.55},
	{"inserts of 1,000 rows, c = 1", "INSERT INTO %s (k, v) SELECT 'k' || i %% 5, i FROM generate_series(1, 1000) i;", 1, 0.9},
}

// durable is a home that waits for the disk, with a proxy that folds.
type durable struct {
	home    *embedded.Home
	proxy   *process
	session *client // through the proxy: it folds where it has clients
}

// startDurable starts one, with tables that are counted and one that is not.
func (r *rig) startDurable(ctx context.Context) (d *durable, err error) {
	d = &durable{}
	defer func() {
		if err != nil {
			err = d.end(err)
		}
	}()
	if d.home, err = embedded.Start(ctx, filepath.Join(r.work, "durable"), embedded.Options{Settings: map[string]string{"max_wal_size": "4GB"}}); err != nil {
		return d, err
	}
	c, err := connect(ctx, d.home.Addr(), "postgres")
	if err != nil {
		return d, err
	}
	defer c.close()
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database} {
		if err := c.exec(ctx, sql); err != nil {
			return d, err
		}
	}
	if d.proxy, err = r.startSluiceAt(ctx, d.home.URL(database)); err != nil {
		return d, err
	}
	if d.session, err = connect(ctx, d.proxy.addr, database); err != nil {
		return d, err
	}
	for _, sql := range []string{
		"CREATE EXTENSION sluice",
		"CREATE TABLE uncounted (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k text, v int)",
		"CREATE TABLE counted (LIKE uncounted INCLUDING ALL)", "CREATE TABLE grouped (LIKE uncounted INCLUDING ALL)",
		"SELECT sluice.track_statistics('counted'), sluice.track_statistics('grouped', '{k}')",
	} {
		if err := d.session.exec(ctx, sql); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d *durable) end(err error) error {
	if d.session != nil {
		d.session.close()
	}
	if d.proxy != nil {
		err = d.proxy.end(err)
	}
	if d.home != nil {
		err = errors.Join(err, d.home.Stop())
	}
	return err
}

// countedWrites writes, with synchronous_commit, to a table without counters, with a counter, and with counters of groups, in turns.
func (r *rig) countedWrites(ctx context.Context, report *report) (err error) {
	pgbench, err := findPgbench()
	if err != nil {
		report.note("%v, so the figures of counted writes are missing; on Debian: apt-get install postgresql.", err)
		return nil
	}
	d, err := r.startDurable(ctx)
	if err != nil {
		return err
	}
	defer func() { err = d.end(err) }()
	tables := []string{"uncounted", "counted", "grouped"}
	for _, w := range countedWrites {
		progress("counters: %s", w.what)
		rates, err := r.countedRates(ctx, pgbench, d, w, tables)
		if err != nil {
			return err
		}
		for i, table := range tables[1:] {
			got := median(ratios(rates[i+1], rates[0]))
			l := line{what: w.what + ", " + table + ", beside uncounted: statements/s", values: [3]string{count(median(rates[0])), "", count(median(rates[i+1]))}, ratio: fmt.Sprintf("%.2f", got)}
			if table == "counted" {
				l.goal, l.reached = fmt.Sprintf("≥ %.2f", w.keep), got >= w.keep
			}
			report.add(l)
		}
	}
	if err := r.foldRate(ctx, pgbench, d, report); err != nil {
		return err
	}
	return d.foldSpeed(ctx, report)
}

// foldSpeed has deltas summed up that nobody else sees, so that nobody else does it.
func (d *durable) foldSpeed(ctx context.Context, report *report) error {
	const deltas = 400_000
	for _, sql := range []string{"BEGIN", fmt.Sprintf("INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, 1 - i %% 2 * 2 FROM sluice.table_statistics, generate_series(1, %d) i WHERE keys = '{}'", deltas)} {
		if err := d.session.exec(ctx, sql); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := d.session.exec(ctx, "DO $$ BEGIN LOOP EXIT WHEN sluice.fold_statistics() > 0; END LOOP; END $$"); err != nil { // the proxy may be at it
		return err
	}
	rate := deltas / time.Since(began).Seconds()
	report.add(line{what: "fold: statements/s that it sums up", values: [3]string{"", "", count(rate)}, goal: "≥ 40 k", reached: rate >= 40_000})
	return d.session.exec(ctx, "ROLLBACK")
}

// countedRates returns the rates of a way to write, for each table, turn by turn.
func (r *rig) countedRates(ctx context.Context, pgbench string, d *durable, w countedWrite, tables []string) (rates [3][]float64, err error) {
	for range r.turns {
		for i, table := range tables {
			items, took, err := r.pgbenchScript(ctx, pgbench, d.home.Addr(), fmt.Sprintf(w.sql, table), w.clients)
			if err != nil {
				return rates, err
			}
			rates[i] = append(rates[i], items/took.Seconds())
		}
	}
	return rates, nil
}

// pgbenchScript runs a statement as often as it can.
func (r *rig) pgbenchScript(ctx context.Context, pgbench, addr, sql string, clients int) (float64, time.Duration, error) {
	file := filepath.Join(r.work, "script.sql")
	if err := os.WriteFile(file, []byte(sql), 0o644); err != nil {
		return 0, 0, err
	}
	out, err := r.pgbench(ctx, pgbench, addr, "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(clients, 2)), "-T", strconv.Itoa(int(r.time.Seconds())), "-f", file)
	if err != nil {
		return 0, 0, err
	}
	return parsePgbench(out)
}

// foldRate has single rows inserted as fast as it goes, each by a statement, and sees how long the proxy is busy with what they have
// appended once they have ended.
func (r *rig) foldRate(ctx context.Context, pgbench string, d *durable, report *report) error {
	progress("counters: fold")
	const each = 1000
	items, took, err := r.pgbenchScript(ctx, pgbench, d.home.Addr(),
		fmt.Sprintf("DO $$ BEGIN FOR i IN 1..%d LOOP INSERT INTO counted (k, v) VALUES ('a', i); END LOOP; END $$;", each), 2)
	if err != nil {
		return err
	}
	began := time.Now()
	for {
		left, err := d.session.query(ctx, "SELECT FROM sluice.table_statistics_delta d WHERE as_of IS NULL OFFSET 1000 LIMIT 1")
		if err != nil {
			return err
		}
		if left.rows == 0 || time.Since(began) > time.Minute {
			break
		}
		if err := d.session.exec(ctx, "SELECT pg_sleep(0.05)"); err != nil {
			return err
		}
	}
	late := time.Since(began)
	report.add(line{
		what:   fmt.Sprintf("%s single-row inserts/s for %v: how long the fold goes on behind them", count(each*items/took.Seconds()), r.time),
		values: [3]string{"", "", fmt.Sprintf("%.1f s", late.Seconds())}, goal: "≤ 3 s", reached: late <= 3*time.Second,
	})
	return nil
}
