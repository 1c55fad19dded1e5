package tests

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestTags names at the server the statement of sluice.stat_activity that it computes rows for, and its role.
func TestTags(t *testing.T) {
	conn, _, other := remoteTables(t, "", "CREATE TABLE r AS SELECT i FROM generate_series(1, 500000) i")
	watcher, there := connected(t, conn.Config().ConnString()), connected(t, other)
	const shown = "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'sluice id=%'"
	seen := map[string]bool{}
	for range 2 {
		exec1(t, conn, "BEGIN")
		front := conn.PgConn().Frontend()
		for _, m := range []pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT i FROM r"}, &pgproto3.Bind{}, &pgproto3.Execute{MaxRows: 3}, &pgproto3.Flush{}} {
			front.Send(m)
		}
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		readStep(t, front)
		id := rows(t, watcher, "SELECT id FROM sluice.stat_activity WHERE query = 'SELECT i FROM r'")
		if id == "" || seen[id] || strings.ContainsAny(id, " \n") {
			t.Fatalf("the statement is called %q", id)
		}
		seen[id] = true
		want(t, there, shown, "sluice id="+id+" role=postgres")
		front.Send(&pgproto3.Sync{})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		for ready := false; !ready; {
			m, err := front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			_, ready = m.(*pgproto3.ReadyForQuery)
		}
		exec1(t, conn, "ROLLBACK")
	}
}
