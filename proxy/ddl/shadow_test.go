package ddl_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/proxy/ddl"
)

func TestShadowCatalog(t *testing.T) {
	datadriven.RunTest(t, "testdata/shadow", func(t *testing.T, d *datadriven.TestData) string {
		out, edited := ddl.ShadowCatalog(d.Input, !d.HasArg("old"))
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
	if _, err := conn.Exec(t.Context(), `CREATE SCHEMA sluice_info; CREATE VIEW sluice_info.tables AS TABLE information_schema.tables;
CREATE FUNCTION sluice_info.pg_relation_is_updatable(regclass, boolean) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION sluice_info.pg_cancel_backend(int) RETURNS boolean LANGUAGE sql AS 'SELECT false'`).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT tables.table_name, information_schema.tables.table_type, pg_relation_is_updatable(0, false) FROM information_schema.tables WHERE information_schema.tables.table_name IS NULL",
		`SELECT "tables"."table_name", pg_catalog.pg_relation_is_updatable(0, true) FROM "information_schema"."tables" LIMIT 0`,
		"TABLE information_schema.tables LIMIT 0",
		"SELECT pg_cancel_backend(pid), pg_catalog.pg_cancel_backend(0) FROM pg_stat_activity WHERE pg_cancel_backend(0)",
		"SELECT * FROM pg_cancel_backend(0)",
	} {
		edited, ok := ddl.ShadowCatalog(query, true)
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
		out, edited := ddl.ShadowCatalog(text, true)
		if again, twice := ddl.ShadowCatalog(out, true); edited && twice {
			t.Errorf("edited twice: %q to %q to %q", text, out, again)
		}
	})
}
