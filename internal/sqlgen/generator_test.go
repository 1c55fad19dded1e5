package sqlgen

import (
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// twoTables is a schema without a home.
func twoTables() *Schema {
	s := newSchema()
	for _, name := range []string{"a", "b"} {
		t := table{from: "{s}." + name, rows: 10, columns: []column{{name: "k", typ: "int4", uniform: true}}}
		for _, typ := range types {
			t.columns = append(t.columns, column{name: strings.TrimPrefix(typ, "_") + "_col", typ: typ, uniform: typ == "int4" || typ == "text"})
		}
		s.tables = append(s.tables, t)
	}
	return s
}

func TestGenerateRepeats(t *testing.T) {
	s := twoTables()
	differ := false
	for n := range uint64(500) {
		a := s.Generate(1, n)
		if a.SQL != s.Generate(1, n).SQL {
			t.Fatal("the same seed and number make another statement")
		}
		differ = differ || a.SQL != s.Generate(2, n).SQL
	}
	if !differ {
		t.Error("another seed makes the same statements")
	}
}

// TestGenerateParses also checks the rule that LIMIT stands behind an ORDER BY.
func TestGenerateParses(t *testing.T) {
	s := twoTables()
	var limits, params, joins, windows int
	for n := range uint64(3000) {
		a := s.Generate(1, n)
		tree, err := pg_query.Parse(strings.ReplaceAll(a.SQL, "{s}", "plain"))
		if err != nil {
			t.Errorf("%s: %v", a.SQL, err)
			continue
		}
		if sel := tree.Stmts[0].Stmt.GetSelectStmt(); sel.LimitCount != nil {
			limits++
			if len(sel.SortClause) == 0 || !a.Ordered || !a.Free {
				t.Errorf("LIMIT without an order: %s", a.SQL)
			}
		}
		params += len(a.Params)
		joins += strings.Count(a.SQL, " JOIN ")
		windows += strings.Count(a.SQL, " OVER ")
	}
	if limits == 0 || params == 0 || joins == 0 || windows == 0 {
		t.Errorf("%d limits, %d parameters, %d joins, %d windows", limits, params, joins, windows)
	}
}

func TestCalibrate(t *testing.T) {
	s := twoTables()
	none := func(string) bool { return false }
	if kept, _ := s.Calibrate(none, none); kept != 0 {
		t.Errorf("%d productions are kept that home refuses", kept)
	}
	s = twoTables()
	kept, taken := s.Calibrate(func(string) bool { return true }, func(sql string) bool { return !strings.Contains(sql, "text") })
	if kept == 0 || taken == 0 || taken >= kept {
		t.Fatalf("%d kept, %d taken", kept, taken)
	}
	for _, p := range s.productions["bool"] {
		if p.taken == always && strings.Contains(p.form, "{text}") {
			t.Errorf("%s is taken", p.form)
		}
	}
}
