package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/internal/tpch"
)

// governing lets role analyst see all rows of lineitem and customer, by filters that have to look at each, and some columns
// masked. So both sides of the comparison have the same rows to work on.
var governing = []string{
	"DROP ROLE IF EXISTS analyst", "CREATE ROLE analyst", "GRANT USAGE ON SCHEMA tpch TO analyst", "GRANT SELECT ON ALL TABLES IN SCHEMA tpch TO analyst",
	"CREATE TABLE tpch.entitlements AS SELECT 'analyst' AS who, generate_series(0, 24) AS nation", "GRANT SELECT ON tpch.entitlements TO analyst",
	"CREATE POLICY shipped ON tpch.lineitem FOR SELECT USING (l_shipdate <= current_setting('bench.until', true)::date)",
	"CREATE POLICY entitled ON tpch.customer FOR SELECT USING (c_nationkey IN (SELECT nation FROM tpch.entitlements WHERE who = current_user))",
	"ALTER TABLE tpch.lineitem ENABLE ROW LEVEL SECURITY", "ALTER TABLE tpch.customer ENABLE ROW LEVEL SECURITY",
	"SELECT sluice.set_column_mask('tpch.lineitem', 'l_comment', $$left(l_comment, 1) || '***'$$)",
	"SELECT sluice.set_column_mask('tpch.customer', 'c_name', $$'Customer ' || right(c_name, 9)$$)",
	"SELECT sluice.set_column_mask('tpch.customer', 'c_address', $$'***'$$)",
	"SELECT sluice.set_column_mask('tpch.customer', 'c_comment', $$'***'$$)",
}

// governed asks the TPC-H queries as a role for which a row filter and masks hold on lineitem and customer, in turns with
// one for which none do, on route remote; then it measures planning, and refusals.
func governed(ctx context.Context, r *rig, report *report) (err error) {
	files := filepath.Join(r.work, fmt.Sprintf("tpch-%g", r.factor))
	if err := makeTPCH(ctx, files, r.factor); err != nil {
		return err
	}
	p, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	free, err := declareTPCH(ctx, p.addr, files)
	if err != nil {
		return err
	}
	defer free.close()
	for _, sql := range governing {
		if err := free.exec(ctx, sql); err != nil {
			return err
		}
	}
	bound, err := connect(ctx, p.addr, database)
	if err != nil {
		return err
	}
	defer bound.close()
	for _, sql := range []string{"SET search_path = tpch", "SET sluice.route = remote", "SET bench.until = '1999-01-01'", "SET ROLE analyst"} {
		if err := bound.exec(ctx, sql); err != nil {
			return err
		}
	}
	remote, err := governedTPCH(ctx, r, report, free, bound)
	if err == nil {
		err = p.planGoverned(ctx, report, free, bound, remote)
	}
	if err == nil {
		err = denials(ctx, r, report, free, bound)
	}
	if err != nil {
		return err
	}
	for _, sql := range []string{"DROP SERVER tpch CASCADE", "DROP TABLE tpch.entitlements", "DROP SCHEMA tpch", "DROP ROLE analyst"} {
		if err := free.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// governedTPCH compares the queries' times, and returns those that run remote.
func governedTPCH(ctx context.Context, r *rig, report *report, free, bound *client) (remote []string, err error) {
	var logs float64
	var each, left []string
	for i, query := range tpch.Queries() {
		progress("governed: query %d, %d turns", i+1, r.turns)
		ratio, err := governedTurns(ctx, r.turns, free, bound, query)
		if isNotSupported(err) {
			left = append(left, fmt.Sprint(i+1))
			continue
		} else if err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
		remote = append(remote, query)
		logs += math.Log(ratio)
		each = append(each, fmt.Sprintf("%d: %.2f", i+1, ratio))
	}
	if len(each) == 0 {
		return nil, errors.New("no query runs remote")
	}
	mean := math.Exp(logs / float64(len(each)))
	report.add(line{what: fmt.Sprintf("TPC-H at %g, governed, %d queries remote: time", r.factor, len(each)), ratio: fmt.Sprintf("%.2f of ungoverned", mean), goal: "≤ 1.10", reached: mean <= 1.1})
	report.note("Governed TPC-H is the geometric mean of the ratios of each query's times: %s. Not remote: %s.", strings.Join(each, ", "),
		strings.Join(append(left, "none")[:max(len(left), 1)], ", "))
	return remote, nil
}

// planGoverned compares how long planning takes for both roles.
func (p *process) planGoverned(ctx context.Context, report *report, free, bound *client, queries []string) error {
	progress("governed: planning")
	for _, kind := range kinds {
		without, err := p.timePlans(ctx, free, kind, queries)
		if err != nil {
			return err
		}
		with, err := p.timePlans(ctx, bound, kind, queries)
		if err != nil {
			return err
		}
		report.add(line{
			what: "planning of the TPC-H queries, governed, " + kind + " plan", values: [3]string{"", "", fmt.Sprintf("%.1f µs", with)},
			ratio: fmt.Sprintf("%+.1f µs to ungoverned", with-without), goal: "≤ +150 µs", reached: with-without <= 150,
		})
	}
	return nil
}

// denials measures how long it takes to refuse a role a table that it has no privilege on.
func denials(ctx context.Context, r *rig, report *report, free, bound *client) error {
	progress("governed: denials")
	if err := free.exec(ctx, "REVOKE SELECT ON tpch.orders FROM analyst"); err != nil {
		return err
	}
	var took []float64
	for range 100 * r.turns {
		began := time.Now()
		err := bound.exec(ctx, "SELECT o_totalprice FROM orders, lineitem WHERE l_orderkey = o_orderkey AND o_orderkey = 1")
		took = append(took, time.Since(began).Seconds()*1e3)
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "42501" {
			return fmt.Errorf("a statement was not denied: %w", err)
		}
	}
	denial := median(took)
	report.add(line{what: "denial of a statement", values: [3]string{"", "", fmt.Sprintf("%.2f ms", denial)}, goal: "≤ 2 ms", reached: denial <= 2})
	return nil
}

// governedTurns returns the median of the ratios of a query's times as the one role and as the other.
func governedTurns(ctx context.Context, turns int, free, bound *client, query string) (float64, error) {
	var without, with []float64
	for turn := range turns + 1 { // the first only warms up
		var took [2]time.Duration
		var rows [2]int64
		for i, c := range []*client{free, bound} {
			d, err := c.query(ctx, query)
			if err != nil {
				return 0, err
			}
			took[i], rows[i] = d.total, d.rows
		}
		if rows[0] != rows[1] {
			return 0, fmt.Errorf("%d rows, and %d as the governed role", rows[0], rows[1])
		}
		if turn > 0 {
			without, with = append(without, took[0].Seconds()), append(with, took[1].Seconds())
		}
	}
	return median(ratios(with, without)), nil
}
