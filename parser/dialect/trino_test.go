package dialect

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/catalog"
)

func TestTrinoColumn(t *testing.T) {
	for _, c := range []struct {
		column catalog.Column
		want   string
	}{
		{catalog.Column{Name: "n", Type: int4OID, Typmod: -1}, `CAST("t"."n" AS INTEGER)`},
		{catalog.Column{Name: "n", Type: int4OID, Typmod: -1, Options: map[string]string{"remote_type": "integer"}}, `"t"."n"`},
		{catalog.Column{Name: "a\"b", Type: textOID, Typmod: -1, Options: map[string]string{"remote_type": "varchar(25)"}}, `"t"."a""b"`},
		{catalog.Column{Name: "n", Type: numericOID, Typmod: Decimal(12, 2).Typmod, Options: map[string]string{"remote_type": "decimal(12, 2)"}}, `"t"."n"`},
		{catalog.Column{Name: "n", Type: numericOID, Typmod: Decimal(12, 2).Typmod, Options: map[string]string{"remote_type": "double"}}, `CAST("t"."n" AS DECIMAL(12,2))`},
		{catalog.Column{Name: "n", Type: numericOID, Typmod: -1}, `CAST("t"."n" AS VARCHAR)`},
		{catalog.Column{Name: "j", Type: jsonbOID, Typmod: -1, Options: map[string]string{"remote_type": "json"}}, `json_format("t"."j")`},
	} {
		if got := (Trino{}).Column(&c.column, "t"); got != c.want {
			t.Errorf("%+v: %s; want %s", c.column, got, c.want)
		}
	}
}

func TestTrinoRelation(t *testing.T) {
	server := &catalog.Server{Options: map[string]string{"catalog": "hive"}}
	for _, c := range []struct {
		server, table map[string]string
		want          string
	}{
		{map[string]string{"catalog": "hive"}, nil, `"hive"."s"."t"`},
		{map[string]string{"catalog": "hive", "schema": "d"}, map[string]string{"table_name": "u"}, `"hive"."d"."u"`},
		{map[string]string{"catalog": "hive", "schema": "d"}, map[string]string{"catalog_name": "c", "schema_name": "e"}, `"c"."e"."t"`},
	} {
		server.Options = c.server
		if got, err := (Trino{}).Relation(&catalog.Relation{Schema: "s", Name: "t", Server: server, Options: c.table}); got != c.want || err != nil {
			t.Errorf("%v %v: %s, %v; want %s", c.server, c.table, got, err, c.want)
		}
	}
}

// TestTrinoProof finds for each entry the statements that prove it against a real Trino, and for each file of these an entry.
func TestTrinoProof(t *testing.T) {
	paths, err := filepath.Glob("../../tests/testdata/trino/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	named := map[string]bool{}
	for _, e := range trinoTable {
		named[e.Cases] = true
	}
	known := map[string]bool{"kinds": true} // of which the entries are among comparisons
	for _, path := range paths {
		known[strings.TrimSuffix(filepath.Base(path), ".sql")] = true
	}
	named["kinds"] = true
	if !maps.Equal(named, known) {
		t.Errorf("entries name %v, there are %v", named, known)
	}
}

// TestDeclared finds functions that call what does not stand in front of them, and statements that lack one.
func TestDeclared(t *testing.T) {
	for i, f := range trinoFunctions {
		for _, other := range trinoFunctions[i:] {
			if strings.Contains(f.body, other.name+"(") {
				t.Errorf("%s calls %s, which does not stand in front of it", f.name, other.name)
			}
		}
		sql := (Trino{}).Declared("SELECT " + f.name + "(x)")
		for _, other := range trinoFunctions {
			if strings.Contains(sql, other.name+"(") != strings.Contains(sql, "FUNCTION "+other.name+"(") {
				t.Errorf("%s is called but not defined in %s", other.name, sql)
			}
		}
	}
	if sql := (Trino{}).Declared("SELECT 1"); sql != "SELECT 1" {
		t.Error(sql)
	}
	for _, e := range trinoTable {
		for call := range strings.SplitSeq(e.SQL, "sluice_") {
			name, _, ok := strings.Cut(call, "(")
			if ok && strings.HasPrefix(name, "numeric_") && !strings.Contains((Trino{}).Declared("sluice_"+name+"("), "FUNCTION sluice_"+name+"(") {
				t.Errorf("%s %s calls sluice_%s, which is not defined", e.Kind, e.Name, name)
			}
		}
	}
}
