package main

import (
	"context"
	"fmt"
	"time"
)

// manyTables is how many tables there are beside those of records when manifests of many are made.
const manyTables = 500

// plainManifest is what an agent asks that counts, and looks at columns, by itself.
const plainManifest = `SELECT (SELECT json_agg(c) FROM information_schema.columns c WHERE table_schema = 'public'),
	(SELECT count(*) FROM record), (SELECT count(*) FROM feature), pg_total_relation_size('record'), pg_total_relation_size('feature'),
	(SELECT json_agg(pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'public'::regnamespace)`

// manifests asks for all that is to be known of tables of home: by SQL that counts, and by sluice.manifest.
func manifests(ctx context.Context, r *rig, report *report) (err error) {
	b, err := r.startRecords(ctx)
	if err != nil {
		return err
	}
	defer func() { err = b.end(err) }()
	for _, sql := range []string{
		"SELECT sluice.track_statistics('record')", "SELECT sluice.track_statistics('feature')",
		"SELECT * FROM sluice.verify_statistics(repair => true)",
		fmt.Sprintf(`DROP SCHEMA IF EXISTS many CASCADE; CREATE SCHEMA many;
			DO $$ BEGIN FOR i IN 1 .. %d LOOP EXECUTE format('CREATE TABLE many.t%%s (LIKE record INCLUDING ALL)', i); END LOOP; END $$; ANALYZE`, manyTables),
	} {
		if err := b.ours.exec(ctx, sql); err != nil {
			return fmt.Errorf("%.60s: %w", sql, err)
		}
	}
	for _, c := range []struct{ what, plain, ours string }{
		{"manifest of record and feature", plainManifest, "SELECT sluice.manifest('public')"},
		{fmt.Sprintf("manifest of %d tables", manyTables), "", "SELECT sluice.manifest('many')"},
	} {
		if err := r.compareManifests(ctx, b.plain, b.ours, c.what, c.plain, c.ours, report); err != nil {
			return err
		}
	}
	return b.plain.exec(ctx, "DROP SCHEMA many CASCADE")
}

// compareManifests asks both ways, in turns; an empty text is asked of nobody.
func (r *rig) compareManifests(ctx context.Context, plain, ours *client, what, plainSQL, oursSQL string, report *report) error {
	var took [2][]float64
	for range r.turns {
		for i, ask := range []struct {
			client *client
			sql    string
		}{{plain, plainSQL}, {ours, oursSQL}} {
			if ask.sql == "" {
				continue
			}
			d, err := ask.client.query(ctx, ask.sql)
			if err != nil {
				return err
			}
			took[i] = append(took[i], float64(d.total)/float64(time.Millisecond))
		}
	}
	l := line{what: what, values: [3]string{"", "", fmt.Sprintf("%.2f ms", median(took[1]))}}
	if plainSQL != "" {
		l.values[0] = fmt.Sprintf("%.2f ms", median(took[0]))
		l.ratio = fmt.Sprintf("%.0f × faster", median(ratios(took[0], took[1])))
	}
	report.add(l)
	return nil
}
