package tests

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// cancelWorld is a world with long statements.
func cancelWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)")
	return w
}

// pidOf is the process ID of a connection's session at home.
func pidOf(conn *pgx.Conn) uint32 { return conn.PgConn().PID() }

// asRole is a URL of another role.
func asRole(t *testing.T, address, role string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}

// begun runs a statement in the background and returns when home shows it as active; done yields what it ends with.
func begun(t *testing.T, watch, conn *pgx.Conn, sql string) (done chan error) {
	t.Helper()
	done = make(chan error, 1)
	go func() { done <- drain(context.Background(), conn, sql) }()
	deadline := time.Now().Add(patience)
	for rows(t, watch, fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE pid = %d AND state = 'active'", pidOf(conn))) != "1" {
		if time.Now().After(deadline) {
			t.Fatal("the statement does not begin")
		}
	}
	return done
}

// canceledBy calls what cancels a statement until it ends, and fails the test unless it was cancelled: a call that comes
// before the statement hits nothing.
func canceledBy(t *testing.T, done chan error, call func()) {
	t.Helper()
	deadline := time.After(patience)
	for {
		call()
		select {
		case err := <-done:
			if pe := pgError(err); pe == nil || pe.Code != "57014" || pe.Message != "canceling statement due to user request" {
				t.Errorf("the cancelled statement ended with %v", err)
			}
			return
		case <-time.After(time.Second):
		case <-deadline:
			t.Fatal("the statement goes on")
		}
	}
}

// cancelBackend is the statement that cancels what runs for a connection.
func cancelBackend(conn *pgx.Conn) string {
	return fmt.Sprintf("SELECT pg_cancel_backend(%d)", pidOf(conn))
}

// TestCancelBackend has pg_cancel_backend end statements wherever they are; the session lives on.
func TestCancelBackend(t *testing.T) {
	w := cancelWorld(t)
	other := connect(t, w.through)
	for name, sql := range long {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			done := begun(t, other, conn, sql)
			canceledBy(t, done, func() { want(t, other, cancelBackend(conn), "t") })
			want(t, conn, "ROLLBACK; SELECT count(*) FROM sink", "ROLLBACK\n0")
		})
	}
}

// TestCancelBackendSpellings calls pg_cancel_backend in all the ways that clients do.
func TestCancelBackendSpellings(t *testing.T) {
	w := cancelWorld(t)
	exec(t, w.direct, "CREATE DATABASE "+w.database+"_2")
	t.Cleanup(func() { exec(t, w.direct, "DROP DATABASE "+w.database+"_2 WITH (FORCE)") })
	second := proxyURL(w.addr, w.database+"_2")
	exec(t, second, "CREATE EXTENSION sluice", w.server("lake", ""), declareEndless)
	other, prepared := connect(t, w.through), connect(t, w.through)
	if _, err := prepared.Prepare(timed(t), "cancel", "SELECT pg_cancel_backend($1)"); err != nil {
		t.Fatal(err)
	}
	simple := func(format string) func(*testing.T, uint32) {
		return func(t *testing.T, pid uint32) { want(t, other, fmt.Sprintf(format, pid), "t") }
	}
	extended := func(sql string) func(*testing.T, uint32) {
		return func(t *testing.T, pid uint32) {
			ok, column := false, ""
			result, err := prepared.Query(timed(t), sql, pid)
			if err != nil {
				t.Fatal(err)
			}
			for result.Next() {
				column = result.FieldDescriptions()[0].Name
				if err := result.Scan(&ok); err != nil {
					t.Fatal(err)
				}
			}
			if !ok || column != "pg_cancel_backend" || result.Err() != nil {
				t.Errorf("%s: got %s %t, %v", sql, column, ok, result.Err())
			}
		}
	}
	for name, call := range map[string]func(*testing.T, uint32){
		"activity":   simple("SELECT pg_catalog.pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = %d"),
		"where":      simple("SELECT true FROM pg_stat_activity WHERE pid = %d AND pg_cancel_backend(pid)"),
		"from":       simple("SELECT * FROM pg_cancel_backend(%d)"),
		"sub-select": simple("SELECT (SELECT pg_cancel_backend(%d))"),
		"parameter":  extended("SELECT pg_cancel_backend($1)"),
		"prepared":   extended("cancel"),
		"filter":     extended("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1::int AND pid <> pg_backend_pid()"),
		"one shot": func(t *testing.T, pid uint32) { // gone as soon as it is answered
			exec(t, w.through, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid))
		},
		"other database": func(t *testing.T, pid uint32) {
			exec(t, second, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid))
		},
		"block": func(t *testing.T, pid uint32) {
			want(t, other, fmt.Sprintf("BEGIN READ ONLY; SELECT pg_cancel_backend(%d); COMMIT", pid), "BEGIN\nt\nCOMMIT")
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			done := begun(t, other, conn, "SELECT count(*) FROM endless WHERE i % 7 = 3")
			canceledBy(t, done, func() { call(t, pidOf(conn)) })
		})
	}
}

// TestCancelBackendRight lets nobody cancel what home would not let him, nor announce that home has.
func TestCancelBackendRight(t *testing.T) {
	w := cancelWorld(t)
	exec(t, w.through, "GRANT SELECT ON endless TO PUBLIC")
	role := "mallory_" + w.database
	exec(t, w.direct, "CREATE ROLE "+role+" LOGIN", "CREATE ROLE friend_"+role+" LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP ROLE "+role, "DROP ROLE friend_"+role) })
	other := connect(t, w.through)
	mallory, victim := connect(t, asRole(t, w.through, role)), connect(t, asRole(t, w.through, "friend_"+role))
	const sql = "SELECT count(*) FROM endless WHERE i % 7 = 3"
	channel := rows(t, other, "SELECT sluice.cancel_channel()")
	if !strings.HasPrefix(channel, "sluice_cancel_") {
		t.Fatalf("the channel is %s", channel)
	}
	for _, target := range []*pgx.Conn{victim, connect(t, w.through)} { // a peer, a superuser
		pid := pidOf(target)
		done := begun(t, other, target, sql)
		payload := fmt.Sprintf("%d 9000000000000000", pid) // whatever runs, whenever it began
		for attempt, code := range map[string]string{
			fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid):                                                                   "42501",
			fmt.Sprintf("SELECT sluice_cat.pg_cancel_backend(%d)", pid):                                                        "42501",
			fmt.Sprintf("SELECT sluice.cancel_backend(%d)", pid):                                                               "42501",
			fmt.Sprintf("SELECT sluice.announce_cancels('{%s}')", payload):                                                     "42501",
			"CREATE AGGREGATE pg_temp.forge(text) (SFUNC = array_append, STYPE = text[], FINALFUNC = sluice.announce_cancels)": "42501",
			"SELECT sluice.cancel_channel()":                                                                                   "42501",
			"TABLE sluice.cancel_key":                                                                                          "42501",
			"SELECT count(*) FROM pg_stats WHERE tablename = 'cancel_key'":                                                     "0",
			fmt.Sprintf("SELECT pg_notify('sluice_cancel', '%s'), pg_notify('sluice_catalog', '%[1]s')", payload):              "|",
		} {
			want(t, mallory, attempt, code)
		}
		select {
		case err := <-done:
			t.Fatalf("the statement of %d ended with %v", pid, err)
		case <-time.After(300 * time.Millisecond): // a cancel takes some milliseconds
		}
		canceledBy(t, done, func() { want(t, other, cancelBackend(target), "t") })
	}
	// Home's rule, whoever it is that home takes the caller for.
	done := begun(t, other, victim, sql)
	exec(t, w.direct, "GRANT friend_"+role+" TO "+role)
	canceledBy(t, done, func() { want(t, mallory, cancelBackend(victim), "t") })
}

// TestCancelBackendOthers hits nothing but what ran when it was called.
func TestCancelBackendOthers(t *testing.T) {
	w := cancelWorld(t)
	conn, other := connect(t, w.through), connect(t, w.through)
	for i := range 50 {
		want(t, other, cancelBackend(conn), "t")
		want(t, conn, fmt.Sprintf("SELECT max(i) FROM (SELECT i FROM endless WHERE i < 50000 LIMIT %d) x", i+1), fmt.Sprint(i))
	}
	// The call in an open transaction meant what ran then.
	want(t, other, "BEGIN; "+cancelBackend(conn), "BEGIN\nt")
	done := begun(t, connect(t, w.direct), conn, "SELECT count(*) FROM endless WHERE i % 7 = 3")
	want(t, other, "COMMIT", "COMMIT")
	select {
	case err := <-done:
		t.Fatalf("the later statement ended with %v", err)
	case <-time.After(300 * time.Millisecond): // a cancel takes some milliseconds
	}
	want(t, other, "BEGIN; "+cancelBackend(conn)+"; ROLLBACK", "BEGIN\nt\nROLLBACK")
	canceledBy(t, done, func() { want(t, other, cancelBackend(conn), "t") })
	want(t, other, "SELECT pg_cancel_backend(NULL)", "NULL")
	want(t, other, "SELECT pg_cancel_backend(0), pg_cancel_backend(2147483647)", "f|f")
	want(t, other, "SELECT pg_cancel_backend(pg_backend_pid())", "57014")
	want(t, other, "SELECT pg_cancel_backend('x')", "22P02")
	want(t, other, "SELECT pg_cancel_backend(1, 2)", "42883")
}

// TestForgedExtension has a user make what looks like the extension: none of it runs with the rights of the proxy.
func TestForgedExtension(t *testing.T) {
	p := startPasswordHome(t, nil)
	through := connect(t, proxyURL(p.addr, "postgres"))
	want(t, through, "DROP EXTENSION sluice", "DROP EXTENSION")
	exec(t, p.home.URL("postgres"), "GRANT CREATE ON DATABASE postgres TO alice", "GRANT CREATE ON SCHEMA public TO alice")
	direct := connect(t, p.home.URL("postgres"))
	for _, sql := range []string{
		"SET ROLE alice",
		"CREATE SCHEMA sluice",
		"CREATE TABLE sluice.catalog_change (step bigint)",
		"GRANT ALL ON SCHEMA sluice TO PUBLIC; GRANT ALL ON sluice.catalog_change TO PUBLIC",
		"CREATE FUNCTION sluice.get_auth(text) RETURNS text LANGUAGE sql AS $$ SELECT pg_advisory_lock(1)::text $$",
		"CREATE FUNCTION sluice.cancel_channel() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_lock(2); RETURN 'x'; END $$",
		"NOTIFY sluice_catalog",
		"RESET ROLE",
	} {
		if code := rows(t, direct, sql); len(code) == 5 && code != "RESET" {
			t.Fatalf("%s: %s", sql, code)
		}
	}
	if err := login(t, p.addr, "alice", "wonderland"); err != nil {
		t.Errorf("alice: %v", err)
	}
	if err := login(t, p.addr, "alice", "wrong"); !strings.HasPrefix(said(err), "FATAL 28P01") {
		t.Errorf("alice with a wrong password: %v", err)
	}
	want(t, direct, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0")
}

// TestDumpByUser dumps a database with the extension as a role that may read no secret of it. What is restored without
// the secret, the audit and counters, which the role must leave out, lacks nothing else, and an update makes new ones.
func TestDumpByUser(t *testing.T) {
	w := newWorld(t, endless)
	needPgDump(t, w.home)
	exec(t, w.through, declareEndless)
	role := "dumper_" + w.database
	exec(t, w.direct, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP ROLE "+role) })
	conn, other := connect(t, w.through), connect(t, w.through)
	secret := rows(t, conn, "SELECT sluice.cancel_channel()")
	dump := run(t, "pg_dump", "--exclude-table=sluice.audit*", "--exclude-table=sluice.table_*", "--exclude-table=sluice.ctas_*", "--exclude-table=sluice.page_*",
		"--exclude-table=sluice.keyset_*", "--exclude-table=sluice.index_*", "--exclude-schema=sluice_handle", asRole(t, w.through, role))
	if strings.Contains(dump, secret) || !strings.Contains(dump, "REFRESH MATERIALIZED VIEW sluice.cancel_key") {
		t.Errorf("the dump is %.2000s", dump)
	}
	want(t, conn, "REFRESH MATERIALIZED VIEW sluice.cancel_key WITH NO DATA", "REFRESH MATERIALIZED VIEW")
	want(t, conn, "SELECT pg_cancel_backend(0), sluice.cancel_channel()", "f|NULL")
	want(t, conn, "DROP TABLE sluice.audit", "DROP TABLE")
	want(t, conn, cancelBackend(other), "t")
	exec(t, w.through, "ALTER EXTENSION sluice UPDATE")
	want(t, conn, "SELECT sluice.cancel_channel() <> '"+secret+"', (SELECT count(*) FROM sluice.audit)", "t|0")
	done := begun(t, conn, other, "SELECT count(*) FROM endless WHERE i % 7 = 3") // the proxy has the new one by itself
	canceledBy(t, done, func() { want(t, conn, cancelBackend(other), "t") })
}
