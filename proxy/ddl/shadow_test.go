package ddl_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// The functions that have a twin, now and in an older extension.
var (
	older = map[string]bool{"pg_relation_is_updatable": true, "pg_column_is_updatable": true}
	all   = map[string]bool{"pg_relation_is_updatable": true, "pg_column_is_updatable": true, "pg_cancel_backend": true, "pg_cursor": true, "pg_prepared_statement": true}
)

func TestShadowCatalog(t *testing.T) {
	datadriven.RunTest(t, "testdata/shadow", func(t *testing.T, d *datadriven.TestData) string {
		twins := all
		if d.HasArg("old") {
			twins = older
		}
		out, edited := ddl.ShadowCatalog(d.Input, twins)
		if edited != (out != d.Input) {
			d.Fatalf(t, "edited is %t, text %q", edited, out)
		}
		if !edited {
			return "as it was\n"
		}
		return out + "\n"
	})
}

// Names and qualified references of the result must stay what they were.
func TestShadowNames(t *testing.T) {
	url := hometest.Database(t, hometest.Start(t))
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `CREATE SCHEMA sluice_cat; CREATE VIEW sluice_cat.tables AS TABLE information_schema.tables;
CREATE FUNCTION sluice_cat.pg_relation_is_updatable(regclass, boolean) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE VIEW sluice_cat.pg_cursors AS TABLE pg_catalog.pg_cursors;
CREATE FUNCTION sluice_cat.pg_cancel_backend(int) RETURNS boolean LANGUAGE sql AS 'SELECT false'`).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT tables.table_name, information_schema.tables.table_type, pg_relation_is_updatable(0, false) FROM information_schema.tables WHERE information_schema.tables.table_name IS NULL",
		`SELECT "tables"."table_name", pg_catalog.pg_relation_is_updatable(0, true) FROM "information_schema"."tables" LIMIT 0`,
		"TABLE information_schema.tables LIMIT 0",
		"SELECT pg_cancel_backend(pid), pg_catalog.pg_cancel_backend(0) FROM pg_stat_activity WHERE pg_cancel_backend(0)",
		"SELECT * FROM pg_cancel_backend(0)",
		"SELECT pg_cursors.name, pg_cursors FROM pg_cursors WHERE pg_cursors.is_holdable",
		"SELECT c.*, pg_catalog.pg_cursors.name FROM pg_catalog.pg_cursors, pg_cursors c JOIN pg_cursors AS d USING (name)",
	} {
		edited, ok := ddl.ShadowCatalog(query, all)
		if !ok {
			t.Errorf("%s: not edited", query)
		}
		want, got := columns(t, conn, query), columns(t, conn, edited)
		if want != got {
			t.Errorf("%s: columns %s, were %s", edited, got, want)
		}
	}
}

func columns(t *testing.T, conn *pgconn.PgConn, query string) string {
	t.Helper()
	result := conn.ExecParams(t.Context(), query, nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatalf("%s: %v", query, result.Err)
	}
	names := ""
	for _, f := range result.FieldDescriptions {
		names += f.Name + " "
	}
	return names
}

func FuzzShadowCatalog(f *testing.F) {
	f.Add("SELECT * FROM information_schema.tables")
	f.Add(`select pg_relation_is_updatable(1,true), 'information_schema.tables', "information_schema".columns -- information_schema.views`)
	f.Fuzz(func(t *testing.T, text string) {
		out, edited := ddl.ShadowCatalog(text, all)
		if again, twice := ddl.ShadowCatalog(out, all); edited && twice {
			t.Errorf("edited twice: %q to %q to %q", text, out, again)
		}
	})
}
