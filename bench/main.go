package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	sluice   string
	dir      string
	only     string
	rows     int
	bulkRows int
	memory   string
	scale    int
	clients  int
	time     time.Duration
	turns    int
	connects int
	idle     int
	fetch    int
	factor   float64
}

func flags() *settings {
	s := &settings{}
	flag.StringVar(&s.sluice, "sluice", "bin/sluice", "the `binary` to measure; built from this tree where it does not exist")
	flag.StringVar(&s.dir, "dir", "", "`directory` for the data, kept; a temporary one where none is given")
	flag.StringVar(&s.only, "only", "", "`parts` to run, with commas between: duckdb, pgbench, bulk, connect, idle, fetch, tpch, governed, planning, federated, postgres, counters, handles, manifest, pages, warehouses (default all)")
	flag.IntVar(&s.rows, "rows", 100_000_000, "rows of the large DuckDB result; the small one has a tenth")
	flag.StringVar(&s.memory, "memory-limit", "16MB", "option memory_limit of the DuckDB server: the `size` of its buffers, which cache the file; empty for the default")
	flag.IntVar(&s.bulkRows, "bulk-rows", 2_000_000, "rows of the bulk SELECT")
	flag.IntVar(&s.scale, "scale", 10, "scale of pgbench")
	flag.IntVar(&s.clients, "clients", 8, "clients of pgbench")
	flag.DurationVar(&s.time, "time", 4*time.Second, "how long one turn of pgbench lasts")
	flag.IntVar(&s.turns, "turns", 3, "turns of each comparison")
	flag.IntVar(&s.connects, "connects", 300, "logins of one turn")
	flag.IntVar(&s.idle, "idle", 1000, "clients that idle")
	flag.IntVar(&s.fetch, "fetch-rows", 1_000_000, "rows of a result that is fetched in parts")
	flag.Float64Var(&s.factor, "factor", 1, "scale factor of TPC-H; 1 makes 1 GB of text, and Parquet files of 0.4 GB")
	flag.Parse()
	return s
}

func (s *settings) wants(part string) bool {
	return s.only == "" || slices.Contains(strings.Split(s.only, ","), part)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flags()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures all parts and prints one report. Everything that it starts has ended when it returns.
func run(ctx context.Context, s *settings) (err error) {
	if s.rows < 10 || s.bulkRows < 1 || s.scale < 1 || s.clients < 1 || s.turns < 1 || s.connects < 1 || s.idle < 1 || s.fetch < 1 || s.factor < 0.01 || s.time < time.Second {
		return errors.New("-rows must be at least 10, -time at least 1s, -factor at least 0.01, and the other numbers at least 1")
	}
	r, err := newRig(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	figures := &report{}
	parts := []struct {
		name    string
		measure func(context.Context, *rig, *report) error
	}{{"duckdb", duckdbResults}, {"pgbench", roundTrips}, {"bulk", bulkSelect},
		{"connect", logins}, {"idle", idleClients}, {"fetch", rowLimits}, {"tpch", analytics}, {"governed", governed}, {"planning", planning}, {"federated", federated}, {"postgres", otherPostgres}, {"counters", counters}, {"handles", handles}, {"manifest", manifests}, {"pages", pages}, {"warehouses", warehouses}}
	for _, p := range parts {
		if !s.wants(p.name) {
			continue
		}
		if err := p.measure(ctx, r, figures); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	fmt.Printf("\nSluice beside its neighbours, %d cores, %s, all on loopback, medians of %d turns.\n\n", runtime.NumCPU(), r.postgresVersion(ctx), s.turns)
	figures.print(os.Stdout)
	return nil
}

// progress says what is going on, on standard error: standard output is the report's.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
