package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// candidates are the ways to the same home, by column of the report: direct, PgBouncer, Sluice.
type candidates [3]candidate

type candidate struct {
	addr    string // empty: not there
	process *process
}

const (
	direct = iota
	bouncer
	sluice
)

// candidates starts the two relays. stop ends them.
func (r *rig) candidates(ctx context.Context, report *report) (all candidates, stop func(error) error, err error) {
	stop = func(err error) error { return all[sluice].process.end(all[bouncer].process.end(err)) }
	all[direct].addr = r.home.Addr()
	if all[bouncer].process, err = r.startBouncer(ctx, report); err != nil {
		return all, stop, err
	}
	if all[sluice].process, err = r.startSluice(ctx); err != nil {
		return all, stop, stop(err)
	}
	for i := range all {
		if p := all[i].process; p != nil {
			all[i].addr = p.addr
		}
	}
	return all, stop, nil
}

// series are the figures of all candidates, turn by turn.
type series struct {
	rate [3][]float64 // a second
	cpu  [3][]float64 // of the relay, seconds an item
}

// turns measures all candidates in turns. measure returns how many items a candidate did and how long that took.
func (all *candidates) turns(n int, measure func(addr string) (items float64, took time.Duration, err error)) (*series, error) {
	s := &series{}
	for range n {
		for i, c := range all {
			if c.addr == "" {
				continue
			}
			before, err := c.cpu()
			if err != nil {
				return nil, err
			}
			items, took, err := measure(c.addr)
			if err != nil {
				return nil, err
			}
			after, err := c.cpu()
			if err != nil {
				return nil, err
			}
			s.rate[i] = append(s.rate[i], items/took.Seconds())
			s.cpu[i] = append(s.cpu[i], (after-before).Seconds()/items)
		}
	}
	return s, nil
}

func (c candidate) cpu() (time.Duration, error) {
	if c.process == nil {
		return 0, nil
	}
	return c.process.cpu()
}

// values prints a figure of each candidate that was there.
func values(figures [3][]float64, form func(float64) string) (out [3]string) {
	for i, f := range figures {
		if len(f) > 0 {
			out[i] = form(median(f))
		}
	}
	return out
}

// roundTrips compares many small statements: pgbench, select only, in each of its modes of the protocol.
func roundTrips(ctx context.Context, r *rig, report *report) (err error) {
	pgbench, err := findPgbench()
	if err != nil {
		report.note("%v, so its figures are missing; on Debian: apt-get install postgresql.", err)
		return nil
	}
	progress("pgbench: making data of scale %d", r.scale)
	if _, err := r.pgbench(ctx, pgbench, r.home.Addr(), "-i", "-q", "-s", strconv.Itoa(r.scale)); err != nil {
		return err
	}
	all, stop, err := r.candidates(ctx, report)
	if err != nil {
		return err
	}
	defer func() { err = stop(err) }()
	for _, protocol := range []string{"simple", "extended", "prepared"} {
		progress("pgbench: %s, %d turns of %v each", protocol, r.turns, r.time)
		if err := r.roundTripsBy(ctx, protocol, pgbench, all, report); err != nil {
			return err
		}
	}
	return nil
}

// roundTripsBy compares them in one of pgbench's modes of the protocol.
func (r *rig) roundTripsBy(ctx context.Context, protocol, pgbench string, all candidates, report *report) error {
	seconds := strconv.Itoa(int(r.time.Seconds()))
	s, err := all.turns(r.turns, func(addr string) (float64, time.Duration, error) {
		out, err := r.pgbench(ctx, pgbench, addr, "-n", "-S", "-M", protocol, "-c", strconv.Itoa(r.clients), "-j", "2", "-T", seconds)
		if err != nil {
			return 0, 0, err
		}
		return parsePgbench(out)
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("pgbench -S %s, c = %d", protocol, r.clients)
	l := line{what: what + ": tps", values: values(s.rate, count)}
	if len(s.rate[bouncer]) > 0 {
		got := median(ratios(s.rate[sluice], s.rate[bouncer]))
		l.ratio, l.goal, l.reached = fmt.Sprintf("%.2f of PgBouncer", got), "≥ 0.85", got >= 0.85
	}
	report.add(l)
	report.add(line{what: what + ": tps", ratio: fmt.Sprintf("%.2f of direct", median(ratios(s.rate[sluice], s.rate[direct])))})
	report.cpu(what+": CPU of the relay", s, "µs/txn", 1e6)
	return nil
}

// cpu adds what one item costs a relay.
func (r *report) cpu(what string, s *series, unit string, scale float64) {
	l := line{what: what, values: values(s.cpu, func(v float64) string { return fmt.Sprintf("%.1f %s", v*scale, unit) })}
	l.values[direct] = ""
	if len(s.cpu[bouncer]) > 0 {
		l.ratio = fmt.Sprintf("%.2f of PgBouncer", median(ratios(s.cpu[sluice], s.cpu[bouncer])))
	}
	r.add(l)
}

func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		return "", errors.New("pgbench is not installed")
	}
	return found[len(found)-1], nil
}

func (r *rig) pgbench(ctx context.Context, binary, addr string, args ...string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, binary, append(args, "-h", host, "-p", port, "-U", "postgres", database)...)
	cmd.Env = append(os.Environ(), "PGSSLMODE=disable", "PGGSSENCMODE=disable", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgbench at %s: %w\n%s", addr, err, out)
	}
	return string(out), nil
}

var (
	pgbenchCount = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	pgbenchRate  = regexp.MustCompile(`tps = ([\d.]+)`)
)

// parsePgbench returns the transactions that pgbench did, and how long they took without connecting.
func parsePgbench(out string) (float64, time.Duration, error) {
	n, rate := pgbenchCount.FindStringSubmatch(out), pgbenchRate.FindStringSubmatch(out)
	if n == nil || rate == nil {
		return 0, 0, fmt.Errorf("unexpected output of pgbench:\n%s", out)
	}
	items, err1 := strconv.ParseFloat(n[1], 64)
	tps, err2 := strconv.ParseFloat(rate[1], 64)
	if err := errors.Join(err1, err2); err != nil || items == 0 || tps == 0 {
		return 0, 0, errors.Join(err, errors.New("pgbench did nothing"))
	}
	return items, time.Duration(items / tps * float64(time.Second)), nil
}

// bulkSelect compares one large result of home's.
func bulkSelect(ctx context.Context, r *rig, report *report) (err error) {
	progress("bulk: making a table of %s rows", count(float64(r.bulkRows)))
	if err := r.makeBulk(ctx); err != nil {
		return err
	}
	all, stop, err := r.candidates(ctx, report)
	if err != nil {
		return err
	}
	defer func() { err = stop(err) }()
	progress("bulk: %d turns", r.turns)
	var bytes int64
	s, err := all.turns(r.turns, func(addr string) (float64, time.Duration, error) {
		d, err := drainBulk(ctx, addr, r.bulkRows)
		bytes = d.bytes
		return float64(d.rows), d.total, err
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("SELECT of %s rows (%d MB) of home's", count(float64(r.bulkRows)), bytes/1e6)
	got := median(ratios(s.rate[sluice], s.rate[direct]))
	report.add(line{what: what + ": rows/s", values: values(s.rate, count), ratio: fmt.Sprintf("%.2f of direct", got), goal: "≥ 0.85", reached: got >= 0.85})
	report.cpu(what+": CPU of the relay", s, "ns/row", 1e9)
	return nil
}

func (r *rig) makeBulk(ctx context.Context) error {
	c, err := connect(ctx, r.home.Addr(), database)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.exec(ctx, fmt.Sprintf(`CREATE TABLE bulk AS SELECT i::bigint AS id, md5(i::text) AS name, i * 0.5::float8 AS amount
		FROM generate_series(1, %d) i`, r.bulkRows)); err != nil {
		return err
	}
	return c.exec(ctx, "VACUUM (FREEZE, ANALYZE) bulk")
}

func drainBulk(ctx context.Context, addr string, rows int) (drained, error) {
	c, err := connect(ctx, addr, database)
	if err != nil {
		return drained{}, err
	}
	defer c.close()
	d, err := c.query(ctx, "SELECT id, name, amount FROM bulk")
	if err == nil && d.rows != int64(rows) {
		err = fmt.Errorf("%s yielded %d rows, not %d", addr, d.rows, rows)
	}
	return d, err
}
