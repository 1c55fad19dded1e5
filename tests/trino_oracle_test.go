package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/internal/sqlgen"
	"github.com/sluicedb/sluice/internal/trinotest"
	"github.com/sluicedb/sluice/parser/dialect"
)

var trinoQuestions = questionFlags("trino", 100)

// trinoFixture leaves of the fixture what Trino has types and values for.
var trinoFixture = []string{
	`DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'plain'::regnamespace AND relkind = 'r'
 AND relname <> ALL ('{ints,nums,floats,texts,dates,misc,coll,series,exact}') LOOP EXECUTE 'DROP TABLE ' || t || ' CASCADE'; END LOOP; END $$`,
	"ALTER TABLE plain.misc DROP j, DROP ai, DROP at", "ALTER TABLE plain.exact DROP u, DROP m, DROP b",
	"DELETE FROM plain.nums x WHERE x::text ~ 'NaN'", "DELETE FROM plain.exact x WHERE x::text ~ 'NaN'",
	"DELETE FROM plain.dates x WHERE x::text ~ 'infinity|BC|[0-9]{5}-'", "ANALYZE",
}

// TestRealTrinoOracle asks generated statements of tables of Trino's, and of such and DuckDB's and home's, whose rows it is sent.
func TestRealTrinoOracle(t *testing.T) {
	newTrinoOracle(t, newTrinoWorld(t, "memory")).ask(t, trinoQuestions)
}

// newTrinoOracle makes the fixture in Trino (schema fx), and half in Trino and half in DuckDB (fm).
func newTrinoOracle(t *testing.T, w *trinoWorld) *generatedOracle {
	t.Helper()
	admin := connect(t, w.direct)
	loadFixture(t, admin)
	exec(t, w.direct, trinoFixture...)
	lake, err := oracle.Copy(t.Context(), admin, "plain", filepath.Join(t.TempDir(), "lake.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	remote := trinotest.Start(t)
	remote.Run(t, "CREATE SCHEMA memory.twins")
	t.Cleanup(func() { remote.Run(t, "DROP SCHEMA memory.twins CASCADE") })
	exec(t, w.through, "ALTER SERVER trino OPTIONS (DROP catalogs, DROP home_catalog)", lake.Server("lake", false), "CREATE SCHEMA fm")
	for i, name := range strings.Fields("ints nums floats texts dates misc coll series exact") {
		exec(t, w.through, copyToTrino(t, admin, remote, name))
		if i%2 == 0 {
			exec(t, w.through, lake.Tables("lake", "fm", name)...)
		} else {
			exec(t, w.through, strings.Replace(declaredTwin(t, admin, name), " fx.", " fm.", 1))
		}
	}
	exec(t, w.direct, "ALTER DATABASE "+pgx.Identifier{admin.Config().Database}.Sanitize()+" SET sluice.federation_server = 'trino'")
	schema, err := sqlgen.Read(t.Context(), admin, "plain")
	if err != nil {
		t.Fatal(err)
	}
	calibrate(t, schema, w.direct, w.through)
	o := oracle.New(t, w.direct, w.through,
		&oracle.Side{Name: "remote", Schema: "fx", Route: "remote"},
		&oracle.Side{Name: "spread", Schema: "fm", Route: "federated"},
		&oracle.Side{Name: "free", Schema: "fm"})
	return &generatedOracle{oracle: o, schema: schema}
}

// declaredTwin declares a foreign table for a table of schema plain.
func declaredTwin(t *testing.T, admin *pgx.Conn, name string) string {
	t.Helper()
	var columns string
	if err := admin.QueryRow(t.Context(), `SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)) || CASE WHEN attcollation <> typcollation THEN ' COLLATE ' || attcollation::regcollation ELSE '' END
 || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY attnum) FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid WHERE attrelid = ('plain.' || $1)::regclass AND attnum > 0 AND NOT attisdropped`, name).Scan(&columns); err != nil {
		t.Fatal(err)
	}
	return "CREATE FOREIGN TABLE fx." + name + " (" + columns + ") SERVER trino OPTIONS (schema_name 'twins')"
}

// copyToTrino makes a table at Trino with the rows of one of schema plain, and returns what declares it.
func copyToTrino(t *testing.T, admin *pgx.Conn, remote *trinotest.Server, name string) string {
	t.Helper()
	result, err := admin.PgConn().Exec(t.Context(), "SET TimeZone = 'UTC'; SELECT * FROM plain."+name).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	d := dialect.Trino{}
	var columns, list []string
	for _, row := range result[1].Rows {
		values := make([]string, len(row))
		for i, v := range row {
			f := result[1].FieldDescriptions[i]
			switch text := d.Literal(string(v)); {
			case v == nil:
				values[i] = "NULL"
			case f.DataTypeOID == 17:
				values[i] = "X'" + strings.TrimPrefix(string(v), `\x`) + "'"
			case f.DataTypeOID == 1184:
				values[i] = "CAST(" + strings.TrimSuffix(text, "+00'") + " UTC' AS " + d.Type(f.DataTypeOID, f.TypeModifier) + ")"
			default:
				values[i] = "CAST(" + text + " AS " + d.Type(f.DataTypeOID, f.TypeModifier) + ")"
			}
		}
		list = append(list, "("+strings.Join(values, ", ")+")")
	}
	for _, f := range result[1].FieldDescriptions {
		columns = append(columns, d.Identifier(f.Name)+" "+d.Type(f.DataTypeOID, f.TypeModifier))
	}
	remote.Run(t, fmt.Sprintf("CREATE TABLE memory.twins.%s (%s)", name, strings.Join(columns, ", ")), fmt.Sprintf("INSERT INTO memory.twins.%s VALUES %s", name, strings.Join(list, ", ")))
	return declaredTwin(t, admin, name)
}
