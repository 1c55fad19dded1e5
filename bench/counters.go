package main

import (
	"context"
	"fmt"
	"time"
)

// counters counts tables of home by reading them and by their counters, and writes to tables that are counted and to others.
func counters(ctx context.Context, r *rig, report *report) (err error) {
	b, err := r.startRecords(ctx)
	if err != nil {
		return err
	}
	defer func() { err = b.end(err) }()
	for _, sql := range []string{
		"SELECT sluice.track_statistics('record', '{schema_id,schema_version}')", "SELECT sluice.track_statistics('feature')",
		"SELECT * FROM sluice.verify_statistics(repair => true)",
	} {
		if err := b.ours.exec(ctx, sql); err != nil {
			return err
		}
	}
	for _, what := range []string{
		"FROM record", "FROM record WHERE schema_id = 7", "FROM record GROUP BY schema_id", "FROM feature",
	} {
		if err := r.countTable(ctx, b.plain, b.ours, what, report); err != nil {
			return err
		}
	}
	return r.countedWrites(ctx, report)
}

// countTable counts rows of one table both ways, in turns. Sessions have done so before.
func (r *rig) countTable(ctx context.Context, plain, counted *client, what string, report *report) error {
	var took [2][]float64
	for turn := range r.turns + 1 {
		for i, c := range []*client{plain, counted} {
			d, err := c.query(ctx, "SELECT count(*) "+what)
			if err != nil {
				return err
			}
			if turn > 0 {
				took[i] = append(took[i], float64(d.total)/float64(time.Millisecond))
			}
		}
	}
	form := func(v float64) string { return fmt.Sprintf("%.2f ms", v) }
	report.add(line{
		what: "count(*) " + what, values: [3]string{form(median(took[0])), "", form(median(took[1]))},
		ratio: fmt.Sprintf("%.0f × faster", median(ratios(took[0], took[1]))),
	})
	return nil
}
