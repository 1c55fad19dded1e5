package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// newFederatedWorld has tables on two servers and at home: a and endless on lake, b on pond, c at home.
func newFederatedWorld(t *testing.T) *world {
	w := newWorld(t, endless, "CREATE TABLE a AS SELECT i::INTEGER AS i, 'a' || i AS t FROM range(10000) r(i)",
		"CREATE TABLE b AS SELECT (i * 2)::INTEGER AS i, i % 10 AS k FROM range(5000) r(i)",
		"CREATE VIEW breaks AS SELECT CASE WHEN i < 300000 THEN i ELSE ('x' || i)::BIGINT END AS i FROM range(1000000) r(i)")
	exec(t, w.through, w.server("pond", ""), declareEndless,
		"CREATE FOREIGN TABLE a (i int, t text) SERVER lake", "CREATE FOREIGN TABLE b (i int, k bigint) SERVER pond",
		"CREATE FOREIGN TABLE breaks (i bigint) SERVER pond",
		"CREATE TABLE c AS SELECT i, 'c' || i AS t FROM generate_series(0, 9999, 3) i", "ANALYZE c")
	return w
}

// federated is a connection on which the route is forced.
func federated(t *testing.T, w *world) *pgx.Conn {
	conn := connect(t, w.through)
	want(t, conn, "SET sluice.route = 'federated'", "SET")
	return conn
}

// TestFederated asks over several places at once.
func TestFederated(t *testing.T) {
	conn := federated(t, newFederatedWorld(t))
	for sql, answer := range map[string]string{
		"SELECT count(*) FROM a JOIN b ON a.i = b.i":                                                              "5000",
		"SELECT count(*) FROM a JOIN c ON a.i = c.i":                                                              "3334",
		"SELECT count(*) FROM a JOIN b ON a.i = b.i JOIN c ON c.i = a.i WHERE c.i < 600 AND a.i > 5":              "99",
		"SELECT a.t, c.t FROM a JOIN c ON a.i = c.i WHERE c.t = 'c9'":                                             "a9|c9",
		"SELECT count(*) FROM c x JOIN c y ON x.i = y.i JOIN a ON a.i = x.i":                                      "3334",
		"SELECT i FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.i = a.i) ORDER BY i LIMIT 3":                   "1\n2\n4",
		"SELECT count(*) FROM a WHERE i IN (SELECT i FROM c WHERE i < 300) AND i > 5":                             "98",
		"WITH x AS (SELECT i FROM c WHERE i < 10) SELECT count(*) FROM a, x p, x q WHERE p.i = q.i AND a.i = p.i": "4",
		"COPY (SELECT c.t, b.k FROM b JOIN c ON b.i = c.i WHERE b.i = 12) TO STDOUT":                              "COPY 1",
		"SELECT public.c.t FROM a JOIN public.c ON a.i = public.c.i":                                              "0A000",
		"SELECT a.ctid FROM a JOIN c ON a.i = c.i":                                                                "0A000",
		"SELECT c.ctid FROM a JOIN c ON a.i = c.i":                                                                "0A000",
		"SELECT a.i, random() FROM a JOIN c ON a.i = c.i":                                                         "0A000",
	} {
		want(t, conn, sql, answer)
	}
}

// TestFederatedParams binds parameters to the statement, to inputs of engines and to those of home.
func TestFederatedParams(t *testing.T) {
	conn := federated(t, newFederatedWorld(t))
	for _, name := range []string{"c9", "c12", "c9"} {
		var got string
		err := conn.QueryRow(timed(t), "SELECT a.t || $3 FROM a JOIN c ON a.i = c.i WHERE c.t = $1 AND a.i < $2 AND $1 = c.t", name, 5000, "!").Scan(&got)
		if err != nil || got != "a"+name[1:]+"!" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if err := conn.QueryRow(timed(t), "SELECT a.t FROM a JOIN c ON a.i = c.i WHERE c.t = $1 LIMIT $2", nil, 1).Scan(new(string)); err != pgx.ErrNoRows {
		t.Errorf("NULL: got %v", err)
	}
}

// TestFederatedTransaction reads home as the session's own transaction sees it: its changes, its temporary tables, its role's
// row security.
func TestFederatedTransaction(t *testing.T) {
	w := newFederatedWorld(t)
	conn := federated(t, w)
	const count = "SELECT count(*) FROM a JOIN c ON a.i = c.i"
	want(t, conn, "BEGIN; INSERT INTO c VALUES (1, 'c1'), (2, 'c2')", "BEGIN\nINSERT 0 2")
	want(t, conn, count, "3336")
	want(t, conn, "SAVEPOINT s; DELETE FROM c WHERE i < 6", "SAVEPOINT\nDELETE 4")
	want(t, conn, count, "3332")
	want(t, conn, "ROLLBACK TO s", "ROLLBACK")
	want(t, conn, count, "3336")
	want(t, conn, "ROLLBACK", "ROLLBACK")
	want(t, conn, count, "3334")
	want(t, conn, "CREATE TEMP TABLE c AS SELECT 5 AS i", "SELECT 1")
	want(t, conn, count, "1")
	want(t, conn, "DROP TABLE pg_temp.c", "DROP TABLE")
	want(t, conn, "BEGIN READ ONLY", "BEGIN")
	want(t, conn, count, "3334")
	want(t, conn, "COMMIT", "COMMIT")
	exec(t, w.direct, "DROP ROLE IF EXISTS federated_reader", "CREATE ROLE federated_reader", "GRANT USAGE ON SCHEMA public TO federated_reader",
		"GRANT SELECT ON a, b, c TO federated_reader", "ALTER TABLE c ENABLE ROW LEVEL SECURITY", "CREATE POLICY few ON c USING (i < 30)")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY federated_reader", "DROP ROLE federated_reader") })
	want(t, conn, "SET ROLE federated_reader", "SET")
	want(t, conn, count, "10")
	exec(t, w.direct, "REVOKE SELECT ON b FROM federated_reader")
	want(t, conn, "SELECT count(*) FROM b JOIN c ON b.i = c.i", "42501")
	exec(t, w.direct, "REVOKE SELECT ON c FROM federated_reader", "GRANT SELECT (i) ON c TO federated_reader")
	want(t, conn, count, "0A000") // only home knows which columns the statement uses
	want(t, conn, "RESET sluice.route; "+count, "RESET\n10")
	want(t, conn, "SELECT c.t FROM a JOIN c ON a.i = c.i", "42501")
}

// TestFederatedLetsGo alters a table of home's in the transaction that has read it: no portal stays open over it.
func TestFederatedLetsGo(t *testing.T) {
	conn := federated(t, newFederatedWorld(t))
	want(t, conn, "BEGIN; SELECT count(*) FROM a JOIN c ON a.i = c.i; ALTER TABLE c ADD x int", "BEGIN\n3334\nALTER TABLE")
	var n int
	if err := conn.QueryRow(timed(t), "SELECT a.i FROM a JOIN c ON a.i = c.i WHERE a.i > $1 ORDER BY 1 LIMIT 1", 7).Scan(&n); err != nil || n != 9 {
		t.Errorf("got %d, %v", n, err)
	}
	want(t, conn, "ALTER TABLE c ADD y int", "ALTER TABLE")
	rows, err := conn.Query(timed(t), "SELECT c.i FROM a JOIN c ON a.i = c.i", pgx.QueryExecModeExec)
	if err != nil || !rows.Next() {
		t.Fatalf("no row: %v", err)
	}
	rows.Close()
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT c.i FROM a JOIN c ON a.i = c.i"})
	front.Send(&pgproto3.Bind{DestinationPortal: "p"})
	front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 5})
	front.Send(&pgproto3.Close{ObjectType: 'P', Name: "p"})
	front.Send(&pgproto3.Bind{})
	front.Send(&pgproto3.Execute{MaxRows: 5})
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for !strings.HasSuffix(kinds, "Z") {
		kinds += kindOf(receive(t, front))
	}
	if kinds != "12DDDDDs32DDDDDsZ" {
		t.Errorf("got %s", kinds)
	}
	want(t, conn, "ALTER TABLE c ADD z int; COMMIT", "ALTER TABLE\nCOMMIT")
}

// TestFederatedView reads a view whose foreign tables the role may not read itself: nothing of them comes to lie open to it.
func TestFederatedView(t *testing.T) {
	w := newFederatedWorld(t)
	exec(t, w.through, "CREATE VIEW few AS SELECT a.i, b.k FROM a JOIN b ON a.i = b.i WHERE a.i < 10",
		"DROP ROLE IF EXISTS federated_viewer", "CREATE ROLE federated_viewer", "GRANT SELECT ON few, c TO federated_viewer")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY federated_viewer", "DROP ROLE federated_viewer") })
	conn := federated(t, w)
	want(t, conn, "SET ROLE federated_viewer", "SET")
	want(t, conn, "SELECT few.k, c.t FROM few JOIN c ON few.i = c.i ORDER BY 1", "0|c0\n3|c6")
	want(t, conn, "SELECT count(*) FROM a JOIN c ON a.i = c.i", "42501")
	want(t, conn, "SELECT count(*) FROM few JOIN a ON few.i = a.i", "42501")
	want(t, conn, "BEGIN; SELECT count(*) FROM few, c; SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema(); COMMIT", "BEGIN\n16670\n0\nCOMMIT")
}

// TestFederatedSnapshot has several tables of home change together while they are read: a statement sees them as they were
// at one moment.
func TestFederatedSnapshot(t *testing.T) {
	w := newFederatedWorld(t)
	exec(t, w.direct, "CREATE TABLE left_ (i int)", "CREATE TABLE right_ (i int)", "INSERT INTO left_ VALUES (1)", "INSERT INTO right_ VALUES (1)")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		writer, err := pgx.Connect(context.Background(), w.direct)
		for err == nil && ctx.Err() == nil {
			_, err = writer.Exec(context.Background(), "WITH l AS (UPDATE left_ SET i = i + 1) UPDATE right_ SET i = i + 1")
		}
		done <- err
	}()
	conn := connect(t, w.through)
	for range 200 {
		want(t, conn, "SELECT l.i - r.i FROM left_ l, right_ r, a WHERE a.i = 7", "0")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestFederatedPortal fetches in parts, with other statements at home between them.
func TestFederatedPortal(t *testing.T) {
	w := newFederatedWorld(t)
	conn := federated(t, w)
	for _, query := range []string{
		"SELECT a.i FROM a LEFT JOIN b ON a.i = b.i AND b.k > 3 ORDER BY a.i", "SELECT a.i FROM a LEFT JOIN c ON a.i = c.i AND c.t > 'c3' ORDER BY 1",
	} {
		for _, limit := range []uint32{7, 999, 1000, 1001, 9999, 10000, 10001} {
			checkSteps(t, conn, query, limit, 10000)
		}
	}
	want(t, conn, "BEGIN", "BEGIN")
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT c.i FROM c JOIN a ON a.i = c.i"})
	front.Send(&pgproto3.Bind{DestinationPortal: "p"})
	front.Send(&pgproto3.Sync{})
	var got []string
	for len(got) < 3334 {
		front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 500})
		front.Send(&pgproto3.Query{String: fmt.Sprintf("INSERT INTO c VALUES (%d, 'new')", len(got)+1)})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		before := len(got)
		for ready := 0; ready < 1; {
			switch m := receive(t, front).(type) {
			case *pgproto3.DataRow:
				got = append(got, string(m.Values[0]))
			case *pgproto3.ErrorResponse:
				t.Fatalf("%d rows, then %s", len(got), m.Message)
			case *pgproto3.CommandComplete:
				if strings.HasPrefix(string(m.CommandTag), "INSERT") {
					ready++
				}
			}
		}
		if len(got) == before {
			break
		}
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != 3334 {
		t.Errorf("%d rows came", len(got))
	}
}

func receive(t *testing.T, front *pgproto3.Frontend) pgproto3.BackendMessage {
	t.Helper()
	m, err := front.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFederatedErrors has inputs fail, at an engine and at home, before rows were sent and behind them.
func TestFederatedErrors(t *testing.T) {
	w := newFederatedWorld(t)
	conn := federated(t, w)
	exec(t, w.direct, "CREATE VIEW failing AS SELECT CASE WHEN i < 9000 THEN i ELSE 1 / (i - i) END AS i FROM c",
		"CREATE TABLE odd AS SELECT 'NaN'::numeric(10,2) AS n")
	for sql, answer := range map[string]string{
		"SELECT count(*) FROM breaks JOIN c ON breaks.i = c.i":   "22P02",
		"SELECT breaks.i FROM breaks LEFT JOIN c ON c.i = -1":    "22P02",
		"SELECT count(*) FROM a JOIN failing ON failing.i = a.i": "22012",
		"SELECT failing.i FROM failing LEFT JOIN a ON a.i = -1":  "22012",
		"SELECT n FROM odd, a WHERE a.i = 1":                     "22003",
	} {
		for range 3 {
			want(t, conn, sql, answer)
			want(t, conn, "SELECT count(*) FROM a JOIN c ON a.i = c.i", "3334")
			want(t, conn, "BEGIN", "BEGIN")
			want(t, conn, sql, answer)
			want(t, conn, "SELECT 1", "25P02")
			want(t, conn, "ROLLBACK", "ROLLBACK")
		}
	}
	want(t, conn, "RESET sluice.route; SELECT n FROM odd, a WHERE a.i = 1", "RESET\nNaN") // home has the last word
}

// TestFederatedChoice says which route a statement takes that is free to choose.
func TestFederatedChoice(t *testing.T) {
	w := newFederatedWorld(t)
	conn := connect(t, w.through)
	exec(t, w.direct, "CREATE VIEW seen AS SELECT i FROM c")
	for sql, route := range map[string]string{
		"SELECT count(*) FROM a":                            "remote",
		"SELECT count(*) FROM a JOIN b ON a.i = b.i":        "federated",
		"SELECT count(*) FROM a JOIN c ON a.i = c.i":        "federated",
		"SELECT count(*) FROM a JOIN seen s ON a.i = s.i":   "home_join",
		"SELECT reverse(a.t) FROM a JOIN c ON a.i = c.i":    "home_join",
		"SELECT a.i FROM a, generate_series(1, 2) g":        "home_join",
		"SELECT a.i FROM a JOIN c ON a.i = c.i FOR UPDATE":  "home_join",
		"SELECT a.i FROM a JOIN pg_class p ON p.oid = a.i":  "home_join",
		"SELECT a.i FROM a JOIN c ON a.i = c.i WHERE a.i=1": "federated",
	} {
		if got := rows(t, conn, "EXPLAIN "+sql); !strings.Contains(got, "Route: "+route) {
			t.Errorf("%s: want %s, got\n%s", sql, route, got)
		}
	}
	exec(t, w.direct, "INSERT INTO c SELECT i, 'more' FROM generate_series(1, 1100000) i", "ANALYZE c")
	if got := rows(t, conn, "EXPLAIN SELECT count(*) FROM a JOIN c ON a.i = c.i"); !strings.Contains(got, `home has too many rows in "c"`) {
		t.Errorf("got\n%s", got)
	}
}

// TestBindJoin has the keys of an input with few rows restrict the scan of another one, where the join allows it.
func TestBindJoin(t *testing.T) {
	w := newFederatedWorld(t)
	conn := federated(t, w)
	exec(t, w.direct, "CREATE TABLE many AS SELECT i::bigint, 'a' || i AS t FROM generate_series(1, 200000) i", "CREATE INDEX ON many (i)",
		`CREATE TABLE names AS SELECT * FROM unnest(ARRAY['a1', 'it''s', '"x"', 'b\\c', 'a7', NULL, 'é', '', '{}', 'NULL', '<&>']) t`,
		"CREATE TABLE middling AS SELECT i FROM generate_series(1, 20000) i", "CREATE TABLE none (i int)", "ANALYZE")
	for _, test := range []struct{ sql, answer, scan, rows string }{
		{"SELECT count(*) FROM a JOIN c ON a.i = c.i", "3334", "public.a", "3334"},
		{"SELECT count(*) FROM a, c WHERE a.i = c.i AND c.i < 100", "34", "public.a", "34"},
		{"SELECT count(*) FROM a JOIN names n ON n.t = a.t", "2", "public.a", "2"},
		{"SELECT count(*) FROM a JOIN many m ON m.i = a.i WHERE a.i < 10", "9", "public.many", "9"},
		{"SELECT count(*) FROM a JOIN many m ON m.t = a.t WHERE a.i < 10 AND (m.i = 1 OR m.i = 2)", "2", "public.many", "2"},
		{"SELECT count(*) FROM a JOIN none n ON n.i = a.i", "0", "public.a", "0"},
		{"SELECT count(*) FROM a LEFT JOIN c ON a.i = c.i", "10000", "public.a", "10000"},
		{"SELECT count(*) FROM a JOIN middling m ON a.i = m.i", "9999", "public.a", "10000"},
		{"SELECT count(*) FROM a, c WHERE a.i = c.i OR c.i = 0", "13333", "public.a", "10000"},
		{"SELECT count(*) FROM a x, a y, c WHERE x.i = c.i AND y.i = c.i + 1", "3333", "public.a", "10000"}, // one scan for both
	} {
		want(t, conn, test.sql, test.answer)
		plan := rows(t, conn, "EXPLAIN ANALYZE "+test.sql)
		_, scan, _ := strings.Cut(plan, "Scan on "+test.scan+" ")
		if line, _, _ := strings.Cut(scan, "\n"); !strings.Contains(line, " rows="+test.rows+" ") {
			t.Errorf("%s: want %s rows of %s in\n%s", test.sql, test.rows, test.scan, plan)
		}
	}
}
