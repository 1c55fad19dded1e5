package tests

import (
	osexec "os/exec"
	"strings"
	"testing"
)

// psql runs psql on a URL with the commands given and returns all that it prints.
func psql(t *testing.T, url string, commands ...string) string {
	t.Helper()
	args := []string{"-X", "-v", "ON_ERROR_STOP=0", "-P", "pager=off", url}
	for _, c := range commands {
		args = append(args, "-c", c)
	}
	cmd := osexec.CommandContext(timed(t), "psql", args...)
	cmd.Env = append(cmd.Environ(), "PGOPTIONS=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if _, ok := err.(*osexec.ExitError); err != nil && !ok {
		t.Fatalf("psql: %v", err)
	}
	return string(out)
}

// TestPsqlDescribes runs psql's describe commands through the proxy and around it: home's answer is the right one.
func TestPsqlDescribes(t *testing.T) {
	w := newWorld(t, "CREATE TABLE orders AS SELECT 1 AS id, 'x' AS note")
	exec(t, w.through, "CREATE FOREIGN TABLE orders (id int NOT NULL, note varchar(20) OPTIONS (column_name 'note') DEFAULT 'd') SERVER lake OPTIONS (table_name 'orders')",
		"COMMENT ON FOREIGN TABLE orders IS 'what was ordered'", "CREATE TABLE plain (a int PRIMARY KEY, b text)", "CREATE VIEW seen AS SELECT id FROM orders",
		"CREATE VIEW both_sides AS SELECT o.id, p.b FROM orders o JOIN plain p ON p.a = o.id", "GRANT SELECT ON orders TO PUBLIC", "CREATE USER MAPPING FOR PUBLIC SERVER lake")
	for _, c := range []string{`\d`, `\d+`, `\dE`, `\dE+`, `\det`, `\det+`, `\des`, `\des+`, `\dew`, `\dew+`, `\deu+`, `\dt`, `\dt+`, `\dv+`, `\d orders`, `\d+ orders`,
		`\d plain`, `\d+ seen`, `\d+ both_sides`, `\dp`, `\dp orders`, `\dn+`, `\df`, `\di`, `\ds`, `\dx`, `\l`, `\dd`, `\dT`, `\sv seen`, `\d nope`, `\d ord*`, `\dt *.orders`, `\dE *.*`,
		`\z`, `\dX`, `\ddp`, `\drg`, `\dRp`, `\dP+`, `\dconfig work_mem`, `\dC`, `\dm`, `\d+ pg_class`} {
		through, direct := psql(t, w.through, c), psql(t, w.direct, c)
		if through != direct {
			t.Errorf("%s through the proxy:\n%s\nat home:\n%s", c, through, direct)
		}
		if strings.Contains(through, "ERROR") && !strings.Contains(through, "daticulocale") { // \l of a psql before 17 asks later homes for it
			t.Errorf("%s: %s", c, through)
		}
	}
}

// TestPsqlSession types what a person would.
func TestPsqlSession(t *testing.T) {
	w := newWorld(t, "CREATE TABLE orders AS SELECT i::INTEGER AS id, i % 3 AS g FROM range(100) r(i)")
	cmd := osexec.CommandContext(timed(t), "psql", "-X", w.through)
	cmd.Stdin = strings.NewReader("IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO public;\nSELECT count(*) FROM orders;\n" +
		"\\copy (SELECT id FROM orders ORDER BY id LIMIT 3) TO STDOUT\nSELECT g, count(*) FROM orders GROUP BY g ORDER BY g;\n" +
		"SELECT id, g FROM orders \\gdesc\nSELECT nope FROM orders;\nSELECT max(id) AS top FROM orders \\gset\n\\echo top is :top\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("psql: %v", err)
	}
	for _, part := range []string{"IMPORT FOREIGN SCHEMA", " count \n-------\n   100\n(1 row)", "\n0\n1\n2\n", " 0 |    34\n 1 |    33\n 2 |    33\n",
		" id     | integer\n g      | bigint", "column \"nope\" does not exist\nLINE 1: SELECT nope FROM orders;\n               ^", "top is 99"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("psql did not print %q:\n%s", part, out)
		}
	}
	cmd = osexec.CommandContext(timed(t), "psql", "-X", "-At", w.through)
	cmd.Stdin = strings.NewReader("\\set FETCH_COUNT 7\nSELECT id FROM orders ORDER BY id;\n")
	fetched, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(fetched), "0\n1\n2\n") || !strings.Contains(string(fetched), "\n98\n99\n") {
		t.Errorf("FETCH_COUNT: %v\n%.200s", err, fetched)
	}
}

// TestInformationSchema selects its views whole (they call a handler that foreign tables of ours do not have).
func TestInformationSchema(t *testing.T) {
	w := newWorld(t, "CREATE TABLE orders AS SELECT 1 AS id, 'x' AS note")
	exec(t, w.through, "CREATE FOREIGN TABLE orders (id int, note varchar(20)) SERVER lake", "CREATE TABLE plain (id int PRIMARY KEY, note varchar(20))",
		"CREATE VIEW seen AS SELECT id FROM orders", "CREATE VIEW home_view AS SELECT id FROM plain")
	conn := connect(t, w.through)
	want(t, conn, "SELECT table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
		"home_view|VIEW|YES\norders|FOREIGN|NO\nplain|BASE TABLE|YES\nseen|VIEW|NO")
	for _, sql := range []string{"SELECT * FROM information_schema.tables", "SELECT * FROM information_schema.columns", "SELECT * FROM information_schema.views", "TABLE information_schema.tables",
		"SELECT count(*) FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)", "SELECT t.* FROM information_schema.tables AS t WHERE t.table_schema NOT IN ('pg_catalog')",
		`SELECT * FROM "information_schema"."tables"`, "WITH x AS (SELECT * FROM information_schema.columns) SELECT count(*) FROM x", "SELECT pg_relation_is_updatable(oid, true) FROM pg_class WHERE relkind IN ('r', 'v', 'f', 'm', 'p')",
		"SELECT pg_catalog.pg_column_is_updatable(attrelid, attnum, false) FROM pg_attribute WHERE attrelid = 'orders'::regclass", "SELECT * FROM INFORMATION_SCHEMA.TABLES", "SELECT * FROM information_schema.foreign_tables", "SELECT * FROM information_schema.foreign_servers",
		"SELECT * FROM information_schema.table_privileges", "SELECT * FROM information_schema.column_privileges LIMIT 10", "SELECT * FROM information_schema.foreign_table_options", "SELECT is_updatable FROM information_schema.columns WHERE table_name = 'orders'"} {
		if _, err := conn.PgConn().Exec(timed(t), sql).ReadAll(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		if r := conn.PgConn().ExecParams(timed(t), sql, nil, nil, nil, nil).Read(); r.Err != nil {
			t.Errorf("%s in the extended protocol: %v", sql, r.Err)
		}
	}
	want(t, conn, "SET search_path = information_schema, public; SELECT count(*) FROM tables WHERE table_name = 'orders'", "SET\n1")
	want(t, conn, "SELECT column_name, data_type, character_maximum_length, is_updatable FROM information_schema.columns WHERE table_name = 'orders' ORDER BY ordinal_position",
		"id|integer|NULL|NO\nnote|character varying|20|NO")
}
