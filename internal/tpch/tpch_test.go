package tpch

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
)

const factor = 0.01 // below, suppliers are too few for four different ones of each part

// read returns a table's rows, split into fields.
func read(t *testing.T, name string) [][]string {
	t.Helper()
	for _, table := range Tables() {
		if table.Name != name {
			continue
		}
		var b bytes.Buffer
		if err := table.Write(&b, factor); err != nil {
			t.Fatal(err)
		}
		var rows [][]string
		for line := range strings.Lines(b.String()) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
			if len(fields) != len(table.Columns) {
				t.Fatalf("table %s has %d columns, a row %q", name, len(table.Columns), line)
			}
			rows = append(rows, fields)
		}
		return rows
	}
	t.Fatalf("no table %s", name)
	return nil
}

// TestSizes compares numbers of rows with TPC-H 4.2.5.
func TestSizes(t *testing.T) {
	for name, want := range map[string]int{"region": 5, "nation": 25, "supplier": 100, "part": 2000, "partsupp": 8000, "customer": 1500, "orders": 15000} {
		if got := len(read(t, name)); got != want {
			t.Errorf("%s has %d rows, want %d", name, got, want)
		}
	}
}

// TestKeys follows foreign keys, and finds that keys are there once.
func TestKeys(t *testing.T) {
	keys := map[string]map[string]bool{}
	for _, k := range []struct {
		table  string
		fields []int
	}{{"nation", []int{0}}, {"supplier", []int{0}}, {"part", []int{0}}, {"partsupp", []int{0, 1}}, {"customer", []int{0}}, {"orders", []int{0}}, {"lineitem", []int{0, 3}}} {
		keys[k.table] = map[string]bool{}
		for _, row := range read(t, k.table) {
			key := pick(row, k.fields)
			if keys[k.table][key] {
				t.Fatalf("%s has key %s twice", k.table, key)
			}
			keys[k.table][key] = true
		}
	}
	for _, f := range []struct {
		table  string
		fields []int
		target string
	}{
		{"supplier", []int{3}, "nation"}, {"customer", []int{3}, "nation"}, {"partsupp", []int{1}, "supplier"}, {"partsupp", []int{0}, "part"},
		{"orders", []int{1}, "customer"}, {"lineitem", []int{0}, "orders"}, {"lineitem", []int{1, 2}, "partsupp"},
	} {
		for _, row := range read(t, f.table) {
			if key := pick(row, f.fields); !keys[f.target][key] {
				t.Fatalf("a row of %s names %s %s, which is not there", f.table, f.target, key)
			}
		}
	}
}

func pick(row []string, fields []int) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = row[f]
	}
	return strings.Join(parts, "/")
}

// TestTotals adds up each order's items (TPC-H 4.2.3, o_totalprice), and finds its status in theirs.
func TestTotals(t *testing.T) {
	totals, open, items := map[string]float64{}, map[string]int{}, map[string]int{}
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, l := range read(t, "lineitem") {
		totals[l[0]] += number(l[5]) * (1 + number(l[7])) * (1 - number(l[6]))
		items[l[0]]++
		if l[9] == "O" {
			open[l[0]]++
		}
	}
	for _, o := range read(t, "orders") {
		if d := totals[o[0]] - number(o[3]); d < -0.011 || d > 0.011 {
			t.Errorf("order %s says %s, its items make %f", o[0], o[3], totals[o[0]])
		}
		want := "P"
		switch open[o[0]] {
		case 0:
			want = "F"
		case items[o[0]]:
			want = "O"
		}
		if o[2] != want {
			t.Errorf("order %s has status %s, its items say %s", o[0], o[2], want)
		}
	}
}

// TestWriteFails finds that an error of the writer is told.
func TestWriteFails(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(io.ErrShortWrite)
	if err := Tables()[7].Write(w, factor); err != io.ErrShortWrite {
		t.Errorf("got %v", err)
	}
}
