package tests

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// manifestWorld is a world with relations of all kinds, and a role that may read some.
func manifestWorld(t *testing.T, role string) *world {
	t.Helper()
	w := newWorld(t, "CREATE TABLE far AS SELECT 1 AS id, 'x' AS note")
	exec(t, w.through, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role+" LOGIN",
		"CREATE TABLE customer (id int PRIMARY KEY, name text NOT NULL UNIQUE, secret text)", "COMMENT ON TABLE customer IS 'who | buys'", "COMMENT ON COLUMN customer.name IS E'as\\nwritten'",
		"CREATE TABLE orders (id bigint PRIMARY KEY, customer int REFERENCES customer, at date)", "CREATE TABLE parted (a int, b text) PARTITION BY LIST (a)",
		"CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1)", "CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2)", "CREATE TABLE own (id int)",
		"INSERT INTO customer SELECT i, 'c' || i FROM generate_series(1, 500) i", "INSERT INTO orders SELECT i, 1 + i % 500, now() FROM generate_series(1, 3000) i",
		"INSERT INTO parted SELECT 1 + i % 2, 'x' FROM generate_series(1, 1000) i", "INSERT INTO own VALUES (1)", "ANALYZE customer, parted, own",
		"CREATE VIEW names AS SELECT name FROM customer", "CREATE MATERIALIZED VIEW days AS SELECT at, count(*) AS n FROM orders GROUP BY at",
		"CREATE FOREIGN TABLE far (id int, note text) SERVER lake", "CREATE FOREIGN TABLE farther (id int) SERVER lake OPTIONS (table_name 'far')",
		"CREATE SCHEMA closed", "CREATE TABLE closed.t (a int)", "GRANT SELECT ON closed.t TO "+role,
		"ALTER TABLE own ENABLE ROW LEVEL SECURITY", "SELECT sluice.set_row_filter('farther', '"+role+"', 'id > 1')", "SELECT sluice.set_column_mask('far', 'note', $$'***'$$)",
		"GRANT SELECT (id, name) ON customer TO "+role, "GRANT SELECT ON orders, own, far, farther, parted TO "+role, "SELECT sluice.track_statistics('orders')")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY "+role+" CASCADE", "DROP ROLE "+role) })
	return w
}

const manifestRows = `SELECT concat_ws('|', r ->> 'schema', r ->> 'name', r ->> 'kind', r ->> 'server', r ->> 'rows', r ->> 'rows_source', (r -> 'bytes')::bigint > 0,
	(SELECT string_agg(concat(c ->> 'name', CASE WHEN (c -> 'nullable')::boolean THEN '?' END, CASE WHEN (c -> 'masked')::boolean THEN '*' END), ',') FROM jsonb_array_elements(r -> 'columns') c))
	FROM jsonb_array_elements(sluice.manifest('public') -> 'relations') r`

// TestManifest has all that a role may read, and no more.
func TestManifest(t *testing.T) {
	w := manifestWorld(t, "man_reader")
	super, own := connect(t, w.through), connect(t, w.as("man_reader"))
	want(t, super, manifestRows, strings.Join([]string{
		"public|customer|table|500|estimate|t|id,name,secret?", "public|days|materialized view|1|estimate|t|at?,n?", "public|far|foreign table|lake|unknown|id?,note?",
		"public|farther|foreign table|lake|unknown|id?", "public|names|view|unknown|name?", "public|orders|table|3000|counters|t|id,customer?,at?",
		"public|own|table|1|estimate|t|id?", "public|parted|partitioned table|1000|estimate|t|a?,b?"}, "\n"))
	want(t, own, manifestRows, strings.Join([]string{
		"public|customer|table|500|estimate|t|id,name", "public|far|foreign table|lake|unknown|id?,note?*", "public|farther|foreign table|lake|hidden|id?",
		"public|orders|table|3000|counters|t|id,customer?,at?", "public|own|table|hidden|t|id?", "public|parted|partitioned table|1000|estimate|t|a?,b?"}, "\n"))
	want(t, own, "SELECT r -> 'primary_key', r -> 'unique', r -> 'foreign_keys', r ->> 'comment', r #>> '{columns,1,comment}', r ? 'changed_at', r ? 'analyzed_at' FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'name' IN ('customer', 'orders')",
		"[\"id\"]|[[\"name\"]]|NULL|who | buys|as\nwritten|f|t\n[\"id\"]|NULL|[{\"schema\": \"public\", \"columns\": [\"customer\"], \"relation\": \"customer\", \"references\": [\"id\"]}]|NULL|NULL|t|f")
	want(t, own, "SELECT sluice.manifest('nowhere')", "3F000")
	want(t, own, "SELECT sluice.manifest('closed')", "42501")
	want(t, super, "SELECT count(*) FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'schema' = 'closed'", "1")
	want(t, own, "SELECT count(*) FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'schema' <> 'public'", "0")
	exec(t, w.direct, "REVOKE SELECT (id) ON customer FROM man_reader")
	want(t, own, "SELECT r -> 'primary_key', r -> 'unique' FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'name' = 'customer'", "NULL|[[\"name\"]]")
	want(t, own, "SELECT r -> 'foreign_keys' FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'name' = 'orders'", "NULL")
}

// TestManifestReadsNoRows has home explain each statement that a manifest consists of: none looks at a user's table, or for rows
// of a server. It waits for nobody who has a table for himself.
func TestManifestReadsNoRows(t *testing.T) {
	w := manifestWorld(t, "man_quick")
	var mu sync.Mutex
	var plans strings.Builder
	config, err := pgx.ParseConfig(w.through)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		mu.Lock()
		defer mu.Unlock()
		plans.WriteString(n.Message + "\n")
	}
	conn, err := pgx.ConnectConfig(timed(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(timed(t))
	exec1(t, conn, "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_verbose = on")
	exec1(t, conn, "SET client_min_messages = log; SELECT sluice.stat_reset()")
	lock := connect(t, w.direct)
	exec1(t, lock, "BEGIN; LOCK TABLE customer")
	exec1(t, conn, "BEGIN; SET LOCAL statement_timeout = '30s'")
	for _, sql := range []string{"SELECT sluice.manifest()", "SELECT sluice.describe_for_agents()"} {
		plans.Reset()
		exec1(t, conn, sql)
		mu.Lock()
		if text := plans.String(); !strings.Contains(text, "pg_catalog.pg_constraint") || strings.Contains(text, " on public.") || strings.Contains(text, " using public.") {
			t.Errorf("%s runs\n%s", sql, text)
		}
		mu.Unlock()
	}
	want(t, conn, "SELECT sum(seq_scan) + sum(coalesce(idx_scan, 0)) FROM pg_stat_xact_user_tables WHERE schemaname IN ('public', 'closed')", "0")
	want(t, conn, "SELECT string_agg(r ->> 'name', ',') FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'kind' LIKE '%table' AND NOT r ? 'bytes' AND NOT r ? 'server'", "customer")
	want(t, conn, "SELECT count(*) FROM sluice.stat_statements WHERE database = current_database()", "0")
}

// TestDescribeForAgents says the same in Markdown, each cell on its line.
func TestDescribeForAgents(t *testing.T) {
	w := manifestWorld(t, "man_agent")
	text := rows(t, connect(t, w.as("man_agent")), "SELECT sluice.describe_for_agents()")
	for _, part := range []string{
		fmt.Sprintf("---\nname: %q\n", w.database), "\n# Database " + w.database + "\n",
		"\n## public.customer\n\nTable, about 500 rows, ", " kB. who \\| buys\n- Primary key: id\n- Unique: name\n\n| column | type | |\n|---|---|---|\n| id | integer | never NULL |\n| name | text | never NULL; as written |\n\n",
		"\n## public.far\n\nForeign table of server lake.\n\n", "| note | text | masked |", "\n## public.farther\n\nForeign table of server lake, of whose rows you see your own.\n",
		"\n## public.orders\n\nTable, 3,000 rows, ", "\n- customer refers to public.customer (id)\n", "sluice.document",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "closed") {
		t.Errorf("too much is in\n%s", text)
	}
}
