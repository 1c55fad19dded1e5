package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/internal/sqlgen"
)

// hiddenTable is a table of the fixture with what governs it: permissive and restrictive conditions, and masks by columns.
type hiddenTable struct {
	name     string
	open     bool // no row is hidden
	any, all []string
	masks    map[string]string
}

var hiddenTables = []hiddenTable{
	{name: "clocks", any: []string{"k BETWEEN 2 AND 6"}, masks: map[string]string{"ttz": "NULL"}},
	{name: "coll", any: []string{"k < 20"}, all: []string{"bytes <> 'a b'"}, masks: map[string]string{"bytes": "sluice.mask_text(bytes)"}},
	{name: "dates", any: []string{"true"}, all: []string{"d < (SELECT d FROM h.until)"}, masks: map[string]string{"ts": "sluice.mask_month(ts)", "tz": "NULL"}},
	{name: "exact", open: true, masks: map[string]string{"g": "NULL"}},
	{name: "floats", any: []string{"f8 > 1 AND f8 < 100", "k IN (SELECT k FROM h.entitled WHERE who = current_user)"}, all: []string{"f4 < 100"},
		masks: map[string]string{"f4": "CASE WHEN k > 14 THEN f4 END"}},
	{name: "ints", any: []string{"i4 BETWEEN -1000 AND 1000 AND i4 <> 0"}, masks: map[string]string{"i8": "CASE WHEN i2 > 0 THEN i8 END"}},
	{name: "kinds", any: []string{"current_user = 'leak_reader' AND k < 6"}, masks: map[string]string{"jb": "NULL", "e": "NULL", "p": "NULL", "na": "NULL"}},
	{name: "mild", any: []string{"k IN (SELECT k FROM h.entitled WHERE who = current_user)"}, masks: map[string]string{"i": "CASE WHEN i < 1 THEN 1 ELSE 1 END", "s": "'2'", "n": "1 + k",
		"t": "CASE WHEN length(t) > 20 THEN '0' ELSE '1' END"}},
	{name: "misc", any: []string{"b IS NOT FALSE"}, masks: map[string]string{"u": "'00000000-0000-0000-0000-000000000001'::uuid", "y": "NULL", "j": "NULL", "ai": "NULL", "at": "NULL"}},
	{name: "nums", any: []string{"owner = current_user"}, masks: map[string]string{"w": "NULL", "s": "sluice.mask_band(s, 1)::numeric(18,6)"}},
	{name: "series", any: []string{"g IN (SELECT k FROM h.entitled WHERE who = current_user)"}, masks: map[string]string{"t": "sluice.mask_hash(t)"}},
	{name: "spans"}, // nobody sees anything
	{name: "tame", any: []string{"t IN ('0', '1')"}},
	{name: "texts", any: []string{"t IN (SELECT word FROM h.entitled WHERE who = current_user)"}, masks: map[string]string{"v": "NULL", "c": "NULL", "m": "sluice.mask_partial(m, 1, '*', 1)"}},
}

// rules returns the statements that govern the table in a schema.
func (h hiddenTable) rules(schema string) []string {
	table := schema + "." + h.name
	var out []string
	if !h.open {
		out = append(out, "ALTER TABLE "+table+" ENABLE ROW LEVEL SECURITY")
	}
	for i, condition := range h.any {
		out = append(out, fmt.Sprintf("CREATE POLICY any%d ON %s FOR SELECT USING (%s)", i, table, condition))
	}
	for i, condition := range h.all {
		out = append(out, fmt.Sprintf("CREATE POLICY all%d ON %s AS RESTRICTIVE USING (%s)", i, table, condition))
	}
	for column, mask := range h.masks {
		out = append(out, fmt.Sprintf("SELECT sluice.set_column_mask('%s', '%s', $mask$%s$mask$, '{leak_free}')", table, column, mask))
	}
	return out
}

// delete returns the statement that takes from a schema what leak_reader may not see.
func (h hiddenTable) delete(schema string) string {
	seen := "(" + strings.Join(append(h.any, "false"), " OR ") + ")"
	for _, condition := range h.all {
		seen += " AND (" + condition + ")"
	}
	if h.open {
		seen = "true"
	}
	return "DELETE FROM " + schema + "." + h.name + " WHERE (" + reader(seen) + ") IS NOT TRUE"
}

// update returns the statement that puts the masks in place of the values.
func (h hiddenTable) update(schema string) string {
	var set []string
	for column, mask := range h.masks {
		set = append(set, column+" = "+reader(mask))
	}
	if set == nil {
		return "SELECT"
	}
	return "UPDATE " + schema + "." + h.name + " SET " + strings.Join(set, ", ")
}

// reader has an expression mean for everybody what it means for leak_reader.
func reader(expression string) string {
	return strings.ReplaceAll(expression, "current_user", "name 'leak_reader'")
}

// hidden is a database whose schema plain has what leak_reader may see of the foreign tables.
type hidden struct {
	direct, through string
	engines         []*leakEngine
	schema          *sqlgen.Schema
}

func newHidden(t *testing.T) *hidden {
	direct, _ := fixture(t)
	w := &hidden{direct: direct, through: postgresProxy(t, direct), engines: leakEngines("fx", "bx", "fo", "bo", "fh", "bh")}
	exec(t, direct, "DROP ROLE IF EXISTS leak_reader, leak_free", "CREATE ROLE leak_reader LOGIN", "CREATE ROLE leak_free LOGIN BYPASSRLS", "CREATE SCHEMA bx", "CREATE SCHEMA bo", "CREATE SCHEMA bh")
	t.Cleanup(func() {
		exec(t, direct, "DROP OWNED BY leak_reader, leak_free CASCADE", "DROP ROLE leak_reader, leak_free")
	})
	exec(t, direct, leakFile(t, "leaks_generated.sql", ""))
	w.declare(t)
	for _, h := range hiddenTables {
		exec(t, direct, h.delete("plain"), h.update("plain"))
	}
	for _, schema := range []string{"plain", "h", "fx", "fo", "fh", "bx", "bo", "bh"} {
		exec(t, direct, "GRANT USAGE ON SCHEMA "+schema+" TO leak_reader, leak_free", "GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO leak_reader, leak_free")
	}
	w.check(t)
	var err error
	if w.schema, err = sqlgen.Read(t.Context(), connect(t, direct), "plain"); err != nil {
		t.Fatal(err)
	}
	calibrate(t, w.schema, direct, w.through)
	return w
}

// check fails the test unless leak_reader sees in each schema what it is to see.
func (w *hidden) check(t *testing.T) {
	plain, through := connect(t, w.direct), connect(t, as(t, w.through, "leak_reader"))
	for _, e := range w.engines {
		for _, h := range hiddenTables {
			query := "SELECT x::text FROM {s}." + h.name + " x ORDER BY k"
			seen := rows(t, plain, strings.ReplaceAll(query, "{s}", "plain"))
			for _, schema := range []string{e.full, e.bare} {
				want(t, through, strings.ReplaceAll(query, "{s}", schema), seen)
			}
		}
	}
}

// declare makes the foreign tables and governs them.
func (w *hidden) declare(t *testing.T) {
	address, admin := fixture(t)
	var names, blind []string
	for _, h := range hiddenTables {
		names = append(names, h.name)
		blind = append(blind, "CREATE TABLE bare."+h.name+" (LIKE plain."+h.name+")", "INSERT INTO bare."+h.name+" SELECT * FROM plain."+h.name, h.delete("bare"))
	}
	exec(t, address, leakFile(t, "leaks_generated.sql", ""), "CREATE SCHEMA bare")
	exec(t, address, append(blind, leakFile(t, "leaks_generated_bare.sql", ""))...)
	exec(t, w.through, otherServer(t, address, "")...)
	half := len(names) / 2
	for i, rows := range []string{"plain", "bare"} {
		lake, err := oracle.Copy(t.Context(), admin, rows, filepath.Join(t.TempDir(), rows+".duckdb"), names...)
		if err != nil {
			t.Fatal(err)
		}
		var schemas []string
		for _, e := range w.engines {
			schemas = append(schemas, []string{e.full, e.bare}[i])
		}
		server := "lake_" + rows
		create := append([]string{lake.Server(server, false)}, lake.Tables(server, schemas[0])...)
		create = append(create, lake.Tables(server, schemas[2], names[:half]...)...)
		create = append(create, "IMPORT FOREIGN SCHEMA "+rows+" LIMIT TO ("+strings.Join(names, ", ")+") FROM SERVER other INTO "+schemas[1],
			"IMPORT FOREIGN SCHEMA "+rows+" LIMIT TO ("+strings.Join(names[half:], ", ")+") FROM SERVER other INTO "+schemas[2])
		for _, schema := range schemas {
			for _, h := range hiddenTables {
				create = append(create, h.rules(schema)...)
			}
		}
		exec(t, w.through, create...)
	}
}
