package ddl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// remote is what an engine found.
func remote() []engines.Table {
	long := strings.Repeat("ü", 40)
	return []engines.Table{
		{Name: "FILE", Options: map[string]string{"file": "FILE.csv"}, Columns: []engines.Column{{Name: "A", Type: "text"}}},
		{Name: "LOUD", Options: map[string]string{"schema_name": "main"}, Columns: []engines.Column{{Name: "ID", Type: "integer"}, {Name: "Mixed", Type: "text"}}},
		{Name: "MixedCase", Comment: `it's a "comment" with \`, Options: map[string]string{"schema_name": "main", "table_name": "MixedCase"},
			Columns: []engines.Column{
				{Name: "Id", Type: "integer", NotNull: true, Comment: "the key", Options: map[string]string{"column_name": "Id"}},
				{Name: "Name", Type: "character varying(20)"}, {Name: "amount", Type: "numeric(10,2)"},
				{Name: "ts", Type: "timestamp with time zone"},
			}},
		{Name: "hopeless", Columns: []engines.Column{{Name: "u", RemoteType: "UNION(a INTEGER)"}}},
		{Name: "odd", Columns: []engines.Column{
			{Name: "natural", Type: "integer"}, {Name: "group", Type: "integer"}, {Name: "order", Type: "integer"},
			{Name: "a b", Type: "integer"}, {Name: `quote"d`, Type: "integer"}, {Name: "日本", Type: "integer"},
			{Name: "u", RemoteType: "UNION(a INTEGER)"},
		}},
		{Name: "plain", Columns: []engines.Column{{Name: "a", Type: "integer"}}},
		{Name: "wide_" + long, Columns: []engines.Column{{Name: "c_" + long, Type: "integer[]"}}},
	}
}

// clash holds names that differ in case only.
func clash() []engines.Table {
	return []engines.Table{
		{Name: "A", Columns: []engines.Column{{Name: "x", Type: "integer"}}},
		{Name: "a", Columns: []engines.Column{{Name: "X", Type: "integer"}, {Name: "x", Type: "integer"}}},
	}
}

func runImport(t *testing.T, text string, tables []engines.Table) ([]ddl.Statement, []*pgconn.PgError, error) {
	t.Helper()
	tree, err := pg_query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	server := &catalog.Server{OID: 1, Name: "my lake", Wrapper: "sluice_duckdb"}
	return ddl.Import(tree.Stmts[0].Stmt.GetImportForeignSchemaStmt(), server, tables)
}

func TestImport(t *testing.T) {
	datadriven.RunTest(t, "testdata/import", func(t *testing.T, d *datadriven.TestData) string {
		tables := remote()
		if d.Cmd == "clash" {
			tables = clash()
		}
		statements, notices, err := runImport(t, d.Input, tables)
		var b strings.Builder
		b.WriteString(say(notices, err))
		for _, s := range statements {
			b.WriteString(s.SQL + ";")
			if s.Where != "" {
				b.WriteString(" -- " + s.Where)
			}
			b.WriteByte('\n')
		}
		return b.String()
	})
}

// Home must take the statements, under either reading of backslashes, and hold what was remote.
func TestImportRuns(t *testing.T) {
	url := hometest.Database(t, hometest.Start(t))
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	do := func(sql string) *pgconn.Result {
		t.Helper()
		results, err := conn.Exec(t.Context(), sql).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return results[len(results)-1]
	}
	do(`CREATE FOREIGN DATA WRAPPER sluice_duckdb; CREATE SERVER "my lake" FOREIGN DATA WRAPPER sluice_duckdb; CREATE SCHEMA "Imp ""x"`)
	for _, setting := range []string{"on", "off"} {
		do("SET standard_conforming_strings = " + setting + "; SET escape_string_warning = off; BEGIN")
		statements, _, err := runImport(t, `IMPORT FOREIGN SCHEMA main FROM SERVER "my lake" INTO "Imp ""x"`, remote())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			do(s.SQL)
		}
		comment := do(`SELECT obj_description('"Imp ""x"."MixedCase"'::regclass), col_description('"Imp ""x"."MixedCase"'::regclass, 1)`)
		if got := string(comment.Rows[0][0]); got != `it's a "comment" with \` {
			t.Errorf("table comment %q", got)
		}
		if got := string(comment.Rows[0][1]); got != "the key" {
			t.Errorf("column comment %q", got)
		}
		names := do(`SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '"Imp ""x".odd'::regclass AND attnum > 0`)
		if got := string(names.Rows[0][0]); got != `natural,group,order,a b,quote"d,日本` {
			t.Errorf("columns %q", got)
		}
		do("ROLLBACK")
	}
	statements, _, err := runImport(t, `IMPORT FOREIGN SCHEMA main LIMIT TO (zzz) FROM SERVER "my lake" INTO nowhere`, remote())
	if err != nil || len(statements) != 1 {
		t.Fatalf("%d statements, %v", len(statements), err)
	}
	_, err = conn.Exec(t.Context(), statements[0].SQL).ReadAll()
	if say(nil, err) != "ERROR 3F000: schema \"nowhere\" does not exist\n" {
		t.Errorf("got %v", err)
	}
}

// TestImportDefaults takes over what stands behind DEFAULT at the remote side, and nothing that would do more.
func TestImportDefaults(t *testing.T) {
	for text, taken := range map[string]bool{
		"1": true, "'a'::text": true, "now()": true, "nextval('other.s'::regclass)": true, "'; DROP TABLE x; --'::text": true,
		"1; DROP TABLE x": false, "1, ALTER COLUMN b SET DEFAULT 2": false, "1, OWNER TO joe": false, "": true, "(": false,
	} {
		tables := []engines.Table{{Name: "t", Columns: []engines.Column{{Name: "a", Type: "integer", Default: text}, {Name: "b", Type: "integer"}}}}
		statements, notices, err := runImport(t, "IMPORT FOREIGN SCHEMA s FROM SERVER l INTO o OPTIONS (import_default 'true')", tables)
		if err != nil {
			t.Fatal(err)
		}
		said := 2 // that the schema is there, and the table
		if taken && text != "" {
			said++
		}
		if len(statements) != said || taken != (len(notices) == 0) {
			t.Errorf("%s: %v %v", text, statements, notices)
		}
	}
}
