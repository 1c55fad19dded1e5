package main

import (
	"context"
	"fmt"
	"time"
)

// counters counts tables of home: by reading them, and by their counters.
func counters(ctx context.Context, r *rig, report *report) (err error) {
	if err := r.makeRecords(ctx, recordCount, featureCount); err != nil {
		return err
	}
	p, err := r.startSluice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = p.end(err) }()
	plain, err := connect(ctx, r.home.Addr(), database)
	if err != nil {
		return err
	}
	defer plain.close()
	counted, err := connect(ctx, p.addr, database)
	if err != nil {
		return err
	}
	defer counted.close()
	for _, sql := range []string{
		"CREATE EXTENSION IF NOT EXISTS sluice",
		"SELECT sluice.track_statistics('record', '{schema_id,schema_version}')", "SELECT sluice.track_statistics('feature')",
		"SELECT * FROM sluice.verify_statistics(repair => true)",
	} {
		if err := counted.exec(ctx, sql); err != nil {
			return err
		}
	}
	for _, table := range []string{"record", "feature"} {
		if err := r.countTable(ctx, plain, counted, table, report); err != nil {
			return err
		}
	}
	return nil
}

// countTable counts one table both ways, in turns.
func (r *rig) countTable(ctx context.Context, plain, counted *client, table string, report *report) error {
	var took [2][]float64
	for range r.turns {
		for i, ask := range []func() (drained, error){
			func() (drained, error) { return plain.query(ctx, "SELECT count(*) FROM "+table) },
			func() (drained, error) { return counted.query(ctx, "SELECT sluice.table_count('"+table+"')") },
		} {
			d, err := ask()
			if err != nil {
				return err
			}
			took[i] = append(took[i], float64(d.total)/float64(time.Millisecond))
		}
	}
	form := func(v float64) string { return fmt.Sprintf("%.2f ms", v) }
	report.add(line{
		what: "count of " + table, values: [3]string{form(median(took[0])), "", form(median(took[1]))},
		ratio: fmt.Sprintf("%.0f × faster", median(ratios(took[0], took[1]))),
	})
	return nil
}
