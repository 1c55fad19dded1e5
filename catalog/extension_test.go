package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/golang-migrate/migrate/v4"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
)

// run runs CREATE, ALTER or DROP EXTENSION in a transaction of its own, as the proxy's session does.
func (s *session) run(sql string) (tag string, notices []*pgconn.PgError, err error) {
	s.t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		s.t.Fatal(err)
	}
	command := catalog.Extension(tree.Stmts[0].Stmt)
	if command == nil {
		s.t.Fatalf("%s: not recognised", sql)
	}
	s.do("BEGIN")
	tag, notices, err = command(s.t.Context(), s)
	if err != nil {
		s.do("ROLLBACK")
	} else {
		s.do("COMMIT")
	}
	return tag, notices, err
}

// inventory lists what a user can create and we might leave behind.
const inventory = `SELECT string_agg(x, E'\n' ORDER BY x) FROM (
 SELECT nspname::text x FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp' UNION ALL SELECT fdwname FROM pg_foreign_data_wrapper
 UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE oid >= 16384 UNION ALL SELECT evtname FROM pg_event_trigger
 UNION ALL SELECT oid::regclass::text FROM pg_class WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace UNION ALL SELECT oid::regtype::text FROM pg_type WHERE oid >= 16384) i`

func TestExtensionRoundTrip(t *testing.T) {
	s := connect(t, newDatabase(t))
	before := s.value(inventory)
	steps := []struct{ sql, tag, code, message string }{
		{"DROP EXTENSION sluice", "", "42704", `extension "sluice" does not exist`},
		{"DROP EXTENSION IF EXISTS sluice", "DROP EXTENSION", "", `extension "sluice" does not exist, skipping`},
		{"ALTER EXTENSION sluice UPDATE", "", "42704", `extension "sluice" does not exist`},
		{"CREATE EXTENSION sluice SCHEMA public", "", "0A000", `extension "sluice" must be installed in schema "sluice"`},
		{"CREATE EXTENSION sluice VERSION 'x'", "", "22023",
			`extension "sluice" has no installation script nor update path for version "x"`},
		{"CREATE EXTENSION sluice", "CREATE EXTENSION", "", ""},
		{"CREATE EXTENSION sluice", "", "42710", `extension "sluice" already exists`},
		{"CREATE EXTENSION IF NOT EXISTS sluice", "CREATE EXTENSION", "", `extension "sluice" already exists, skipping`},
		{"ALTER EXTENSION sluice UPDATE", "ALTER EXTENSION", "", `version "1" of extension "sluice" is already installed`},
		{"DROP EXTENSION sluice", "DROP EXTENSION", "", ""},
		{"CREATE EXTENSION sluice SCHEMA sluice", "CREATE EXTENSION", "", ""},
		{"DROP EXTENSION sluice", "DROP EXTENSION", "", ""},
	}
	for _, step := range steps {
		tag, notices, err := s.run(step.sql)
		message := ""
		for _, n := range notices {
			message += n.Message
		}
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			message = pe.Message
		}
		if tag != step.tag || code(err) != step.code || message != step.message {
			t.Errorf("%s: tag %q, code %q, message %q", step.sql, tag, code(err), message)
		}
	}
	if after := s.value(inventory); after != before {
		t.Errorf("left behind:\n%s\nwas:\n%s", after, before)
	}
}

func TestInstallInTransaction(t *testing.T) {
	url := newDatabase(t)
	s := connect(t, url)
	before := s.value(inventory)
	s.do(`SET search_path = public; SET quote_all_identifiers = on; BEGIN; SET LOCAL standard_conforming_strings = off;
CREATE TABLE mine (a int)`)
	if _, _, err := catalog.Install(t.Context(), s, catalog.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	if path := s.value("SHOW search_path"); path != "public" {
		t.Errorf("search_path is %q after the install", path)
	}
	if v := s.value("SHOW standard_conforming_strings"); v != "off" {
		t.Errorf("standard_conforming_strings is %q after the install", v)
	}
	own, err := catalog.Load(t.Context(), s)
	if err != nil || !own.Installed || !own.Uncommitted {
		t.Errorf("own snapshot: %+v, %v", own, err)
	}
	if other, err := catalog.Load(t.Context(), connect(t, url)); err != nil || other.Installed {
		t.Errorf("another session sees an install that is not committed: %+v, %v", other, err)
	}
	s.do("ROLLBACK")
	if after := s.value(inventory); after != before {
		t.Errorf("left behind by ROLLBACK:\n%s", after)
	}
}

func TestInstallOutsideTransaction(t *testing.T) {
	s := connect(t, newDatabase(t))
	before := s.value(inventory)
	if _, _, err := catalog.Install(t.Context(), s, catalog.InstallOptions{}); code(err) != "XX000" {
		t.Errorf("got %v", err)
	}
	if after := s.value(inventory); after != before {
		t.Errorf("half an install:\n%s", after)
	}
}

func TestInstallPrivileges(t *testing.T) {
	s, url := installed(t)
	s.do("CREATE ROLE ext_dba; GRANT CREATE ON DATABASE " + s.value("SELECT quote_ident(current_database())") + " TO ext_dba")
	t.Cleanup(func() { connect(t, hometestURL(t)).do("DROP ROLE ext_dba") })
	t.Cleanup(func() { connect(t, url).do("DROP OWNED BY ext_dba CASCADE") })
	s.do("SET ROLE ext_dba")
	for sql, want := range map[string]string{
		"CREATE EXTENSION sluice":       "42710",
		"ALTER EXTENSION sluice UPDATE": "42501",
		"DROP EXTENSION sluice":         "42501",
	} {
		if _, _, err := s.run(sql); code(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
	s.do("RESET ROLE")
	if _, _, err := s.run("DROP EXTENSION sluice"); err != nil {
		t.Fatal(err)
	}
	s.do("SET ROLE ext_dba")
	_, _, err := s.run("CREATE EXTENSION sluice")
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "42501" || pe.Message != `permission denied to create extension "sluice"` ||
		pe.Hint != "Must be superuser to create this extension." {
		t.Errorf("got %#v", err)
	}

	// A schema that looks like ours must not be believed, nor built on.
	s.do(`CREATE SCHEMA sluice; CREATE TABLE sluice.schema_migrations AS SELECT 1 AS version, false AS dirty;
CREATE FUNCTION sluice.snapshot() RETURNS json LANGUAGE sql AS $$ SELECT '{"version":9}'::json $$; RESET ROLE`)
	if snapshot, err := catalog.Load(t.Context(), s); err != nil || snapshot.Installed {
		t.Errorf("a user's schema was believed: %+v, %v", snapshot, err)
	}
	if _, _, err := s.run("CREATE EXTENSION sluice"); code(err) != "42P06" {
		t.Errorf("installed into a user's schema: %v", err)
	}
	if _, _, err := s.run("ALTER EXTENSION sluice UPDATE"); code(err) != "42704" {
		t.Errorf("updated a user's schema: %v", err)
	}
}

func TestDropDependents(t *testing.T) {
	s, _ := installed(t)
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb;
CREATE FOREIGN TABLE ft (a int DEFAULT 1) SERVER lake;
CREATE USER MAPPING FOR PUBLIC SERVER lake;
CREATE VIEW v AS SELECT a FROM ft;
CREATE VIEW w AS SELECT name FROM sluice.servers`)
	_, _, err := s.run("DROP EXTENSION sluice")
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "2BP01" {
		t.Fatalf("got %v", err)
	}
	if pe.Message != "cannot drop extension sluice because other objects depend on it" ||
		pe.Hint != "Use DROP ... CASCADE to drop the dependent objects too." {
		t.Errorf("message %q, hint %q", pe.Message, pe.Hint)
	}
	lines := []string{
		"view w depends on view sluice.servers", "server lake depends on foreign-data wrapper sluice_duckdb",
		"foreign table ft depends on server lake", "view v depends on foreign table ft",
		"user mapping for public on server lake depends on server lake",
	}
	for _, want := range lines {
		if !strings.Contains(pe.Detail, want) {
			t.Errorf("detail lacks %q", want)
		}
	}
	if n := strings.Count(pe.Detail, "\n") + 1; n != len(lines) {
		t.Errorf("detail has %d lines:\n%s", n, pe.Detail)
	}
	_, notices, err := s.run("DROP EXTENSION sluice CASCADE")
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) != 1 || notices[0].Message != "drop cascades to 5 other objects" {
		t.Errorf("notices: %+v", notices)
	}
	if n := s.value("SELECT count(*) FROM pg_class WHERE relname IN ('ft', 'v', 'w')"); n != "0" {
		t.Errorf("%s relations left", n)
	}
}

// The messages about what depends must read as Postgres' own for an extension with the same objects.
func TestDropReportsLikePostgres(t *testing.T) {
	const objects = `CREATE SERVER s1 FOREIGN DATA WRAPPER %; CREATE FOREIGN TABLE f1 (a int) SERVER s1;
CREATE SERVER s2 FOREIGN DATA WRAPPER %; CREATE USER MAPPING FOR CURRENT_USER SERVER s1;
CREATE VIEW v1 AS TABLE f1; CREATE FOREIGN TABLE f2 (b text) SERVER s2; CREATE MATERIALIZED VIEW m1 AS TABLE v1 WITH NO DATA`
	native := connect(t, newDatabase(t))
	native.do("CREATE FOREIGN DATA WRAPPER sluice_duckdb;" + strings.ReplaceAll(objects, "%", "sluice_duckdb"))
	var want *pgconn.PgError
	if err := native.try("DROP FOREIGN DATA WRAPPER sluice_duckdb"); !errors.As(err, &want) {
		t.Fatal(err)
	}
	s, _ := installed(t)
	s.do(strings.ReplaceAll(objects, "%", "sluice_duckdb"))
	_, _, err := s.run("DROP EXTENSION sluice")
	var got *pgconn.PgError
	if !errors.As(err, &got) || got.Code != want.Code || got.Detail != want.Detail || got.Hint != want.Hint {
		t.Errorf("got %v\n%s\nPostgres says\n%s", err, got.Detail, want.Detail)
	}
}

func TestMigrationsUpDownUp(t *testing.T) {
	s := connect(t, newDatabase(t))
	m, err := catalog.NewMigrate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	empty := s.value(inventory)
	s.do("BEGIN")
	if err := m.Up(); err != nil {
		t.Fatal(err)
	}
	up := s.value(inventory)
	if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
		t.Errorf("second up: %v", err)
	}
	if err := m.Down(); err != nil {
		t.Fatal(err)
	}
	s.do("DROP SCHEMA sluice CASCADE")
	if down := s.value(inventory); down != empty {
		t.Errorf("left behind by down:\n%s", down)
	}
	if err := m.Up(); err != nil {
		t.Fatal(err)
	}
	if again := s.value(inventory); again != up {
		t.Errorf("up after down differs:\n%s\nfirst:\n%s", again, up)
	}
	s.do("ROLLBACK")
}

func TestExtensionRecognises(t *testing.T) {
	for sql, want := range map[string]bool{
		"CREATE EXTENSION hstore":            false,
		"CREATE EXTENSION \"Sluice\"":        false,
		"DROP EXTENSION hstore":              false,
		"DROP TABLE sluice":                  false,
		"DROP EXTENSION hstore, sluice":      true,
		"ALTER EXTENSION hstore UPDATE":      false,
		"ALTER EXTENSION sluice UPDATE":      true,
		"ALTER EXTENSION sluice ADD TABLE t": false,
		"SELECT 1":                           false,
	} {
		tree, err := pg_query.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if got := catalog.Extension(tree.Stmts[0].Stmt) != nil; got != want {
			t.Errorf("%s: %t", sql, got)
		}
	}
}
