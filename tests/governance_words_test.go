package tests

import (
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestErrorsKeepSecrets has a view of another Postgres fail, with an error of its author's own, at a row that a policy hides:
// the role learns neither of its words, whatever SQLSTATE they come with.
func TestErrorsKeepSecrets(t *testing.T) {
	home := hometest.Start(t)
	direct, other := hometest.Database(t, home), hometest.Database(t, home)
	through := postgresProxy(t, direct)
	exec(t, direct, "DROP ROLE IF EXISTS words_reader", "CREATE ROLE words_reader LOGIN")
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY words_reader", "DROP ROLE words_reader") })
	exec(t, other, `CREATE FUNCTION fail(code text, id int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
		IF id = 2 THEN RAISE EXCEPTION USING ERRCODE = code, MESSAGE = 'hush', DETAIL = 'hush', HINT = 'hush', COLUMN = 'hush'; END IF; RETURN id; END $$`)
	exec(t, through, append(otherServer(t, other, ""), "CREATE SCHEMA fx", "GRANT USAGE ON SCHEMA fx TO words_reader",
		"CREATE TABLE fx.here AS SELECT generate_series(1, 3) AS id", "GRANT SELECT ON fx.here TO words_reader")...)
	for _, code := range []string{"P0001", "22012", "23505", "42P01", "42501", "0A000", "54000", "XX000", "HV000"} {
		exec(t, other, "CREATE OR REPLACE VIEW v"+code+" AS SELECT i AS id, fail('"+code+"', i) AS v FROM generate_series(1, 3) i")
		name := "fx.v" + strings.ToLower(code)
		exec(t, through, "CREATE FOREIGN TABLE "+name+" (id int, v int) SERVER other OPTIONS (schema_name 'public')",
			"GRANT SELECT ON "+name+" TO words_reader", "SELECT sluice.set_row_filter('"+name+"', 'words_reader', 'id <> 2 OR v > 0')")
		reader := connect(t, strings.Replace(through, "postgres@", "words_reader@", 1))
		for _, route := range []string{"remote", "home_join", "federated"} {
			want(t, reader, "SET sluice.route = '"+route+"'", "SET")
			from := name
			if route == "federated" {
				from += " JOIN fx.here USING (id)"
			}
			_, err := reader.Exec(timed(t), "SELECT sum(v) FROM "+from)
			pe := pgError(err)
			if pe == nil || pe.Code == "0A000" && code != "0A000" || strings.Contains(strings.Join([]string{pe.Message, pe.Detail, pe.Hint, pe.ColumnName, pe.Where}, " "), "hush") {
				t.Errorf("%s, %s: %+v", code, route, pe)
			}
		}
	}
}
