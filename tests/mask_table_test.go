package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// maskWorld has a table of home with masks, and roles of which mask_reader sees them, mask_auditor does not, and mask_stranger may not
// read the table at all.
func maskWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "CREATE TABLE visit AS SELECT i::INTEGER AS id, 'c' || i AS what FROM range(1, 4) r(i)")
	exec(t, w.direct, "DROP ROLE IF EXISTS mask_owner", "DROP ROLE IF EXISTS mask_reader", "DROP ROLE IF EXISTS mask_auditor", "DROP ROLE IF EXISTS mask_stranger",
		"CREATE ROLE mask_owner", "CREATE ROLE mask_reader", "CREATE ROLE mask_auditor", "CREATE ROLE mask_stranger", "GRANT CREATE ON SCHEMA public TO mask_owner, mask_reader")
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY mask_owner, mask_reader, mask_auditor, mask_stranger CASCADE", "DROP ROLE mask_owner, mask_reader, mask_auditor, mask_stranger")
	})
	exec(t, w.through, "SET ROLE mask_owner", `CREATE TABLE customer (id int PRIMARY KEY, email varchar(30), region text, salary int DEFAULT 1)`,
		"INSERT INTO customer VALUES (1, 'ann@x.org', 'eu', 1234), (2, 'bob@x.org', 'us', 5678), (3, NULL, 'eu', NULL)", "ANALYZE customer",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON customer TO mask_reader", "GRANT SELECT ON customer TO mask_auditor", "RESET ROLE",
		"CREATE FOREIGN TABLE visit (id int, what text) SERVER lake", "GRANT SELECT ON visit TO PUBLIC")
	exec(t, w.through, "SET ROLE mask_owner", "SECURITY LABEL FOR sluice ON COLUMN customer.email IS 'MASKED WITH FUNCTION sluice.mask_email(email)'",
		"SELECT sluice.set_column_mask('customer', 'salary', 'sluice.mask_band(salary, 1000)', '{mask_auditor}')")
	return w
}

// setRole answers a statement as a role.
func setRole(t *testing.T, conn *pgx.Conn, role, sql string) string {
	t.Helper()
	rows(t, conn, "RESET ROLE")
	if role != "" {
		rows(t, conn, "SET ROLE "+role)
	}
	return rows(t, conn, sql)
}

// TestMaskedTable reads a table of home with masks in every place of a statement, as roles that see less or more of it.
func TestMaskedTable(t *testing.T) {
	w := maskWorld(t)
	conn := connect(t, w.through)
	const masked, raw = "1|a***@x.org|eu|1000\n2|b***@x.org|us|5000\n3|NULL|eu|NULL", "1|ann@x.org|eu|1234\n2|bob@x.org|us|5678\n3|NULL|eu|NULL"
	for role, answer := range map[string]string{"": raw, "mask_owner": raw, "mask_reader": masked, "mask_auditor": "1|a***@x.org|eu|1234\n2|b***@x.org|us|5678\n3|NULL|eu|NULL", "mask_stranger": "42501"} {
		for _, sql := range []string{"SELECT * FROM customer ORDER BY id", "TABLE customer ORDER BY id", `SELECT c.* FROM public."customer" AS c ORDER BY c.id`,
			"WITH q AS (SELECT * FROM customer) SELECT * FROM q ORDER BY id", "SELECT q.* FROM (SELECT * FROM customer) q ORDER BY 1"} {
			if got := setRole(t, conn, role, sql); got != answer {
				t.Errorf("%s: %s\ngot  %q\nwant %q", role, sql, got, answer)
			}
		}
	}
	for _, try := range [][2]string{
		{"SELECT email FROM customer WHERE email = 'ann@x.org'", "SELECT 0"},
		{"SELECT id FROM customer WHERE email = 'a***@x.org'", "1"},
		{"SELECT public.customer.email FROM customer WHERE customer.id = 2", "b***@x.org"},
		{"SELECT a.email, b.salary FROM customer a JOIN customer b USING (id) WHERE a.id = 1", "a***@x.org|1000"},
		{"SELECT id FROM visit v WHERE EXISTS (SELECT FROM customer c WHERE c.id = v.id AND c.salary > 1000) ORDER BY id", "2"},
		{"SELECT v.what, c.email FROM visit v JOIN customer c USING (id) ORDER BY 1", "c1|a***@x.org\nc2|b***@x.org\nc3|NULL"},
		{"SELECT (SELECT max(salary) FROM customer), count(*) FROM customer", "5000|3"},
		{"SELECT customer FROM customer WHERE id = 1", "(1,a***@x.org,eu,1000)"},
		{"SELECT row_to_json(c)::text FROM customer c WHERE id = 1", `{"id":1,"email":"a***@x.org","region":"eu","salary":1000}`},
		{"SELECT salary FROM customer UNION SELECT salary + 1 FROM customer ORDER BY 1", "1000\n1001\n5000\n5001\nNULL"},
		{"SELECT c.region, sum(salary) FROM customer c GROUP BY c.region ORDER BY 1", "eu|1000\nus|5000"},
		{"COPY customer TO STDOUT", "COPY 3"},
		{"COPY (SELECT email FROM customer) TO STDOUT", "COPY 3"},
		{"BEGIN; DECLARE k CURSOR FOR SELECT email FROM customer ORDER BY id; FETCH 1 FROM k; COMMIT", "BEGIN\nDECLARE CURSOR\na***@x.org\nCOMMIT"},
		{"BEGIN READ ONLY; SELECT email FROM customer WHERE id = 1; COMMIT", "BEGIN\na***@x.org\nCOMMIT"},
		{"CREATE TABLE copied AS SELECT * FROM customer; SELECT email FROM copied WHERE id = 1; DROP TABLE copied", "SELECT 3\na***@x.org\nDROP TABLE"},
		{"BEGIN; CREATE TEMP TABLE customer (email text); INSERT INTO customer VALUES ('mine'); TABLE customer; ROLLBACK", "BEGIN\nCREATE TABLE\nINSERT 0 1\nmine\nROLLBACK"},
		{"WITH customer AS (SELECT 'own' AS email) SELECT email FROM customer", "own"},
		{"SET search_path = pg_catalog; SELECT email FROM public.customer WHERE id = 1; RESET search_path", "SET\na***@x.org\nRESET"},
		{"SELECT tableoid::regclass, email FROM customer WHERE id = 1", "customer|a***@x.org"},
		{"SELECT email FROM ONLY customer", "0A000"},
		{"CREATE VIEW mine AS SELECT email FROM customer; SELECT max(email) FROM mine", "CREATE VIEW\nb***@x.org"},
		{"DO $$ BEGIN PERFORM email FROM customer; END $$", "42501"},
		{"CREATE FUNCTION spy() RETURNS text LANGUAGE sql AS 'SELECT string_agg(email, '','') FROM customer'; SELECT spy()", "42501"},
		{"UPDATE customer SET region = 'de' WHERE id = 3", "UPDATE 1"},
		{"UPDATE customer SET region = 'eu', salary = 9 WHERE id = 3 RETURNING region", "eu"},
		{"UPDATE customer SET region = email WHERE id = 3", "42501"},
		{"UPDATE customer SET region = 'de' WHERE email LIKE 'a%'", "42501"},
		{"UPDATE customer t SET region = c.email FROM customer c WHERE c.id = 1 AND t.id = 3 RETURNING t.region", "a***@x.org"},
		{"DELETE FROM customer WHERE salary = 1234", "42501"},
		{"DELETE FROM customer WHERE id = 3 RETURNING *", "42501"},
		{"INSERT INTO customer VALUES (4, 'eve@x.org', 'eu', 7)", "INSERT 0 1"},
		{"INSERT INTO customer VALUES (5, 'eve@x.org', 'eu', 7) RETURNING email", "42501"},
		{"INSERT INTO customer (id, email) SELECT id + 10, email FROM customer WHERE id = 4", "INSERT 0 1"},
		{"DELETE FROM customer WHERE id IN (4, 14)", "DELETE 2"},
		{"SELECT email FROM customer FOR UPDATE", "42501"},
		{"SELECT email FROM customer FOR SHARE", "42501"},
		{"SELECT id, email FROM customer GROUP BY id", "42803"},
		{"SELECT ctid FROM customer", "42703"},
		{"INSERT INTO customer VALUES (1) ON CONFLICT (id) DO UPDATE SET region = customer.email", "42501"},
		{"INSERT INTO customer VALUES (1) ON CONFLICT (email) DO NOTHING", "42P10"},
		{"MERGE INTO customer t USING (VALUES (1)) v (id) ON t.id = v.id WHEN MATCHED THEN UPDATE SET region = t.email", "42501"},
		{"SELECT count(*) FROM pg_stats WHERE tablename = 'customer' AND attname IN ('email', 'salary')", "0"},
		{"SELECT count(*) FROM information_schema.columns WHERE table_name = 'customer' AND table_schema = 'public'", "4"}, // which it may write
		{"SET standard_conforming_strings = off", "SET"},
		{"SELECT email FROM customer WHERE region <> 'a\\\\'' b' AND id = 1", "a***@x.org"},
		{"RESET standard_conforming_strings", "RESET"},
		{"TRUNCATE customer", "42501"},
	} {
		if got := setRole(t, conn, "mask_reader", try[0]); got != try[1] {
			t.Errorf("%s\ngot  %q\nwant %q", try[0], got, try[1])
		}
		rows(t, conn, "ROLLBACK")
	}
	if got := setRole(t, conn, "mask_reader", "EXPLAIN (VERBOSE, COSTS OFF) SELECT email FROM customer"); !strings.Contains(got, "sluice.unmasked") {
		t.Errorf("EXPLAIN shows %s", got)
	}
	var out strings.Builder
	rows(t, conn, "SET ROLE mask_reader")
	if _, err := conn.PgConn().CopyTo(timed(t), &out, "COPY customer (email, id) TO STDOUT"); err != nil || !strings.HasPrefix(out.String(), "a***@x.org\t1\n") {
		t.Errorf("COPY: %v, %q", err, out.String())
	}
}

// TestMaskedTableDirect reads the table around the proxy, where home hides it.
func TestMaskedTableDirect(t *testing.T) {
	w := maskWorld(t)
	conn := connect(t, w.direct)
	for sql, answer := range map[string]string{
		"SELECT id, region FROM customer WHERE id = 1":        "1|eu",
		"SELECT email FROM customer":                          "42501",
		"SELECT * FROM customer":                              "42501",
		"SELECT customer FROM customer":                       "42501",
		"COPY customer TO STDOUT":                             "42501",
		"SELECT email FROM sluice_masked.customer WHERE id=1": "a***@x.org",
		"DO $$ BEGIN PERFORM email FROM customer; END $$":     "42501",
	} {
		if got := setRole(t, conn, "mask_reader", sql); got != answer {
			t.Errorf("%s\ngot  %q\nwant %q", sql, got, answer)
		}
	}
	if got := setRole(t, conn, "mask_stranger", "SELECT email FROM sluice_masked.customer"); got != "42501" {
		t.Errorf("a stranger reads the view: %s", got)
	}
	if got := setRole(t, conn, "mask_auditor", "SELECT email, salary FROM sluice_masked.customer WHERE id = 1"); got != "a***@x.org|1234" {
		t.Errorf("an auditor reads %s", got)
	}
}

// TestMaskedTablePrivileges grants and revokes on a table with masks, around the proxy too, and takes its masks away.
func TestMaskedTablePrivileges(t *testing.T) {
	w := maskWorld(t)
	conn, direct := connect(t, w.through), connect(t, w.direct)
	reads := func(role, sql, answer string) {
		t.Helper()
		if got := setRole(t, conn, role, sql); got != answer {
			t.Errorf("%s: %s\ngot  %q\nwant %q", role, sql, got, answer)
		}
		if got := setRole(t, direct, role, "SELECT email FROM customer"); got != "42501" {
			t.Errorf("%s reads around the proxy: %s", role, got)
		}
	}
	do := func(c *pgx.Conn, sql string) {
		t.Helper()
		if got := setRole(t, c, "", sql); len(got) == 5 && strings.Trim(got, "0123456789ABCDEFGPRSTUVWXYZ") == "" && got != "GRANT" {
			t.Errorf("%s: %s", sql, got)
		}
	}
	const one = "SELECT email FROM customer WHERE id = 1"
	reads("mask_stranger", one, "42501")
	for i, c := range []*pgx.Conn{conn, direct} {
		do(c, "GRANT ALL ON customer TO mask_stranger WITH GRANT OPTION")
		reads("mask_stranger", one, "a***@x.org")
		do(c, "REVOKE SELECT ON customer FROM mask_stranger")
		reads("mask_stranger", one, "42501")
		do(c, "GRANT SELECT (id, email) ON customer TO mask_stranger")
		reads("mask_stranger", one, "a***@x.org")
		reads("mask_stranger", "SELECT region FROM customer", "42501")
		do(c, "REVOKE ALL ON customer FROM mask_stranger")
		reads("mask_stranger", one, "42501")
		do(c, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
		reads("mask_stranger", one, "a***@x.org")
		do(c, "REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM PUBLIC; GRANT SELECT ON visit TO PUBLIC")
		reads("mask_stranger", one, "42501")
		do(c, fmt.Sprintf("ALTER TABLE customer ADD COLUMN more%d int DEFAULT 5", i))
		reads("mask_reader", fmt.Sprintf("SELECT email, more%d FROM customer WHERE id = 1", i), "a***@x.org|5")
	}
	do(direct, "GRANT SELECT (email) ON customer TO mask_stranger; GRANT SELECT (salary) ON customer TO mask_stranger")
	reads("mask_stranger", "SELECT email, salary FROM customer WHERE email LIKE 'a%'", "a***@x.org|1000")
	do(conn, "SELECT sluice.drop_column_mask('customer', 'salary')")
	reads("mask_stranger", "SELECT email, salary FROM customer WHERE email LIKE 'a%'", "a***@x.org|1234")
	reads("mask_reader", "SELECT * FROM customer WHERE id = 1", "1|a***@x.org|eu|1234|5|5")
	do(conn, "SECURITY LABEL FOR sluice ON COLUMN customer.email IS NULL")
	for _, c := range []*pgx.Conn{conn, direct} {
		if got := setRole(t, c, "mask_reader", "SELECT * FROM customer WHERE id = 1"); got != "1|ann@x.org|eu|1234|5|5" {
			t.Errorf("without masks: %s", got)
		}
		if got := setRole(t, c, "mask_stranger", "SELECT email, salary FROM customer WHERE email LIKE 'a%'"); got != "ann@x.org|1234" {
			t.Errorf("without masks: %s", got)
		}
		if got := setRole(t, c, "mask_stranger", "SELECT region FROM customer WHERE id = 1"); got != "42501" {
			t.Errorf("without masks: %s", got)
		}
	}
	want(t, conn, "RESET ROLE; SELECT count(*) FROM sluice.masked_table; SELECT to_regclass('sluice_masked.customer')", "RESET\n0\nNULL")
	want(t, conn, "SELECT replace(relacl::text, 'arwdDxtm', 'arwdDxt') FROM pg_class WHERE oid = 'customer'::regclass", // m is MAINTAIN, from 17 on
		"{mask_owner=arwdDxt/mask_owner,mask_reader=arwd/mask_owner,mask_auditor=r/mask_owner}")
}

// TestMaskedTablePrepared runs what was prepared before a mask was declared, or as another role.
func TestMaskedTablePrepared(t *testing.T) {
	w := maskWorld(t)
	conn, owner := connect(t, w.through), connect(t, w.through)
	exec(t, w.through, "CREATE TABLE late (id int, secret text)", "INSERT INTO late VALUES (1, 'hush')", "GRANT SELECT ON late TO mask_reader")
	rows(t, conn, "SET ROLE mask_reader; PREPARE p AS SELECT secret FROM late WHERE id = $1; PREPARE c AS SELECT email FROM customer WHERE id = 1")
	if _, err := conn.Prepare(timed(t), "named", "SELECT secret FROM late WHERE id = $1"); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		t.Helper()
		var named string
		if err := conn.QueryRow(timed(t), "named", 1).Scan(&named); err != nil {
			named = sqlState(err)
		}
		return named + " " + rows(t, conn, "EXECUTE p (1)")
	}
	until := func(answer string) {
		t.Helper()
		for ctx := timed(t); ctx.Err() == nil; { // the proxy hears of a change by a notification
			switch got := read(); {
			case got == answer:
				return
			case strings.Contains(got, "hush") == strings.Contains(answer, "***"):
				t.Fatalf("got %q, want %q", got, answer)
			}
		}
		t.Errorf("want %q", answer)
	}
	until("hush hush")
	want(t, owner, "SELECT sluice.set_column_mask('late', 'secret', '''***''')", "")
	until("*** ***")
	want(t, conn, "RESET ROLE", "RESET")
	until("hush hush")
	want(t, conn, "EXECUTE c", "ann@x.org")
	want(t, conn, "SET ROLE mask_reader; EXECUTE c", "SET\na***@x.org")
	until("*** ***")
	want(t, conn, "BEGIN; SET LOCAL ROLE mask_owner; EXECUTE c; COMMIT; EXECUTE c", "BEGIN\nSET\nann@x.org\nCOMMIT\na***@x.org")
	if _, err := conn.Prepare(timed(t), "mine", "SELECT email FROM customer WHERE salary >= $1 ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	for role, answer := range map[string]string{"mask_reader": "b***@x.org", "mask_owner": "bob@x.org"} {
		var got string
		rows(t, conn, "RESET ROLE; SET ROLE "+role)
		if err := conn.QueryRow(timed(t), "mine", 5000).Scan(&got); err != nil || got != answer {
			t.Errorf("%s reads %q, %v", role, got, err)
		}
	}
	want(t, owner, "SELECT sluice.drop_column_mask('late', 'secret')", "")
	rows(t, conn, "RESET ROLE; SET ROLE mask_reader")
	until("hush hush")
}

// TestMaskedTableChanged alters and drops a table with masks, and declares what cannot be.
func TestMaskedTableChanged(t *testing.T) {
	w := maskWorld(t)
	conn, direct := connect(t, w.through), connect(t, w.direct)
	exec(t, w.through, "CREATE FUNCTION loose(text) RETURNS text LANGUAGE sql AS 'SELECT lower($1)'",
		"CREATE FUNCTION strict(text) RETURNS text LANGUAGE sql SET search_path = pg_catalog AS 'SELECT lower($1)'",
		"CREATE TABLE secured (id int)", "ALTER TABLE secured ENABLE ROW LEVEL SECURITY", "CREATE VIEW a_view AS SELECT 1 AS id")
	for _, try := range [][2]string{
		{"SELECT sluice.set_column_mask('customer', 'email', 'sluice.mask_hash(email)')", "0A000"},
		{"SELECT sluice.set_column_mask('customer', 'email', 'loose(email)')", "0A000"},
		{"SELECT sluice.set_column_mask('customer', 'email', 'strict(email)')", ""},
		{"SELECT sluice.set_column_mask('customer', 'email', 'sluice.mask_email(email)')", ""},
		{"SELECT sluice.set_column_mask('customer', 'nope', '1')", "42703"},
		{"SELECT sluice.set_column_mask('customer', 'id', '1); DROP TABLE secured; SELECT (1')", "42601"},
		{"SELECT sluice.set_column_mask('secured', 'id', '1')", "0A000"},
		{"SELECT sluice.set_column_mask('a_view', 'id', '1')", "42809"},
		{"SECURITY LABEL FOR sluice ON COLUMN nowhere.id IS 'MASKED WITH VALUE 1'", "22023"},
		{"SET ROLE mask_reader", "SET"}, {"SELECT sluice.set_column_mask('customer', 'id', '1')", "42501"}, {"ALTER TABLE customer DROP COLUMN region", "42501"}, {"RESET ROLE", "RESET"},
		{"ALTER TABLE customer ENABLE ROW LEVEL SECURITY", "0A000"},
		{"ALTER TABLE customer RENAME email TO mail", "2BP01"},
		{"ALTER TABLE customer DROP COLUMN email", "2BP01"},
		{"ALTER TABLE customer DROP COLUMN region", "ALTER TABLE"},
		{"ALTER TABLE customer ALTER salary TYPE bigint, ADD note text DEFAULT 'n'", "ALTER TABLE"},
		{"ALTER TABLE customer RENAME id TO number", "ALTER TABLE"},
		{"ALTER TABLE customer RENAME TO client", "ALTER TABLE"},
		{"SET ROLE mask_reader", "SET"}, {"SELECT * FROM client WHERE number = 1", "1|a***@x.org|1000|n"}, {"RESET ROLE", "RESET"},
		{"ALTER TABLE client OWNER TO mask_auditor", "ALTER TABLE"},
		{"SET ROLE mask_auditor", "SET"}, {"SELECT * FROM client WHERE number = 1", "1|ann@x.org|1234|n"}, {"RESET ROLE", "RESET"},
		{"SET ROLE mask_owner", "SET"}, {"SELECT * FROM client WHERE number = 1", "42501"}, {"RESET ROLE", "RESET"},
		{"DROP TABLE client", "DROP TABLE"},
		{"SELECT count(*) FROM sluice.column_mask", "0"}, {"SELECT count(*) FROM sluice.masked_table", "0"},
		{"CREATE TABLE again (id int, v text) PARTITION BY LIST (id)", "CREATE TABLE"}, {"CREATE TABLE again_1 PARTITION OF again FOR VALUES IN (1)", "CREATE TABLE"},
		{"INSERT INTO again VALUES (1, 'hush')", "INSERT 0 1"}, {"GRANT SELECT ON again TO mask_reader", "GRANT"},
		{"SELECT sluice.set_column_mask('again', 'v', 'NULL')", ""},
		{"SET ROLE mask_reader", "SET"}, {"SELECT * FROM again", "1|NULL"}, {"SELECT * FROM again_1", "42501"}, {"RESET ROLE", "RESET"},
	} {
		want(t, conn, try[0], try[1])
	}
	want(t, direct, "ALTER TABLE again DROP COLUMN v", "2BP01") // the mask's view is in the way
	want(t, direct, "ALTER TABLE again ADD COLUMN w int DEFAULT 2; SET ROLE mask_reader; SELECT * FROM sluice_masked.again; RESET ROLE", "ALTER TABLE\nSET\n1|NULL|2\nRESET")
	want(t, direct, "DROP TABLE again", "2BP01")
	want(t, direct, "DROP TABLE again CASCADE; SELECT count(*) FROM sluice.masked_table", "DROP TABLE\n0")
}

// TestMaskedTableWarned declares masks of a table that views and functions get around.
func TestMaskedTableWarned(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT 1 AS id")
	conn, heard := hear(t, w.through)
	for _, sql := range []string{"CREATE TABLE pay (id int, salary int)", "CREATE VIEW shown AS SELECT * FROM pay", "GRANT SELECT ON shown TO PUBLIC",
		"CREATE FUNCTION told() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(salary) FROM pay'", "GRANT SELECT, TRIGGER ON pay TO PUBLIC"} {
		if rows(t, conn, sql); heard() != "" {
			t.Errorf("%s: a warning", sql)
		}
	}
	want(t, conn, "SECURITY LABEL FOR sluice ON COLUMN pay.salary IS 'MASKED WITH VALUE 0'", "SECURITY LABEL")
	const warnings = `function public.told() gets at rows of table "pay" as they are, for PUBLIC > REVOKE EXECUTE ON ROUTINE public.told() FROM PUBLIC
privilege TRIGGER on public.pay gets at rows of table "pay" as they are, for PUBLIC > REVOKE TRIGGER ON public.pay FROM PUBLIC
view public.shown gets at rows of table "pay" as they are, for PUBLIC > REVOKE SELECT ON public.shown FROM PUBLIC`
	if got := heard(); got != warnings {
		t.Errorf("warned:\n%s", got)
	}
	want(t, conn, "SELECT remedy FROM sluice.leaks('pay')", "REVOKE EXECUTE ON ROUTINE public.told() FROM PUBLIC\nREVOKE TRIGGER ON public.pay FROM PUBLIC\nREVOKE SELECT ON public.shown FROM PUBLIC")
	want(t, conn, "CREATE VIEW over AS SELECT * FROM sluice_masked.pay; GRANT SELECT ON over TO PUBLIC; SELECT count(*) FROM sluice.leaks('pay')", "CREATE VIEW\nGRANT\n3")
}

// TestMaskedTableDumped takes masks of a table of home along in a dump, with the privileges.
func TestMaskedTableDumped(t *testing.T) {
	w := maskWorld(t)
	needPgDump(t, w.home)
	file := filepath.Join(t.TempDir(), "dump.sql")
	for _, from := range []string{w.through, w.direct} {
		run(t, "pg_dump", "-f", file, from)
		url := strings.Replace(hometest.Database(t, w.home), w.home.Addr(), w.addr, 1)
		if out := run(t, "psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f", file, url); out != "" {
			t.Errorf("psql says %s", out)
		}
		conn := connect(t, url)
		for _, sql := range []string{"SELECT 1", "GRANT SELECT ON customer TO mask_stranger", "REVOKE SELECT ON customer FROM mask_stranger"} {
			rows(t, conn, "RESET ROLE; "+sql)
			want(t, conn, "SET ROLE mask_reader; SELECT email, salary FROM customer WHERE id = 1", "SET\na***@x.org|1000")
			want(t, conn, "RESET ROLE; SET ROLE mask_auditor; SELECT email, salary FROM customer WHERE id = 1", "RESET\nSET\na***@x.org|1234")
			want(t, conn, "RESET ROLE; SELECT email, salary FROM customer WHERE id = 1", "RESET\nann@x.org|1234")
		}
	}
	conn := connect(t, w.through)
	want(t, conn, "SELECT * FROM sluice.dump_policies()", "SELECT sluice.set_column_mask('public.customer', 'email', 'sluice.mask_email((email)::text)', '{}');\n"+
		"SELECT sluice.set_column_mask('public.customer', 'salary', 'sluice.mask_band(salary, 1000)', '{mask_auditor}');")
	want(t, conn, "DROP EXTENSION sluice CASCADE", "DROP EXTENSION")
	want(t, conn, "SET ROLE mask_reader; SELECT email FROM customer", "42501")
}

// TestMaskedTableViews reads a table with masks through views of home, which are written out for whom its masks may hold.
func TestMaskedTableViews(t *testing.T) {
	w := maskWorld(t)
	exec(t, w.through, "GRANT SELECT ON visit TO mask_owner", "SET ROLE mask_owner", "CREATE VIEW short AS SELECT id, email AS mail FROM customer",
		"CREATE VIEW above AS SELECT s.mail, c.salary FROM short s JOIN customer c USING (id) WHERE s.id < 3", "CREATE VIEW invoked WITH (security_invoker) AS SELECT * FROM customer",
		"CREATE VIEW both_sides AS SELECT v.what, c.email FROM visit v JOIN customer c USING (id)", "CREATE MATERIALIZED VIEW kept AS SELECT email FROM customer",
		"GRANT ALL ON short, above, invoked, both_sides, kept TO mask_reader, mask_stranger, mask_auditor")
	conn, direct := connect(t, w.through), connect(t, w.direct)
	for _, try := range [][5]string{
		{"SELECT * FROM short ORDER BY id LIMIT 1", "1|a***@x.org", "1|a***@x.org", "42501", "1|ann@x.org"},
		{"SELECT mail FROM above ORDER BY 1", "a***@x.org\nb***@x.org", "a***@x.org\nb***@x.org", "42501", "ann@x.org\nbob@x.org"},
		{"SELECT max(salary) FROM above", "5000", "5678", "42501", "5678"},
		{"SELECT email FROM invoked WHERE id = 2", "b***@x.org", "b***@x.org", "42501", "bob@x.org"},
		{"SELECT email FROM both_sides WHERE what = 'c2'", "b***@x.org", "b***@x.org", "42501", "bob@x.org"},
		{"SELECT what FROM visit JOIN short USING (id) WHERE mail LIKE 'b*%'", "c2", "c2", "42501", "SELECT 0"},
		{"COPY (SELECT mail FROM short) TO STDOUT", "COPY 3", "COPY 3", "42501", "COPY 3"},
		{"UPDATE short SET mail = 'x' WHERE id = 9", "0A000", "0A000", "0A000", "UPDATE 0"},
		{"INSERT INTO short SELECT 9, 'x' WHERE false", "0A000", "0A000", "0A000", "INSERT 0 0"},
		{"SELECT min(email) FROM kept", "ann@x.org", "ann@x.org", "ann@x.org", "ann@x.org"}, // rows of its own: among the leaks
	} {
		for i, role := range []string{"mask_reader", "mask_auditor", "mask_stranger", "mask_owner"} {
			if got := setRole(t, conn, role, try[0]); got != try[i+1] {
				t.Errorf("%s: %s\ngot  %q\nwant %q", role, try[0], got, try[i+1])
			}
		}
	}
	rows(t, conn, "RESET ROLE; CREATE OR REPLACE VIEW short AS SELECT id, region AS mail FROM customer")
	rows(t, conn, "RESET ROLE; CREATE VIEW later AS SELECT email FROM customer; GRANT SELECT ON later TO mask_reader")
	want(t, conn, "SET ROLE mask_reader; SELECT email FROM later LIMIT 1", "SET\na***@x.org")
	want(t, conn, "RESET ROLE; SELECT object FROM sluice.leaks('customer') WHERE kind LIKE '%view' ORDER BY 1", "RESET\npublic.above\npublic.both_sides\npublic.kept\npublic.later\npublic.short")
	if got := setRole(t, direct, "mask_reader", "SELECT email FROM later LIMIT 1"); got != "ann@x.org" {
		t.Errorf("around the proxy the view shows %q", got)
	}
}

// TestMaskedTableRaces grants a table away while another session declares its first mask.
func TestMaskedTableRaces(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT 1 AS id")
	exec(t, w.direct, "CREATE TABLE fresh (id int, v text)", "INSERT INTO fresh VALUES (1, 'hush')")
	masking, granting, conn := connect(t, w.direct), connect(t, w.direct), connect(t, w.direct)
	pid := rows(t, granting, "SELECT pg_backend_pid()")
	want(t, masking, "BEGIN; SELECT sluice.set_column_mask('fresh', 'v', 'NULL')", "BEGIN\n")
	granted := make(chan error, 1)
	go func() {
		_, err := granting.PgConn().Exec(t.Context(), "GRANT SELECT ON fresh TO PUBLIC").ReadAll()
		granted <- err
	}()
	for ctx := timed(t); ctx.Err() == nil && rows(t, conn, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = "+pid) == "0"; {
		select {
		case err := <-granted:
			t.Fatalf("the GRANT does not wait: %v", err)
		default:
		}
	}
	want(t, masking, "COMMIT", "COMMIT")
	if err := <-granted; err != nil {
		t.Fatal(err)
	}
	want(t, conn, "SELECT relacl::text LIKE '%=r/%' FROM pg_class WHERE oid = 'fresh'::regclass", "f")
	want(t, conn, "SELECT has_table_privilege('public', 'sluice_masked.fresh', 'SELECT')", "t")
}

// TestMaskedTableWritten writes what a table with masks shows to a foreign table, and updates the extension.
func TestMaskedTableWritten(t *testing.T) {
	w := maskWorld(t)
	exec(t, w.through, "ALTER SERVER lake OPTIONS (ADD read_only 'false')", "GRANT ALL ON visit TO mask_reader", "ALTER EXTENSION sluice UPDATE")
	conn := connect(t, w.through)
	for _, try := range [][2]string{
		{"INSERT INTO visit SELECT id + 10, email FROM customer WHERE id = 1", "INSERT 0 1"},
		{"INSERT INTO visit SELECT id + 20, email FROM customer WHERE id = 1 RETURNING what", "a***@x.org"},
		{"UPDATE visit v SET what = c.email FROM customer c WHERE c.id = v.id AND c.id < 3", "UPDATE 2"},
		{"DELETE FROM visit WHERE what IN (SELECT email FROM customer WHERE id = 2)", "DELETE 1"},
		{"SELECT string_agg(what, ' ' ORDER BY id) FROM visit", "a***@x.org c3 a***@x.org a***@x.org"},
		{"WITH x AS (UPDATE customer SET region = 'z' WHERE id = 1 RETURNING id) INSERT INTO visit SELECT id, 'x' FROM x", "0A000"},
		{"SET sluice.route = remote", "SET"}, {"SELECT min(email) FROM customer", "a***@x.org"},
		{"SELECT c.email FROM visit JOIN customer c USING (id)", "0A000"}, {"RESET sluice.route", "RESET"},
	} {
		if got := setRole(t, conn, "mask_reader", try[0]); got != try[1] {
			t.Errorf("%s\ngot  %q\nwant %q", try[0], got, try[1])
		}
	}
}
