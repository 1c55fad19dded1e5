package tests

import (
	"strings"
	"testing"
)

// TestAdminWithoutAuthorisation tries what only an administrator may, as a role that may log in and no more.
func TestAdminWithoutAuthorisation(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	exec(t, w.through, "CREATE FOREIGN TABLE t (a int) SERVER lake", "ALTER TABLE t ENABLE ROW LEVEL SECURITY", "CREATE POLICY positive ON t USING (a > 0)",
		"SELECT sluice.set_column_mask('t', 'a', '0')")
	exec(t, w.direct, "DROP ROLE IF EXISTS sluice_mallory", "CREATE ROLE sluice_mallory LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY sluice_mallory", "DROP ROLE sluice_mallory") })
	mallory := connect(t, strings.Replace(w.through, "postgres://postgres@", "postgres://sluice_mallory@", 1))
	harmless := map[string]string{ // answers that come before anybody asks for a privilege, as in Postgres
		"CREATE EXTENSION sluice": "42710", "CREATE EXTENSION IF NOT EXISTS sluice": "CREATE EXTENSION",
	}
	for _, sql := range []string{
		"CREATE EXTENSION sluice", "CREATE EXTENSION IF NOT EXISTS sluice", "ALTER EXTENSION sluice UPDATE", "DROP EXTENSION sluice CASCADE",
		w.server("mine", ""), "ALTER SERVER lake OPTIONS (SET database '/etc/passwd')", "ALTER SERVER lake OWNER TO sluice_mallory", "DROP SERVER lake CASCADE",
		"CREATE USER MAPPING FOR PUBLIC SERVER lake", "CREATE USER MAPPING FOR sluice_mallory SERVER lake",
		"CREATE FOREIGN TABLE mine (a int) SERVER lake", "IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO public",
		"ALTER FOREIGN TABLE t OPTIONS (ADD table_name 'u')", "DROP FOREIGN TABLE t", "GRANT SELECT ON t TO sluice_mallory", "COMMENT ON FOREIGN TABLE t IS 'mine'",
		"INSERT INTO sluice.policy VALUES ('t', 'mine')", "UPDATE sluice.policy SET qual = 'true'", "DELETE FROM sluice.policy", "TRUNCATE sluice.policy",
		"INSERT INTO sluice.row_security VALUES ('t')", "UPDATE sluice.row_security SET enabled = false", "TRUNCATE sluice.row_security",
		"INSERT INTO sluice.column_mask VALUES ('t', 'a', 'a')", "DELETE FROM sluice.column_mask", "ALTER TABLE t DISABLE ROW LEVEL SECURITY", "DROP POLICY none ON t",
		"SELECT sluice.set_row_filter('t', 'public', 'true')", "SELECT sluice.drop_column_mask('t', 'a')", "SECURITY LABEL FOR sluice ON COLUMN t.a IS NULL",
		"SELECT * FROM t", "INSERT INTO t VALUES (2)", "DELETE FROM t", "TRUNCATE t", "COPY t FROM STDIN", "COPY (SELECT * FROM t) TO STDOUT", "EXPLAIN ANALYZE SELECT * FROM t",
		"INSERT INTO sluice.certification VALUES ('lake', 'row', 'stream', true, now(), '', '', '')", "SELECT sluice.note_certification('lake', '[]')", "SELECT * FROM sluice.certify('lake')",
		"SELECT sluice.get_auth('postgres')", "SELECT sluice.bump_catalog_version()",
		"DELETE FROM sluice.server_option", "UPDATE sluice.catalog_change SET step = step + 1", "CREATE TABLE sluice.mine (a int)",
		"CREATE OR REPLACE FUNCTION sluice.get_auth(role_name text) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$",
	} {
		before := rows(t, connect(t, w.direct), "SELECT count(*) FROM pg_foreign_server, pg_foreign_table, pg_extension")
		got := rows(t, mallory, sql)
		if got != "42501" && got != harmless[sql] {
			t.Errorf("%s: %s", sql, got)
		}
		want(t, mallory, "ROLLBACK", "ROLLBACK")
		want(t, connect(t, w.direct), "SELECT count(*) FROM pg_foreign_server, pg_foreign_table, pg_extension", before)
	}
	// Whatever runs with its owner's rights is open to those only whom it was made for; the three that seal the rows of a
	// governed write are for all, as are those of pages, which TestPageTokens tries, and TestSealedRows and TestSealIsForRowsOfAWrite try what can be made of them.
	want(t, mallory, `SELECT string_agg(p.oid::regprocedure::text, ', ' ORDER BY 1) FROM pg_proc p
		WHERE p.pronamespace = 'sluice'::regnamespace AND p.prosecdef
		AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype) AND has_function_privilege(p.oid, 'EXECUTE')`,
		"sluice.advise_index(oid,text[]), sluice.close_cursor(text), sluice.cursor_at(text,text), sluice.cursor_query(text), sluice.move_cursor(text,text,bigint,text,bigint), sluice.open_cursor(text,text,interval,text,text[],text,text), sluice.open_rows(text,text,text), sluice.page_keys(bytea,text,integer), sluice.page_start(text,text,integer,bigint[],oid[],integer), sluice.page_tokens(bytea,text[],boolean), sluice.seal_rows(oid,text,text,text,oid,boolean,name[],text), sluice.unseal(text,text,oid,text)")
	want(t, mallory, `SELECT string_agg(c.oid::regclass::text, ', ' ORDER BY 1) FROM pg_class c
		WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind IN ('r', 'p', 'v')
		AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AND c.relname NOT IN ('row_security', 'policy', 'column_mask', 'certification')`, "NULL")
}
