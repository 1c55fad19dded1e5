package tests

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestChurn replaces tables and views as dbt does, each built beside the old one and swapped in by names, while other
// sessions read them: as with bare Postgres, no reader ever meets one that is not there.
func TestChurn(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i::INTEGER AS id, i % 3 AS category FROM range(30) r (i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, category bigint) SERVER lake", "CREATE TABLE titles AS SELECT g AS category, 'title' || g AS title FROM generate_series(0, 2) g")
	const table = "SELECT category, title, count(*) AS items FROM item JOIN titles USING (category) GROUP BY 1, 2"
	const view = "SELECT id, category FROM item WHERE category < 2"
	exec(t, w.through, "CREATE TABLE busy AS "+table, "CREATE VIEW few AS "+view, "CREATE FOREIGN TABLE far (id int, category bigint) SERVER lake OPTIONS (table_name 'item')")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	var writers, readers sync.WaitGroup
	swap := func(kind, name, body string) {
		defer writers.Done()
		conn, err := pgx.Connect(ctx, w.through)
		if err != nil {
			stop(err)
			return
		}
		defer conn.Close(context.Background())
		for i := range 30 {
			for _, sql := range []string{
				fmt.Sprintf("BEGIN; CREATE %s %s__tmp %s", kind, name, body),
				fmt.Sprintf("ALTER %[1]s %[2]s RENAME TO %[2]s__old; ALTER %[1]s %[2]s__tmp RENAME TO %[2]s", kind, name),
				"COMMIT",
				fmt.Sprintf("DROP %s %s__old CASCADE", kind, name),
			} {
				if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
					stop(fmt.Errorf("round %d: %s: %w", i, sql, err))
					return
				}
			}
		}
	}
	read := func(sql, value string, mode pgx.QueryExecMode) {
		defer readers.Done()
		for ctx.Err() == nil {
			conn, err := pgx.Connect(ctx, w.through)
			for i := 0; err == nil && i < 20; i++ {
				var got string
				if err = conn.QueryRow(ctx, sql, mode).Scan(&got); err == nil && got != value {
					err = fmt.Errorf("%s, not %s", got, value)
				}
			}
			if err != nil {
				stop(fmt.Errorf("%s: %w", sql, err))
			}
			if conn != nil {
				conn.Close(context.Background())
			}
		}
	}
	for _, s := range [][3]string{{"TABLE", "busy", "AS " + table}, {"VIEW", "few", "AS " + view}, {"FOREIGN TABLE", "far", "(id int, category bigint) SERVER lake OPTIONS (table_name 'item')"}} {
		writers.Add(1)
		go swap(s[0], s[1], s[2])
	}
	for _, s := range [][2]string{
		{"SELECT count(*)::text FROM (SELECT category FROM busy WHERE category IS NULL) q", "0"},
		{"SELECT count(*)::text FROM few", "20"},
		{"SELECT count(*)::text FROM busy JOIN few USING (category)", "20"},
		{"SELECT count(*)::text FROM far JOIN few USING (id)", "20"},
	} {
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec} {
			readers.Add(1)
			go read(s[0], s[1], mode)
		}
	}
	writers.Wait()
	stop(errDone)
	readers.Wait()
	if err := context.Cause(ctx); !errors.Is(err, errDone) {
		t.Error(err)
	}
}

var errDone = errors.New("done")
