package catalog_test

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/sluicedb/sluice/catalog"
)

// oid returns the OID of a relation.
func (s *session) oid(name string) uint32 {
	s.t.Helper()
	n, err := strconv.ParseUint(s.value("SELECT '"+name+"'::regclass::oid"), 10, 32)
	if err != nil {
		s.t.Fatal(err)
	}
	return uint32(n)
}

func load(t *testing.T, s *session) *catalog.Snapshot {
	t.Helper()
	snapshot, err := catalog.Load(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func TestLoadWithoutExtension(t *testing.T) {
	s := connect(t, newDatabase(t))
	if snapshot := load(t, s); snapshot.Installed || snapshot.Mentions("anything") {
		t.Errorf("got %+v", snapshot)
	}
}

func TestLoadTables(t *testing.T) {
	s, _ := installed(t)
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '/data/a=b.duckdb', threads '2');
INSERT INTO sluice.server_option VALUES ('lake', 'threads', '4'), ('elsewhere', 'x', 'y');
CREATE FOREIGN DATA WRAPPER other; CREATE SERVER theirs FOREIGN DATA WRAPPER other; CREATE FOREIGN TABLE theirs (a int) SERVER theirs;
CREATE SCHEMA "Odd one"; CREATE TYPE public.mood AS ENUM ('glad');
CREATE FOREIGN TABLE "Odd one"."T" (
 gone int, "Id" bigint OPTIONS (column_name 'ID') NOT NULL, amount numeric(10,2) DEFAULT 1.5, tags text[] COLLATE "C",
 name text, under varchar(20) COLLATE "POSIX", feeling public.mood DEFAULT 'glad', twice int GENERATED ALWAYS AS (1 + 1) STORED
) SERVER lake OPTIONS (table_name 't', schema_name 'main');
ALTER FOREIGN TABLE "Odd one"."T" DROP COLUMN gone`)
	snapshot := load(t, s)
	if !snapshot.Installed || snapshot.Uncommitted || len(snapshot.Servers) != 1 || len(snapshot.Relations) != 1 {
		t.Fatalf("got %+v", snapshot)
	}
	r := snapshot.Relations[s.oid(`"Odd one"."T"`)]
	if r == nil {
		t.Fatal("the foreign table is missing")
	}
	server := &catalog.Server{
		OID: r.Server.OID, Name: "lake", Wrapper: "sluice_duckdb",
		Options: map[string]string{"database": "/data/a=b.duckdb", "threads": "4"},
	}
	if !reflect.DeepEqual(r.Server, server) || snapshot.Servers[server.OID] != r.Server {
		t.Errorf("server %+v", r.Server)
	}
	none := map[string]string{}
	want := []catalog.Column{
		{Num: 2, Name: "Id", Type: 20, Typmod: -1, TypeName: "bigint", NotNull: true, Options: map[string]string{"column_name": "ID"}},
		{Num: 3, Name: "amount", Type: 1700, Typmod: 655366, TypeName: "numeric(10,2)", Options: none},
		{Num: 4, Name: "tags", Type: 1009, Typmod: -1, TypeName: "text[]", Collation: 950, Collate: `pg_catalog."C"`, BytewiseC: true, Options: none},
		{Num: 5, Name: "name", Type: 25, Typmod: -1, TypeName: "text", Collation: 100, Options: none},
		{Num: 6, Name: "under", Type: 1043, Typmod: 24, TypeName: "character varying(20)", Collation: 951, Collate: `pg_catalog."POSIX"`, BytewiseC: true, Options: none},
		{Num: 7, Name: "feeling", Typmod: -1, TypeName: "public.mood", Options: none},
		{Num: 8, Name: "twice", Type: 23, Typmod: -1, TypeName: "integer", Generated: true, Options: none},
	}
	if len(r.Columns) != len(want) {
		t.Fatalf("%d columns", len(r.Columns))
	}
	want[3].BytewiseC = s.value("SELECT datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8') FROM pg_database WHERE datname = current_database()") == "t"
	want[5].Type = r.Columns[5].Type // of a type that was made just now
	for i, c := range r.Columns {
		if !reflect.DeepEqual(c, want[i]) {
			t.Errorf("column %s:\n%+v, want\n%+v", c.Name, c, want[i])
		}
	}
	if r.Schema != "Odd one" || r.Kind != 'f' || r.Owner != 10 || r.Options["table_name"] != "t" || len(r.Options) != 2 {
		t.Errorf("relation %+v", r)
	}
	if !snapshot.Mentions("T") || snapshot.Mentions("t") || snapshot.Mentions("theirs") {
		t.Error("Mentions is wrong")
	}
}

// TestLoadRestricted reads the catalog in a session that pg_dump has set up.
func TestLoadRestricted(t *testing.T) {
	s, _ := installed(t)
	const setting = "restrict_nonsystem_relation_kind"
	if s.value("SELECT count(*) FROM pg_settings WHERE name = '"+setting+"'") == "0" {
		t.Skip("this Postgres has no " + setting)
	}
	s.do("CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE ft (a int) SERVER lake; CREATE VIEW v AS TABLE ft; SET " + setting + " = 'view, foreign-table'")
	snapshot := load(t, s)
	if _, err := snapshot.Definition(t.Context(), s, snapshot.Relations[s.oid("v")]); err != nil || !snapshot.Mentions("ft") {
		t.Errorf("%+v, %v", snapshot, err)
	}
	if now := s.value("SHOW " + setting); now != "view, foreign-table" {
		t.Errorf("%s is now %q", setting, now)
	}
}

func TestLoadViews(t *testing.T) {
	s, _ := installed(t)
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE SCHEMA far; CREATE FOREIGN TABLE far.ft (a int) SERVER lake;
CREATE TABLE public.home (a int); CREATE VIEW public.plain AS SELECT a FROM home;
CREATE VIEW public.v1 WITH (security_invoker = yes) AS SELECT ft.a FROM far.ft JOIN public.home USING (a);
CREATE VIEW public.v2 AS SELECT (SELECT max(a) FROM public.v1) AS top FROM public.plain;
CREATE MATERIALIZED VIEW public.m AS SELECT * FROM public.v2 WITH NO DATA;
CREATE VIEW public.v3 AS SELECT * FROM public.m; CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT a FROM far.ft';
CREATE VIEW public.hidden AS SELECT f() AS f; SET search_path = far, public, sluice`)
	snapshot := load(t, s)
	kinds := map[string]byte{}
	for _, r := range snapshot.Relations {
		kinds[r.Name] = r.Kind
	}
	if want := map[string]byte{"ft": 'f', "v1": 'v', "v2": 'v', "v3": 'v', "m": 'm'}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("relations %v", kinds)
	}
	v := snapshot.Relations[s.oid("v1")]
	if !v.Invoker || v.Server != nil || snapshot.Relations[s.oid("v2")].Invoker {
		t.Errorf("view %+v", v)
	}
	// The definition must name everything with its schema, whatever the search path is.
	want := " SELECT ft.a\n   FROM (far.ft\n     JOIN public.home USING (a));"
	if got, err := snapshot.Definition(t.Context(), s, v); err != nil || got != want {
		t.Errorf("definition %q, %v", got, err)
	}
	s.do("DROP VIEW public.v3; ALTER TABLE public.home RENAME TO house")
	if got, err := snapshot.Definition(t.Context(), s, v); err != nil || got != want {
		t.Errorf("definition %q, %v: not kept", got, err)
	}
	for _, r := range snapshot.Relations {
		if r.Name != "v2" && r.Name != "v3" { // of another version, and dropped
			continue
		}
		if got, err := snapshot.Definition(t.Context(), s, r); err != catalog.ErrMoved {
			t.Errorf("definition of %s: %q, %v", r.Name, got, err)
		}
	}
}

func TestCatalogVersion(t *testing.T) {
	s, url := installed(t)
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE SERVER lake2 FOREIGN DATA WRAPPER sluice_duckdb;
CREATE FOREIGN DATA WRAPPER other; CREATE SERVER theirs FOREIGN DATA WRAPPER other;
CREATE TYPE mood AS ENUM ('glad'); CREATE TYPE idle AS ENUM ('no'); CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE SCHEMA app; CREATE TABLE used (a int, b int); CREATE TABLE unused (a int)`)
	listener := connect(t, url)
	listener.do("LISTEN sluice_catalog")
	for _, step := range []struct {
		sql  string
		bump bool
	}{
		{"CREATE FOREIGN TABLE ft (a int, feeling mood, n int DEFAULT one()) SERVER lake", true},
		{"CREATE FOREIGN TABLE ft2 (a int) SERVER theirs", false},
		{"CREATE VIEW v AS SELECT ft.a FROM ft JOIN used USING (a)", true},
		{"CREATE VIEW plain AS SELECT a FROM unused", false},
		{"CREATE OR REPLACE VIEW plain AS SELECT a + 0 AS a FROM unused", true}, // it might have been one of ours
		{"CREATE TABLE another (a int)", false},
		{"CREATE TEMP TABLE tmp (a int)", false},
		{"ALTER TABLE another ADD b int", false},
		{"DROP TABLE another", false},
		{"ALTER TABLE unused RENAME TO unused2", false},
		{"ALTER TABLE used RENAME TO used2", true},
		{"ALTER TABLE used2 RENAME b TO c", true},
		{"ALTER SCHEMA app RENAME TO app2", true},
		{"CREATE SCHEMA app3", false},
		{"CREATE SCHEMA app4 CREATE VIEW deep AS SELECT a FROM public.ft", true},
		{"ALTER TYPE mood RENAME TO humour", true},
		{"ALTER TYPE idle RENAME TO idler", false},
		{"ALTER FUNCTION one() RENAME TO uno", true},
		{"ALTER FOREIGN TABLE ft ADD b text", true},
		{"ALTER TABLE ft ALTER b SET NOT NULL", true},
		{"ALTER FOREIGN TABLE ft OPTIONS (ADD x 'y')", true},
		{"ALTER TABLE ft SET SCHEMA app2", true},
		{"ALTER VIEW v RENAME TO v2", true},
		{"ALTER VIEW plain RENAME TO plain2", false},
		{"ALTER SERVER lake OPTIONS (ADD x 'y')", true},
		{"ALTER SERVER theirs OPTIONS (ADD x 'y')", false},
		{"CREATE USER MAPPING FOR CURRENT_USER SERVER lake", true},
		{"ALTER USER MAPPING FOR CURRENT_USER SERVER lake OPTIONS (ADD x 'y')", true},
		{"DROP USER MAPPING FOR CURRENT_USER SERVER lake", true},
		{"COMMENT ON FOREIGN TABLE app2.ft IS 'x'", false},
		{"GRANT SELECT ON app2.ft TO PUBLIC", false},
		{"INSERT INTO sluice.server_option VALUES ('lake2', 'a', 'b')", true},
		{"DROP SERVER lake2", true},
		{"DROP FUNCTION uno() CASCADE", true}, // takes the default of ft.n
		{"DROP VIEW v2", true},
		{"DROP TABLE used2", false},
		{"DROP SCHEMA app2 CASCADE", true},
		{"DROP SERVER lake CASCADE", true},
	} {
		before := s.value("SELECT version FROM sluice.catalog_version")
		s.do(step.sql)
		after := s.value("SELECT version FROM sluice.catalog_version")
		if (after > before) != step.bump {
			t.Errorf("%s: version %s to %s", step.sql, before, after)
		}
	}
	if n := s.value("SELECT count(*) FROM sluice.server_option"); n != "0" {
		t.Errorf("%s options left of a server that is gone", n)
	}
	if err := listener.conn.WaitForNotification(t.Context()); err != nil {
		t.Errorf("no notification: %v", err)
	}
}

func TestVersionRollback(t *testing.T) {
	s, url := installed(t)
	other := connect(t, url)
	s.do("CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb")
	before := load(t, s)
	s.do("BEGIN; SAVEPOINT a; CREATE FOREIGN TABLE ft (a int) SERVER lake; RELEASE a")
	own, seen := load(t, s), load(t, other)
	if !own.Uncommitted || !own.Mentions("ft") || own.Version <= before.Version {
		t.Errorf("own snapshot %+v", own)
	}
	if seen.Uncommitted || seen.Version != before.Version {
		t.Errorf("seen by another %+v", seen)
	}
	s.do("ROLLBACK")
	if after := load(t, s); after.Version != before.Version || after.Uncommitted {
		t.Errorf("after ROLLBACK %+v", after)
	}
	s.do("CREATE FOREIGN TABLE ft2 (a int) SERVER lake")
	if after := load(t, s); after.Version <= own.Version || after.Uncommitted {
		t.Errorf("version %d was used twice or is not past %d", after.Version, own.Version)
	}
}

// TestVersionConcurrent makes changes in two transactions at once: neither waits for the other, and the version says what
// each of them, and a third, sees.
func TestVersionConcurrent(t *testing.T) {
	s, url := installed(t)
	s.do("CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE old (a int) SERVER lake; CREATE VIEW v AS TABLE old")
	other, third := connect(t, url), connect(t, url)
	before := load(t, third)
	s.do("BEGIN; CREATE FOREIGN TABLE ft (a int) SERVER lake")
	other.do("SET lock_timeout = '10s'; BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE FOREIGN TABLE ft2 (a int) SERVER lake; DROP VIEW v")
	one, two := load(t, s), load(t, other)
	if !one.Uncommitted || !two.Uncommitted || one.Mentions("ft2") || two.Mentions("ft") {
		t.Errorf("snapshots of the two: %+v, %+v", one, two)
	}
	if now := load(t, third); now.Uncommitted || now.Version != before.Version {
		t.Errorf("snapshot of a third: %+v", now)
	}
	other.do("COMMIT")
	s.do("COMMIT")
	if now := load(t, third); now.Uncommitted || !now.Mentions("ft") || !now.Mentions("ft2") || now.Version <= max(one.Version, two.Version) {
		t.Errorf("snapshot of a third behind both: %+v", now)
	}
}

// TestVersionFold makes more changes than are kept: folding them is no change, neither for others nor for the transaction
// itself.
func TestVersionFold(t *testing.T) {
	s, url := installed(t)
	other := connect(t, url)
	bump := "SELECT sluice.bump_catalog_version()"
	rows := func(s *session) int {
		n, err := strconv.Atoi(s.value("SELECT count(*) FROM sluice.catalog_change"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	other.do("BEGIN ISOLATION LEVEL REPEATABLE READ")
	seen := load(t, other)
	last := load(t, s).Version
	for range 100 {
		s.do("BEGIN; " + bump)
		now := load(t, s)
		if !now.Uncommitted || now.Version <= last {
			t.Fatalf("version %d behind %d, uncommitted %v", now.Version, last, now.Uncommitted)
		}
		s.do("COMMIT")
		if last = load(t, s).Version; last != now.Version {
			t.Fatalf("version %d, committed %d", now.Version, last)
		}
	}
	if n := rows(s); n > 33 {
		t.Errorf("%d rows are kept", n)
	}
	if now := load(t, other); now.Version != seen.Version {
		t.Errorf("version %d, was %d in the same snapshot", now.Version, seen.Version)
	}
	s.do("BEGIN")
	for range 40 { // folds, and is undone
		s.do(bump)
	}
	s.do("ROLLBACK")
	if now := load(t, s); now.Version != last || rows(s) > 33 {
		t.Errorf("version %d of %d rows, was %d", now.Version, rows(s), last)
	}
}

func TestCache(t *testing.T) {
	var c catalog.Cache
	if c.Get("a") != nil {
		t.Error("an empty cache holds something")
	}
	one, two := &catalog.Snapshot{Installed: true, Version: 1}, &catalog.Snapshot{Installed: true, Version: 2}
	c.Put("a", two)
	c.Put("a", one)
	c.Put("a", &catalog.Snapshot{Installed: true, Version: 3, Uncommitted: true})
	c.Put("a", nil)
	c.Put("b", &catalog.Snapshot{})
	if c.Get("a") != two || c.Get("b") != nil {
		t.Errorf("got %v and %v", c.Get("a"), c.Get("b"))
	}
	c.Put("a", &catalog.Snapshot{})
	if c.Get("a") != nil {
		t.Error("the extension is gone and its snapshot is not")
	}
	c.Put("a", one)
	c.Invalidate("a")
	if c.Get("a") != nil {
		t.Error("Invalidate did nothing")
	}
}

// A DBA who is no superuser declares servers and tables: the bookkeeping must not stand in the way, whatever is taken
// from PUBLIC by default.
func TestVersionForOthers(t *testing.T) {
	url := newDatabase(t)
	s := connect(t, url)
	s.do("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; BEGIN")
	if _, _, err := catalog.Install(t.Context(), s, catalog.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	s.do("COMMIT")
	role(t, s, url, "lake_dba")
	s.do(`GRANT USAGE ON FOREIGN DATA WRAPPER sluice_duckdb TO lake_dba; CREATE SCHEMA lakes AUTHORIZATION lake_dba; SET ROLE lake_dba;
SET search_path = lakes`)
	for _, sql := range []string{
		"CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database 'x')", "CREATE FOREIGN TABLE ft (a int) SERVER lake",
		"CREATE VIEW v AS TABLE ft", "ALTER FOREIGN TABLE ft RENAME TO ft2", "DROP VIEW v", "DROP SERVER lake CASCADE",
	} {
		before := load(t, s)
		s.do(sql)
		if after := load(t, s); after.Version <= before.Version {
			t.Errorf("%s: version is still %d", sql, after.Version)
		}
	}
	s.do("TABLE sluice.servers; SELECT count(*) FROM sluice_cat.tables; SELECT count(*) FROM sluice_cat.columns")
	s.do("RESET ROLE; CREATE TABLE lakes.t (a int); SELECT sluice.track_statistics('lakes.t'); GRANT SELECT ON lakes.t TO lake_dba; SET ROLE lake_dba")
	if got := s.value("SELECT sluice.table_count('t') + sluice.exact_count('t') + count(*) FROM sluice.table_counts"); got != "1" {
		t.Errorf("counts: %s", got)
	}
}

// A superuser may also take the schema away by hand.
func TestSchemaDroppedByHand(t *testing.T) {
	s, _ := installed(t)
	s.do("CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE ft (a int) SERVER lake; DROP SCHEMA sluice CASCADE; DROP FOREIGN TABLE ft")
	if snapshot := load(t, s); snapshot.Installed {
		t.Errorf("got %+v", snapshot)
	}
	if _, _, err := catalog.Resolve(t.Context(), s, nil); !catalog.NotInstalled(err) {
		t.Errorf("got %v", err)
	}
}
