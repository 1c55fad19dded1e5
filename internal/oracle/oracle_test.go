package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDifference(t *testing.T) {
	base := answer{fields: []field{{name: "a", oid: 23}}, rows: []string{"1", "2"}, tag: "SELECT 2;"}
	for name, test := range map[string]struct {
		got     answer
		ordered bool
		same    bool
	}{
		"equal":            {base, true, true},
		"order matters":    {answer{fields: base.fields, rows: []string{"2", "1"}, tag: base.tag}, true, false},
		"order is free":    {answer{fields: base.fields, rows: []string{"2", "1"}, tag: base.tag}, false, true},
		"another value":    {answer{fields: base.fields, rows: []string{"1", "3"}, tag: base.tag}, false, false},
		"a row is missing": {answer{fields: base.fields, rows: []string{"1"}, tag: base.tag}, false, false},
		"another type":     {answer{fields: []field{{name: "a", oid: 20}}, rows: base.rows, tag: base.tag}, false, false},
		"another tag":      {answer{fields: base.fields, rows: base.rows, tag: "SELECT 3;"}, false, false},
		"an error":         {answer{code: "22012"}, false, false},
	} {
		if d := difference(base, test.got, test.ordered); (d == "") != test.same {
			t.Errorf("%s: %q", name, d)
		}
	}
	if showRow([][]byte{nil}) == showRow([][]byte{[]byte("NULL")}) {
		t.Error("NULL and the text NULL look alike")
	}
	if showRow([][]byte{{0}}) == showRow([][]byte{{1}}) {
		t.Error("two control characters look alike")
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sql")
	const text = "-- comment\nSELECT 1\n  FROM {s}.t;\n\n-- params: [\"1\", null]\nSELECT $1 FROM {s}.t ORDER BY 1;\nSET a.b = 'c';\nSELECT row_number() OVER (ORDER BY x) FROM {s}.t;\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || len(got) != 4 {
		t.Fatalf("%d statements, %v", len(got), err)
	}
	if s := got[0]; s.in("fx") != "SELECT 1\n  FROM fx.t" || s.Ordered || s.Setting || s.Pos != path+":2" {
		t.Errorf("first: %+v", s)
	}
	if s := got[1]; !s.Ordered || len(s.Params) != 2 || *s.Params[0] != "1" || s.Params[1] != nil {
		t.Errorf("second: %+v", s)
	}
	if !got[2].Setting || got[3].Ordered {
		t.Errorf("third and fourth: %+v %+v", got[2], got[3])
	}
	if err := os.WriteFile(path, []byte("SELECT 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil {
		t.Error("a statement without its end is taken")
	}
}

func TestForms(t *testing.T) {
	for pg, want := range map[string]string{
		"integer": "INTEGER", "numeric(10,2)": "DECIMAL(10,2)", "character varying(5)": "VARCHAR", "character(3)": "VARCHAR",
		"timestamp(3) without time zone": "TIMESTAMP", "timestamp with time zone": "TIMESTAMPTZ", "integer[]": "INTEGER[]", "bytea": "BLOB",
		"numeric": "VARCHAR", "numeric(5,-2)": "VARCHAR", "numeric(39,2)": "VARCHAR", "point": "VARCHAR", "int4range": "VARCHAR", "point[]": "VARCHAR",
	} {
		if f := formOf(pg); f.duck != want {
			t.Errorf("%s: got %s, want %s", pg, f.duck, want)
		}
	}
	for in, want := range map[string]string{"0044-03-15 BC": "0044-03-15 (BC)", "0044-03-15 12:00:00 BC": "0044-03-15 (BC) 12:00:00", "2024-01-01": "2024-01-01"} {
		if got := respell("TIMESTAMP", in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
