package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/internal/tpch"
)

// planningFactor makes TPC-H small: nothing is run.
const planningFactor = 0.01

// repeats is how often a statement is planned again.
const repeats = 20

// planning has TPC-H queries and point lookups explained, and reads what the proxy says their planning took, without its
// questions to home.
func planning(ctx context.Context, r *rig, report *report) (err error) {
	files := filepath.Join(r.work, fmt.Sprintf("tpch-%g", planningFactor))
	if err := makeTPCH(ctx, files, planningFactor); err != nil {
		return err
	}
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
	queries := tpch.Queries()
	if err := p.plan(ctx, c, report, "of the TPC-H queries", queries[:]); err != nil {
		return err
	}
	var lookups []string
	for i := range 22 {
		lookups = append(lookups, fmt.Sprintf("SELECT o_orderkey, o_custkey, o_totalprice FROM tpch.orders WHERE o_orderkey = %d", i))
	}
	if err := p.plan(ctx, c, report, "of point lookups", lookups); err != nil {
		return err
	}
	return errors.Join(c.exec(ctx, "DROP SERVER tpch CASCADE"), c.exec(ctx, "DROP SCHEMA tpch"))
}

func (p *process) plan(ctx context.Context, c *client, report *report, what string, queries []string) error {
	progress("planning: %s", what)
	for _, kind := range kinds {
		took, err := p.timePlans(ctx, c, kind, queries)
		if err != nil {
			return err
		}
		goal := 1500.0
		if kind == "kept" {
			goal = 20
		}
		report.add(line{
			what: "planning " + what + ", " + kind + " plan", values: [3]string{"", "", fmt.Sprintf("%.1f µs", took)},
			goal: fmt.Sprintf("≤ %.0f µs", goal), reached: took <= goal,
		})
	}
	return nil
}

// kinds are those of plans, in the order in which they are measured.
var kinds = []string{"new", "kept"}

// timePlans has queries explained, and returns how many microseconds planning one took, by plans of a kind: once where
// these are new, else again and again.
func (p *process) timePlans(ctx context.Context, c *client, kind string, queries []string) (float64, error) {
	before, err := p.planned(ctx, kind)
	if err != nil {
		return 0, err
	}
	times := 1
	if kind == "kept" {
		times = repeats
	}
	for range times {
		for _, q := range queries {
			if err := c.exec(ctx, "EXPLAIN "+q); err != nil {
				return 0, err
			}
		}
	}
	after, err := p.planned(ctx, kind)
	n := after.plans - before.plans
	if err == nil && n < float64(len(queries)) {
		err = fmt.Errorf("%v statements were planned by a %s plan, not %d", n, kind, len(queries))
	}
	return (after.seconds - before.seconds) / n * 1e6, err
}

// counted is what the proxy's metrics say of plans of a kind.
type counted struct{ plans, seconds float64 }

func (p *process) planned(ctx context.Context, kind string) (n counted, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics, nil)
	if err != nil {
		return n, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	found := 0
	for s := bufio.NewScanner(answer.Body); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), fmt.Sprintf("{plan=%q} ", kind))
		var to *float64
		switch name {
		case "sluice_plans_total":
			to = &n.plans
		case "sluice_planning_seconds_total":
			to = &n.seconds
		default:
			continue
		}
		if *to, err = strconv.ParseFloat(value, 64); err != nil {
			return n, err
		}
		found++
	}
	if found != 2 {
		return n, fmt.Errorf("%s has %d of 2 counters of plans", p.metrics, found)
	}
	return n, nil
}
