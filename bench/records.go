package main

import (
	"context"
	"fmt"
)

// recordCount and featureCount are the sizes of the tables that counters and pages are measured on.
const (
	recordCount  = 213_000
	featureCount = 5_100_000
)

// makeRecords makes two tables, the same each time: record, whose columns have what pages are sorted by (unique, with ties, with
// NULLs), and feature, some two dozen to each record, with some records that have none. They have primary keys, and no other index.
func (r *rig) makeRecords(ctx context.Context, records, features int) error {
	c, err := connect(ctx, r.home.Addr(), database)
	if err != nil {
		return err
	}
	defer c.close()
	progress("records: making tables of %s and %s rows", count(float64(records)), count(float64(features)))
	for _, sql := range []string{
		"DROP TABLE IF EXISTS feature, record",
		`CREATE TABLE record (
			id bigint NOT NULL, schema_id integer NOT NULL, schema_version integer NOT NULL, title text COLLATE "C" NOT NULL,
			state text COLLATE "C", rank integer, score float8, created_at timestamptz NOT NULL)`,
		"CREATE TABLE feature (id bigint NOT NULL, record bigint NOT NULL, kind text NOT NULL, value float8, note text)",
		// Multiplication by an odd number spreads what is counted, and is the same everywhere.
		fmt.Sprintf(`INSERT INTO record
			SELECT i, h %% 40, 1 + h / 64 %% 5, md5(i::text), (ARRAY['open', 'held', 'paid', NULL])[1 + h / 512 %% 4],
				CASE WHEN h %% 10 > 0 THEN h / 16 %% 1000 END, CASE WHEN h %% 7 > 0 THEN h / 1024.0 END, timestamptz '2024-01-01 00:00Z' + h %% 31536000 * interval '1 second'
			FROM (SELECT i, (i * 2654435761) %% 2147483648 AS h FROM generate_series(1, %d::bigint) i) s`, records),
		fmt.Sprintf(`INSERT INTO feature
			SELECT i, 1 + (h %% %[1]d) / 20 * 20 + h %% 19, 'kind ' || h %% 12, h / 1024.0, md5(h::text)
			FROM (SELECT i, (i * 2654435761) %% 2147483648 AS h FROM generate_series(1, %[2]d::bigint) i) s`, max(records/20*20-20, 20), features),
		"ALTER TABLE record ADD PRIMARY KEY (id)",
		"ALTER TABLE feature ADD PRIMARY KEY (id)",
		"VACUUM (FREEZE, ANALYZE) record, feature",
	} {
		if err := c.exec(ctx, sql); err != nil {
			return fmt.Errorf("%.60s: %w", sql, err)
		}
	}
	return nil
}

// recordsRig is Sluice with its extension before home that has the tables of records, and a connection to each.
type recordsRig struct {
	*process
	plain, ours *client
}

// startRecords makes the tables and starts Sluice; whoever gets it calls end.
func (r *rig) startRecords(ctx context.Context) (b *recordsRig, err error) {
	if err := r.makeRecords(ctx, recordCount, featureCount); err != nil {
		return nil, err
	}
	b = &recordsRig{}
	if b.process, err = r.startSluice(ctx); err != nil {
		return nil, err
	}
	if b.plain, err = connect(ctx, r.home.Addr(), database); err != nil {
		return nil, b.end(err)
	}
	if b.ours, err = connect(ctx, b.addr, database); err == nil {
		err = b.ours.exec(ctx, "CREATE EXTENSION IF NOT EXISTS sluice")
	}
	if err != nil {
		return nil, b.end(err)
	}
	return b, nil
}

// end is process.end, after the connections.
func (b *recordsRig) end(err error) error {
	for _, c := range []*client{b.plain, b.ours} {
		if c != nil {
			c.close()
		}
	}
	return b.process.end(err)
}
