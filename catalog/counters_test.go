package catalog_test

import (
	"fmt"
	"strings"
	"testing"
)

// counted says how a table's counters must read: as counting its rows does.
func (s *session) counted(relation string, keys ...string) {
	s.t.Helper()
	group := "NULL::jsonb"
	if len(keys) > 0 {
		pairs := make([]string, len(keys))
		for i, k := range keys {
			pairs[i] = fmt.Sprintf("'%s', %s", k, k)
		}
		group = "jsonb_build_object(" + strings.Join(pairs, ", ") + ")"
	}
	truth := s.value("SELECT string_agg(g || '=' || n, ' ' ORDER BY g) FROM (SELECT coalesce((" + group + ")::text, '') AS g, count(*) AS n FROM " + relation +
		" GROUP BY " + map[bool]string{true: "1", false: "()"}[len(keys) > 0] + ") t")
	got := s.value(`SELECT string_agg(coalesce("group"::text, '') || '=' || row_count, ' ' ORDER BY coalesce("group"::text, ''))
		FROM sluice.table_counts WHERE relation = '` + relation + "'::regclass AND source = 'counters' AND ($$" + strings.Join(keys, "") + `$$ = '' OR "group" IS NOT NULL)`)
	if got != truth {
		s.t.Errorf("counters of %s: %q, its rows: %q, source %s", relation, got, truth,
			s.value("SELECT string_agg(DISTINCT source, ' ') FROM sluice.table_counts WHERE relation = '"+relation+"'::regclass"))
	}
	if got, truth := s.value("SELECT sluice.table_count('"+relation+"')"), s.value("SELECT count(*) FROM "+relation); got != truth {
		s.t.Errorf("count of %s: %q, its rows: %s", relation, got, truth)
	}
	if drift := s.value("SELECT count(*) FROM sluice.verify_statistics('" + relation + "') WHERE stored <> actual OR repaired"); drift != "0" {
		s.t.Errorf("verify_statistics finds %s groups of %s wrong", drift, relation)
	}
}

const ordersTables = `CREATE TABLE customer (id int PRIMARY KEY, region text);
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customer ON DELETE CASCADE ON UPDATE CASCADE, state text, at timestamptz);
CREATE TYPE colour AS ENUM ('red', 'green'); CREATE TABLE thing (id int, colour colour, weight float8);
INSERT INTO customer SELECT i, 'r' || i % 3 FROM generate_series(1, 10) i;
INSERT INTO orders SELECT i, 1 + i % 10, 's' || i % 2 FROM generate_series(1, 100) i;
SELECT sluice.track_statistics('customer'), sluice.track_statistics('orders', '{customer,state}'), sluice.track_statistics('thing', '{colour,weight}')`

// TestCountersFollowStatements compares counters with the rows behind each kind of statement, in the session that ran it and
// in another.
func TestCountersFollowStatements(t *testing.T) {
	s, url := installed(t)
	other := connect(t, url)
	s.do(ordersTables)
	check := func(s *session) {
		t.Helper()
		s.counted("customer")
		s.counted("orders", "customer", "state")
		s.counted("thing", "colour", "weight")
	}
	check(s)
	for _, sql := range []string{
		"INSERT INTO orders VALUES (101, 1, 'new'), (102, 2, NULL)", "DELETE FROM orders WHERE id = 1", "DELETE FROM orders WHERE false",
		"UPDATE orders SET state = 'moved' WHERE id < 20", "UPDATE orders SET id = id + 1000", "UPDATE orders SET state = state",
		"INSERT INTO orders SELECT i, 3, 'c' FROM generate_series(1098, 1110) i ON CONFLICT DO NOTHING",
		"INSERT INTO orders SELECT i, 4, 'c' FROM generate_series(1105, 1120) i ON CONFLICT (id) DO UPDATE SET state = 'conflict', customer = excluded.customer",
		`MERGE INTO orders o USING (SELECT generate_series(1115, 1130) AS id) n ON n.id = o.id WHEN MATCHED AND n.id % 3 = 0 THEN DELETE
			WHEN MATCHED THEN UPDATE SET state = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (n.id, 5, 'merged')`,
		"WITH gone AS (DELETE FROM orders WHERE id % 7 = 0 RETURNING *), back AS (INSERT INTO orders SELECT id + 5000, customer, 'cte' FROM gone) UPDATE orders SET state = 'rest' WHERE id % 11 = 0",
		"DELETE FROM customer WHERE id = 3", "UPDATE customer SET id = 300 WHERE id = 4", "DELETE FROM customer WHERE region = 'r2'",
		"CREATE FUNCTION more() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO customer VALUES (500, NULL), (501, NULL); DELETE FROM customer WHERE id = 501; RETURN 1; END'; SELECT more()",
		`CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF pg_trigger_depth() < 4 THEN INSERT INTO customer SELECT id + 10000 FROM n; END IF; RETURN NULL; END'; CREATE TRIGGER again AFTER INSERT ON customer
			REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION again(); INSERT INTO customer VALUES (801), (802); DROP TRIGGER again ON customer`,
		"BEGIN; DECLARE c CURSOR FOR SELECT FROM customer; INSERT INTO customer VALUES (810); DELETE FROM customer WHERE id = 801; CREATE TABLE cursors AS SELECT count(*) AS n FROM pg_cursors; COMMIT",
		"PREPARE p AS INSERT INTO customer VALUES ($1, 'p'); EXECUTE p (600); EXECUTE p (601); DEALLOCATE p",
		"INSERT INTO thing VALUES (1, 'red', 0.1), (2, 'green', 'NaN'), (3, NULL, 1e300), (4, 'red', 0.1)", "SET extra_float_digits = 0; DELETE FROM thing WHERE id = 4; RESET extra_float_digits",
		"CREATE RULE quiet AS ON DELETE TO thing DO INSTEAD NOTHING; DELETE FROM thing; DROP RULE quiet ON thing",
		"ALTER TABLE thing SET SCHEMA public; ALTER TABLE thing RENAME TO other; ALTER TABLE other ADD extra int; INSERT INTO other VALUES (9, 'red', 2, 3); ALTER TABLE other RENAME TO thing",
		"ALTER TABLE customer ALTER id TYPE bigint; INSERT INTO customer VALUES (700)", "CLUSTER orders USING orders_pkey",
		"SET session_replication_role = replica; INSERT INTO orders VALUES (7000, 1, 'replica'); DELETE FROM orders WHERE id % 13 = 0; RESET session_replication_role",
		"TRUNCATE thing", "INSERT INTO thing VALUES (1)", "BEGIN; TRUNCATE thing; INSERT INTO thing VALUES (2), (3); ROLLBACK", "BEGIN; TRUNCATE thing; INSERT INTO thing VALUES (2), (3); TRUNCATE thing; INSERT INTO thing VALUES (4); COMMIT",
		"TRUNCATE customer CASCADE", "INSERT INTO customer SELECT i FROM generate_series(1, 300) i", "SELECT sluice.fold_statistics()",
	} {
		s.do(sql)
		check(s)
		check(other)
		if t.Failed() {
			t.Fatalf("behind %s", sql)
		}
	}
	if n := s.value("SELECT n FROM cursors"); n != "1" {
		t.Errorf("%s cursors are open, not the one of the user", n)
	}
}

// TestCountersFollowValues changes the groups of rows by other means than a statement on the rows.
func TestCountersFollowValues(t *testing.T) {
	s, _ := installed(t)
	s.do(ordersTables + "; INSERT INTO thing VALUES (1, 'red', 1), (2, 'green', 2)")
	for _, sql := range []string{
		"ALTER TYPE colour RENAME VALUE 'red' TO 'crimson'", "ALTER TABLE thing ALTER weight TYPE float8 USING weight * 2", "ALTER TABLE thing ALTER weight TYPE text",
		"ALTER TABLE thing ALTER colour TYPE text",
	} {
		s.do(sql)
		if got := s.value("SELECT source FROM sluice.table_counts WHERE relation = 'thing'::regclass"); got != "pending" {
			t.Errorf("%s: %s", sql, got)
		}
		s.do("INSERT INTO thing SELECT * FROM thing; SELECT sluice.fill_statistics(); DELETE FROM thing WHERE id = 2")
		s.counted("thing", "colour", "weight")
	}
	s.do("BEGIN READ ONLY")
	s.counted("thing", "colour", "weight")
	s.do("COMMIT")
}

// TestCountersFollowTransactions looks into transactions that fail as a whole or in part.
func TestCountersFollowTransactions(t *testing.T) {
	s, url := installed(t)
	s.do("CREATE TABLE t (a int PRIMARY KEY, g text); SELECT sluice.track_statistics('t', '{g}')")
	s.do("BEGIN; INSERT INTO t SELECT i, 'x' FROM generate_series(1, 5) i")
	if n := s.value("SELECT sluice.table_count('t')"); n != "5" {
		t.Errorf("%s rows in the transaction that has written 5", n)
	}
	connect(t, url).counted("t", "g")
	s.do("ROLLBACK")
	s.counted("t", "g")
	s.do("BEGIN; INSERT INTO t VALUES (1, 'a'); SAVEPOINT p; INSERT INTO t VALUES (2, 'b'), (3, 'b'); UPDATE t SET g = 'z'; ROLLBACK TO p; INSERT INTO t VALUES (4, 'c'); COMMIT")
	s.counted("t", "g")
	for sql, want := range map[string]string{
		"INSERT INTO t SELECT 10 / (3 - i), 'x' FROM generate_series(1, 3) i": "22012",
		"BEGIN; INSERT INTO t VALUES (50); INSERT INTO t VALUES (1); COMMIT":  "23505",
	} {
		if err := s.try(sql); code(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
		_ = s.try("ROLLBACK")
		s.counted("t", "g")
	}
	for _, data := range []string{"70\ta\n71\tb\n", "80\ta\n80\tb\n"} {
		_, _ = s.conn.CopyFrom(t.Context(), strings.NewReader(data), "COPY t FROM STDIN")
		s.counted("t", "g")
	}
	if n := s.value("SELECT sluice.table_count('t')"); n != "4" {
		t.Errorf("%s rows, not those of the good COPY and two", n)
	}
}
