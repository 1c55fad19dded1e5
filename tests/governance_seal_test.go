package tests

import (
	"strings"
	"testing"
)

// TestSealedRows has functions that a governed write calls look for its rows in home's temporary tables, and change them:
// while the statement runs, and already while it is planned.
func TestSealedRows(t *testing.T) {
	onBothEngines(t, map[string]string{"notes": "SELECT *, secret * 2 AS twice FROM " + notes, "open": "SELECT 1 AS id"}, spyOnRows)
}

const spies = `CREATE FUNCTION pg_temp.spy(change boolean) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one record;
    attempt text;
    seen text;
    got text := 'seen';
BEGIN
    FOR one IN SELECT relname, substring(relname, '^sluice_[0-9]+_') AS prefix FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r' LOOP
        FOREACH attempt IN ARRAY ARRAY[
            'ALTER TABLE pg_temp.%1$I DISABLE ROW LEVEL SECURITY', 'ALTER TABLE pg_temp.%1$I OWNER TO CURRENT_USER', 'GRANT ALL ON pg_temp.%1$I TO PUBLIC',
            'COMMENT ON TABLE pg_temp.%1$I IS NULL', 'INSERT INTO pg_temp.%1$I (id, owner, secret, note) VALUES (66, ''mallory'', 1, NULL)',
            'INSERT INTO pg_temp.%1$I (sluice_rowid) SELECT generate_series(0, 9)', 'UPDATE pg_temp.%1$I SET place = ''(9,9)''',
            'UPDATE pg_temp.%1$I SET secret = 1, note = ''spied''', 'DELETE FROM pg_temp.%1$I', 'TRUNCATE pg_temp.%1$I', 'DROP TABLE pg_temp.%1$I CASCADE',
            'SELECT sluice.open_rows(%2$L, '''', ''key'')', 'SELECT sluice.unseal(%2$L, '''', 10::oid, ''key'')',
            'SELECT sluice.seal_rows(0, ''UPDATE'', %2$L, '''', 10::oid, false, ''{}'', ''key'')']
        LOOP
            BEGIN
                IF change AND one.relname !~ 'r$' THEN
                    EXECUTE format(attempt, one.relname, one.prefix);
                END IF;
            EXCEPTION WHEN OTHERS THEN
            END;
        END LOOP;
        BEGIN
            EXECUTE format('SELECT string_agg(x::text, '' '') FROM pg_temp.%I x', one.relname) INTO seen;
            got := concat(got, ' ', seen);
        EXCEPTION WHEN OTHERS THEN
        END;
    END LOOP;
    RETURN got;
END $$;
CREATE FUNCTION pg_temp.early(change boolean) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN pg_temp.spy(change); END'`

func spyOnRows(t *testing.T, direct, through, server string) {
	w := newWriters(t, direct, through, server, "gow_alice")
	for _, sql := range []string{
		"GRANT ALL ON notes TO gow_alice", "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY own ON notes USING (owner = substr(current_user, 5))",
	} {
		exec1(t, w.foreignAdmin, sql)
	}
	exec1(t, w.foreign, "SET ROLE gow_alice")
	exec1(t, w.foreign, spies)
	hidden := answer(t, w.foreignAdmin, "SELECT * FROM notes WHERE owner <> 'alice' ORDER BY id")
	look := func(sql string) {
		t.Helper()
		got := answer(t, w.foreign, sql) + answer(t, w.foreignAdmin, "SELECT note FROM notes WHERE owner = 'alice'")
		for _, secret := range []string{"b1", "b2", "c1", "bob", "carol"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s shows %s: %s", sql, secret, got)
			}
		}
		if after := answer(t, w.foreignAdmin, "SELECT * FROM notes WHERE owner <> 'alice' ORDER BY id"); after != hidden {
			t.Errorf("%s makes of hidden rows %s", sql, after)
		}
		if w.foreign.PgConn().TxStatus() != 'I' {
			exec1(t, w.foreign, "ROLLBACK")
		}
		exec1(t, w.foreignAdmin, "TRUNCATE notes; INSERT INTO notes (id, owner, secret, note) SELECT * FROM "+notes)
	}
	calls := func() {
		for _, call := range []string{"pg_temp.spy(true)", "pg_temp.spy(false)", "pg_temp.early(true)", "pg_temp.early(false)"} {
			for _, sql := range []string{
				"INSERT INTO notes (id, owner, note) VALUES (10, 'alice', %s)",
				"INSERT INTO notes (id, owner, note) VALUES (10, 'bob', 'x'), (11, 'bob', %s) RETURNING id",
				"INSERT INTO notes (id, owner) VALUES (10, 'bob') RETURNING %s",
				"UPDATE notes SET note = %s", "UPDATE notes SET owner = 'alice' RETURNING %s", "UPDATE notes SET note = 'x' WHERE %s IS NOT NULL RETURNING *",
				"UPDATE notes SET owner = left(%s, 3) WHERE id = 1",
				"DELETE FROM notes WHERE id = 1 AND %s IS NOT NULL RETURNING id", "DELETE FROM notes WHERE %s IS NULL", "DELETE FROM notes RETURNING %s",
				"BEGIN; DELETE FROM notes WHERE id = 1; INSERT INTO notes (id, owner, note) VALUES (12, 'alice', %s); COMMIT",
			} {
				look(strings.ReplaceAll(sql, "%s", call))
			}
		}
	}
	calls()
	// Rows that may be written, and not seen.
	exec1(t, w.foreignAdmin, "CREATE POLICY change ON notes FOR UPDATE USING (true); CREATE POLICY take ON notes FOR DELETE USING (true)")
	for _, sql := range []string{
		"BEGIN; UPDATE notes SET secret = length(pg_temp.spy(false)); ROLLBACK", "BEGIN; DELETE FROM notes USING (VALUES (pg_temp.spy(false))) v; ROLLBACK",
		"UPDATE notes SET note = pg_temp.spy(false) WHERE id > 0",
		"BEGIN; CREATE TEMP TABLE seen (v text); UPDATE notes SET secret = 1; INSERT INTO seen SELECT pg_temp.spy(false); DELETE FROM notes; INSERT INTO seen SELECT pg_temp.spy(false); TABLE seen; ROLLBACK",
	} {
		look(sql)
	}
	if left := rows(t, w.foreign, "SELECT string_agg(proname, ' ') FROM pg_proc WHERE pronamespace = pg_my_temp_schema() AND proname LIKE 'sluice%'"); left != "NULL" {
		t.Errorf("functions are left: %s", left)
	}
}

// TestSealIsForRowsOfAWrite has a role give tables of its own to the functions that seal rows, which run with another's
// rights: nothing of the role's runs with these, and no table is another's afterwards.
func TestSealIsForRowsOfAWrite(t *testing.T) {
	w := newWorld(t, "CREATE TABLE one AS SELECT 1 AS id")
	exec(t, w.direct, "DROP ROLE IF EXISTS seal_mallory", "CREATE ROLE seal_mallory LOGIN", "GRANT CREATE ON SCHEMA public TO seal_mallory")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY seal_mallory", "DROP ROLE seal_mallory") })
	exec(t, w.as("seal_mallory"), "CREATE FUNCTION who() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE division_by_zero USING MESSAGE = current_user; END $$")
	const digest = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683" // of key
	for name, setup := range map[string]string{
		"a trigger":           "CREATE TRIGGER t BEFORE TRUNCATE ON sluice_1_t EXECUTE FUNCTION who()",
		"a table below":       "CREATE TEMP TABLE kid () INHERITS (sluice_1_t); CREATE TRIGGER t BEFORE TRUNCATE ON kid EXECUTE FUNCTION who()",
		"a table above":       "CREATE TEMP TABLE top (sluice_rowid bigint); ALTER TABLE sluice_1_t INHERIT top",
		"a foreign key":       "ALTER TABLE sluice_1_t ADD PRIMARY KEY (sluice_rowid); CREATE TEMP TABLE kid (r bigint REFERENCES sluice_1_t)",
		"another's ownership": "",
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.as("seal_mallory"))
			for _, sql := range []string{"CREATE TEMP TABLE sluice_1_t (sluice_rowid bigint)", setup} {
				if _, err := conn.Exec(timed(t), sql); err != nil {
					t.Fatal(err)
				}
			}
			role := "'seal_mallory'::regrole"
			if setup == "" {
				role = "'postgres'::regrole"
			}
			want(t, conn, "SELECT sluice.seal_rows(0, 'INSERT', 'sluice_1_', '', "+role+", false, '{}', '"+digest+"')", "42501")
			if setup == "" { // sealed as its own, and then to be another's
				want(t, conn, "SELECT sluice.seal_rows(0, 'INSERT', 'sluice_1_', '', 'seal_mallory'::regrole, false, '{}', '"+digest+"')", "")
			}
			want(t, conn, "SELECT sluice.unseal('sluice_1_', '', "+role+", 'key')", "42501")
		})
	}
}
