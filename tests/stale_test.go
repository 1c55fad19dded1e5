package tests

import "testing"

// TestStaleBeforeSnapshot changes the catalog while a transaction has begun and not yet asked anything: nothing is asked in
// its name before what must come first.
func TestStaleBeforeSnapshot(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT 1 AS id")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int) SERVER lake", "CREATE TABLE plain (id int)")
	conn, other, listener := connect(t, w.through), connect(t, w.direct), connect(t, w.direct)
	want(t, conn, "SELECT id FROM item", "1")
	want(t, listener, "LISTEN sluice_catalog", "LISTEN")
	change := func() {
		t.Helper()
		want(t, other, "SELECT sluice.bump_catalog_version()", "")
		if _, err := listener.WaitForNotification(timed(t)); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		want(t, conn, "BEGIN", "BEGIN")
		change()
		want(t, conn, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "SET")
		want(t, conn, "SELECT id FROM item", "1")
		want(t, conn, "COMMIT", "COMMIT")
		want(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN")
		change()
		if _, err := conn.Exec(timed(t), "LOCK TABLE plain"); err != nil { // by Parse
			t.Fatal(err)
		}
		want(t, conn, "COMMIT", "COMMIT")
	}
}
