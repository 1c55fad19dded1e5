package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
)

func TestResolve(t *testing.T) {
	s, _ := installed(t)
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE SCHEMA "S.1"; CREATE FOREIGN TABLE "S.1"."T""x" (a int) SERVER lake;
CREATE TABLE t (a int); CREATE VIEW v AS SELECT 1; CREATE TEMP TABLE t (b int); SET search_path = "S.1", public;
SET statement_timeout = '90s'; SET lock_timeout = 250; SET "sluice.route" = 'home'; SET sluice.on_full_scan = error; SET timezone = 'Asia/Tokyo'; SET datestyle = 'SQL, DMY'; SET client_encoding = 'LATIN1'`)
	names := []catalog.Name{
		{Name: `T"x`},
		{Name: `t"x`},
		{Schema: "S.1", Name: `T"x`},
		{Schema: "public", Name: "t"},
		{Name: "t"},
		{Name: "v"},
		{Schema: "nowhere", Name: "t"},
		{Name: ""},
		{Schema: `a\`, Name: "{,}"},
	}
	got, facts, err := catalog.Resolve(t.Context(), s, names)
	if err != nil {
		t.Fatal(err)
	}
	ft := s.oid(`"S.1"."T""x"`)
	want := []uint32{ft, 0, ft, s.oid("public.t"), s.oid("pg_temp.t"), s.oid("v"), 0, 0, 0}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	expected := &catalog.Facts{
		Version: load(t, s).Version, User: 10, SearchPath: s.value("SELECT current_schemas(true)"),
		StatementTimeout: 90 * time.Second, LockTimeout: 250 * time.Millisecond, ByteaOutput: "hex", ExtraFloatDigits: 1,
		TimeZone: "Asia/Tokyo", DateStyle: "SQL, DMY", IntervalStyle: "postgres", ClientEncoding: "LATIN1", Route: "home", OnFullScan: "error",
	}
	if !reflect.DeepEqual(facts, expected) {
		t.Errorf("facts %+v", facts)
	}
	for _, c := range [][2]string{{"lake", "t"}, {"nowhere", ""}} {
		s.do("SET sluice.federation_server = " + c[0])
		if _, facts, err = catalog.Resolve(t.Context(), s, nil); err != nil || facts.FederationServer != c[0] || facts.Federates != c[1] {
			t.Errorf("%v: %+v, %v", c, facts, err)
		}
	}
	s.do("RESET \"sluice.route\"; RESET statement_timeout; BEGIN READ ONLY")
	got, facts, err = catalog.Resolve(t.Context(), s, nil)
	if err != nil || len(got) != 0 || !facts.ReadOnly || facts.Route != "" || facts.StatementTimeout != 0 {
		t.Errorf("without names: %v, %+v, %v", got, facts, err)
	}
}

func TestNotInstalled(t *testing.T) {
	s := connect(t, newDatabase(t))
	if _, _, err := catalog.Resolve(t.Context(), s, nil); !catalog.NotInstalled(err) {
		t.Errorf("got %v", err)
	}
	if catalog.NotInstalled(s.try("SELECT * FROM nowhere")) || catalog.NotInstalled(nil) {
		t.Error("other errors are taken for it")
	}
}

// A client must not be able to talk its way past the privilege check by operators and functions of its own.
func TestPrivilegesUnderHostilePath(t *testing.T) {
	s, url := installed(t)
	role(t, s, url, "hostile")
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE public.ft (a int) SERVER lake;
CREATE SCHEMA evil; GRANT ALL ON SCHEMA evil TO hostile; GRANT USAGE ON SCHEMA public TO hostile; SET ROLE hostile; SET search_path = evil, pg_catalog, public;
CREATE FUNCTION evil.yes(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.yes(oid, oid) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.yes(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION evil.yes(smallint, smallint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.yes); CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.yes);
CREATE OPERATOR evil.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = evil.yes); CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.yes);
CREATE OPERATOR evil.= (LEFTARG = smallint, RIGHTARG = smallint, FUNCTION = evil.yes); CREATE OPERATOR evil.<> (LEFTARG = smallint, RIGHTARG = smallint, FUNCTION = evil.yes);
CREATE FUNCTION evil.has_table_privilege(oid, oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE DOMAIN evil.text AS pg_catalog.text; CREATE DOMAIN evil.oid AS pg_catalog.oid; CREATE DOMAIN evil.int2 AS pg_catalog.int2`)
	for _, columns := range [][]int16{nil, {1}, {catalog.WholeRow}} {
		err := catalog.CheckPrivileges(t.Context(), s, []catalog.Privilege{{OID: s.oid("public.ft"), Name: "SELECT", Columns: columns}})
		if code(err) != "42501" {
			t.Errorf("columns %v: %v", columns, err)
		}
	}
	if snapshot := load(t, s); !snapshot.Installed || !snapshot.Mentions("ft") {
		t.Errorf("snapshot %+v", snapshot)
	}
}

// role makes a role that goes with the test.
func role(t *testing.T, s *session, url, name string) {
	t.Helper()
	s.do("CREATE ROLE " + name)
	t.Cleanup(func() {
		c := connect(t, url)
		c.do("DROP OWNED BY " + name + " CASCADE")
		c.do("DROP ROLE " + name)
	})
}

// Postgres itself says, on a plain table with the same grants, what CheckPrivileges must say of a foreign table.
func TestCheckPrivileges(t *testing.T) {
	s, url := installed(t)
	role(t, s, url, "reader")
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE SCHEMA shut; CREATE SCHEMA open; GRANT USAGE ON SCHEMA open TO reader;
CREATE FOREIGN TABLE open.t (a int, b int, c int) SERVER lake; CREATE FOREIGN TABLE shut.t (a int, b int, c int) SERVER lake;
CREATE SCHEMA n_shut; CREATE SCHEMA n_open; GRANT USAGE ON SCHEMA n_open TO reader;
CREATE TABLE n_open.t (a int, b int, c int); CREATE TABLE n_shut.t (a int, b int, c int)`)
	grants := []string{"", "SELECT", "SELECT (a)", "SELECT (a, b)", "SELECT (a, b, c)", "INSERT (a)", "UPDATE (b), SELECT (a)", "DELETE", "ALL"}
	statements := []struct {
		sql  string
		need []catalog.Privilege
	}{
		{"SELECT count(*) FROM %s", []catalog.Privilege{{Name: "SELECT"}}},
		{"SELECT a FROM %s", []catalog.Privilege{{Name: "SELECT", Columns: []int16{1}}}},
		{"SELECT a FROM %s WHERE b = 1", []catalog.Privilege{{Name: "SELECT", Columns: []int16{1, 2}}}},
		{"SELECT t FROM %s t", []catalog.Privilege{{Name: "SELECT", Columns: []int16{catalog.WholeRow}}}},
		{"SELECT a, ctid FROM %s", []catalog.Privilege{{Name: "SELECT", Columns: []int16{1, -1}}}},
		{"INSERT INTO %s (a) VALUES (1)", []catalog.Privilege{{Name: "INSERT", Columns: []int16{1}}}},
		{"INSERT INTO %s DEFAULT VALUES", []catalog.Privilege{{Name: "INSERT"}}},
		{"UPDATE %s SET b = a", []catalog.Privilege{{Name: "SELECT", Columns: []int16{1}}, {Name: "update", Columns: []int16{2}}}},
		{"DELETE FROM %s", []catalog.Privilege{{Name: "DELETE"}}},
		{"TRUNCATE %s", []catalog.Privilege{{Name: "TRUNCATE"}}},
	}
	for _, grant := range grants {
		for _, schema := range []string{"open", "shut"} {
			foreign, native := schema+".t", "n_"+schema+".t"
			for _, table := range []string{foreign, native} {
				s.do("REVOKE ALL ON " + table + " FROM reader")
				if grant != "" {
					s.do("GRANT " + grant + " ON " + table + " TO reader")
				}
			}
			oid := s.oid(foreign)
			s.do("SET ROLE reader")
			for _, st := range statements {
				want := s.try(fmt.Sprintf("EXPLAIN "+st.sql, native))
				if strings.HasPrefix(st.sql, "TRUNCATE") {
					want = s.try("BEGIN; " + fmt.Sprintf(st.sql, native) + "; ROLLBACK")
					s.do("ROLLBACK")
				}
				for i := range st.need {
					st.need[i].OID, st.need[i].Named = oid, true
				}
				got := catalog.CheckPrivileges(t.Context(), s, st.need)
				if told(got) != strings.NewReplacer("table", "foreign table", "schema n_", "schema ").Replace(told(want)) {
					t.Errorf("grant %q, %s on %s: got %q, Postgres says %q", grant, st.sql, foreign, told(got), told(want))
				}
			}
			s.do("RESET ROLE")
		}
	}
}

// told is an error's code and message.
func told(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code + " " + pe.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestCheckPrivilegesOfOthers(t *testing.T) {
	s, url := installed(t)
	role(t, s, url, "owner_of_view")
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE ft (a int) SERVER lake; CREATE VIEW v AS TABLE ft;
CREATE MATERIALIZED VIEW m AS TABLE ft WITH NO DATA`)
	ctx := t.Context()
	var owner uint32
	if _, err := fmt.Sscan(s.value("SELECT 'owner_of_view'::regrole::oid"), &owner); err != nil {
		t.Fatal(err)
	}
	all := []catalog.Privilege{{OID: s.oid("ft"), Name: "SELECT"}, {OID: s.oid("v"), Name: "SELECT"}, {OID: s.oid("m"), Name: "SELECT"}}
	if err := catalog.CheckPrivileges(ctx, s, all); err != nil {
		t.Errorf("a superuser is refused: %v", err)
	}
	for i, want := range []string{
		"42501 permission denied for foreign table ft", "42501 permission denied for view v", "42501 permission denied for materialized view m",
	} {
		all[i].Role = owner
		if err := catalog.CheckPrivileges(ctx, s, all); told(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
		all[i].Role = 0
	}
	// The owner of a view is looked up at the moment: REASSIGN OWNED changes it unseen.
	s.do("ALTER VIEW v OWNER TO owner_of_view")
	inView := []catalog.Privilege{{OID: s.oid("ft"), Name: "SELECT", View: s.oid("v"), Role: owner}}
	if err := catalog.CheckPrivileges(ctx, s, inView); told(err) != "42501 permission denied for foreign table ft" {
		t.Errorf("got %v", err)
	}
	s.do("REASSIGN OWNED BY owner_of_view TO postgres")
	if err := catalog.CheckPrivileges(ctx, s, inView); err != nil {
		t.Errorf("got %v", err)
	}
	inView[0].View = 4000000000
	if err := catalog.CheckPrivileges(ctx, s, inView); code(err) != "42501" {
		t.Errorf("a view that is gone grants: %v", err)
	}
	gone := []catalog.Privilege{all[0], {OID: 4000000000, Name: "SELECT"}}
	if err := catalog.CheckPrivileges(ctx, s, gone); told(err) != "42P01 relation with OID 4000000000 does not exist" {
		t.Errorf("got %v", err)
	}
	if err := catalog.CheckPrivileges(ctx, nil, nil); err != nil {
		t.Errorf("nothing needed: %v", err)
	}
}

func TestGetAuth(t *testing.T) {
	s, url := installed(t)
	for name, attributes := range map[string]string{
		"auth_plain": "LOGIN PASSWORD 'x'", "auth_nologin": "NOLOGIN PASSWORD 'x'", "auth_super": "LOGIN SUPERUSER PASSWORD 'x'",
		"auth_expired": "LOGIN PASSWORD 'x' VALID UNTIL '2001-01-01'", "auth_later": "LOGIN PASSWORD 'x' VALID UNTIL '2999-01-01'",
	} {
		role(t, s, url, name)
		s.do("ALTER ROLE " + name + " " + attributes)
	}
	got := s.value(`SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_roles WHERE sluice.get_auth(rolname) LIKE 'SCRAM-SHA-256$%'`)
	if got != "auth_later auth_plain" {
		t.Errorf("verifiers for %q", got)
	}
	s.do("SET ROLE auth_plain")
	for _, call := range []string{
		"sluice.get_auth('auth_plain')", "sluice.bump_catalog_version()", "sluice.user_mapping(1, 1)", "sluice.concerns(1, 1, '')",
	} {
		if err := s.try("SELECT " + call); code(err) != "42501" {
			t.Errorf("%s as anybody: %v", call, err)
		}
	}
	for _, table := range []string{"sluice.servers", "sluice.relations", "sluice.catalog_version", "sluice.catalog_change", "sluice.server_option", "sluice.schema_migrations"} {
		s.do("TABLE " + table)
		if err := s.try("DELETE FROM " + table); err == nil {
			t.Errorf("anybody may write %s", table)
		}
	}
}

func TestMapping(t *testing.T) {
	s, url := installed(t)
	role(t, s, url, "mapped")
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (password 'x', token 'env:T', a 'b');
CREATE USER MAPPING FOR PUBLIC SERVER lake OPTIONS ("user" 'all', password 'env:ALL'); CREATE USER MAPPING FOR mapped SERVER lake OPTIONS ("user" 'me')`)
	ctx := context.Background()
	var server, mapped uint32
	if _, err := fmt.Sscan(s.value("SELECT oid FROM pg_foreign_server"), &server); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(s.value("SELECT 'mapped'::regrole::oid"), &mapped); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		role uint32
		want catalog.Mapping
	}{
		{mapped, catalog.Mapping{Role: "mapped", Known: true, Options: map[string]string{"user": "me"}}},
		{10, catalog.Mapping{Role: s.value("SELECT rolname FROM pg_roles WHERE oid = 10"), Trusted: true, Known: true,
			Options: map[string]string{"user": "all", "password": "env:ALL"}}},
	} {
		rows, err := s.Query(ctx, catalog.MappingSQL, fmt.Sprint(server), fmt.Sprint(c.role))
		if err != nil || len(rows) != 1 {
			t.Fatalf("role %d: %v, %v", c.role, rows, err)
		}
		var row [][]byte
		for _, v := range rows[0] {
			row = append(row, []byte(*v))
		}
		if got, err := catalog.ReadMapping(row); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("role %d: %+v, %v", c.role, got, err)
		}
	}
	if _, err := catalog.ReadMapping(nil); err == nil {
		t.Error("no server has a mapping")
	}
	if got := s.value("SELECT options FROM sluice.servers"); got != `{"a": "b", "token": "env:T", "password": "********"}` {
		t.Errorf("sluice.servers shows %s", got)
	}
}
