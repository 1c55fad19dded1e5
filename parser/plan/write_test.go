package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
)

// lakeSnapshot has lake.item and lake.other on server lake, item with odd and generated columns, and view lake.items.
func lakeSnapshot() *catalog.Snapshot {
	server := &catalog.Server{OID: 1, Name: "lake", Wrapper: "sluice_duckdb", Options: map[string]string{"database": "/lake.duckdb"}}
	column := func(num int16, name string, oid uint32) catalog.Column {
		return catalog.Column{Num: num, Name: name, Type: oid, Typmod: -1, Collation: defaultCollation}
	}
	item := &catalog.Relation{OID: 10, Schema: "lake", Name: "item", Kind: 'f', Server: server, Options: map[string]string{"table_name": "items"},
		Columns: []catalog.Column{column(1, "id", int4OID), column(2, "Name", textOID), column(4, "price", float8OID), column(5, "twice", float8OID)}}
	item.Columns[1].Options = map[string]string{"column_name": "label"}
	item.Columns[3].Generated = true
	other := &catalog.Relation{OID: 11, Schema: "lake", Name: "other", Kind: 'f', Server: server,
		Columns: []catalog.Column{column(1, "id", int4OID), column(2, "note", textOID)}}
	view := &catalog.Relation{OID: 12, Schema: "lake", Name: "items", Kind: 'v', Columns: item.Columns}
	return &catalog.Snapshot{Installed: true, Servers: map[uint32]*catalog.Server{1: server},
		Relations: map[uint32]*catalog.Relation{10: item, 11: other, 12: view}}
}

// TestWrite prints the plans of DML on foreign tables. The argument returning lists the type OIDs of the RETURNING list; with
// guard policies hold.
func TestWrite(t *testing.T) {
	snapshot := lakeSnapshot()
	datadriven.RunTest(t, "testdata/write", func(t *testing.T, d *datadriven.TestData) string {
		list, err := parser.Parse(d.Input)
		if err != nil || len(list) != 1 {
			d.Fatalf(t, "cannot parse: %v", err)
		}
		req := Request{Statement: list[0], Snapshot: snapshot, TempPrefix: "s_", Definition: func(*catalog.Relation) (string, error) {
			return "SELECT id, \"Name\", price, twice FROM lake.item", nil
		}}
		for _, r := range list[0].Relations() {
			ref := Reference{OID: 99}
			for _, known := range snapshot.Relations {
				if known.Name == r.Name && (r.Schema == "lake" || r.Schema == "") {
					ref = Reference{OID: known.OID, Relation: known}
				}
			}
			req.References = append(req.References, ref)
		}
		snapshot.Relations[10].Governed = d.HasArg("guard")
		req.Guards = func(*catalog.Relation) (*Guard, error) { return &Guard{RowSecurity: true}, nil }
		for _, arg := range d.CmdArgs {
			for _, v := range arg.Vals {
				oid, err := strconv.Atoi(v)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				req.Fields = append(req.Fields, engines.Field{OID: uint32(oid)})
			}
		}
		return printWrite(Build(req))
	})
}

func printWrite(p *Plan, err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return fmt.Sprintf("%s: %s\nhint: %s\n", pe.Code, pe.Message, pe.Hint)
	}
	var b strings.Builder
	line := func(name string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				fmt.Fprintf(&b, "%s: %s\n", name, text)
			}
		}
	}
	w := p.Write
	for _, v := range p.Privileges {
		line("needs", fmt.Sprintf("%s on %s %v", v.Name, v.Relation.Name, v.Columns))
	}
	line("columns", strings.Join(w.Columns, ", "))
	line("generated", strings.Join(w.Generated, ", "))
	if w.Skip {
		line("skip", "conflicts")
	}
	line("table", w.Table)
	line("setup", w.Setup...)
	for _, in := range p.Inputs {
		name := in.TempName
		if in.RowID {
			name += " of " + in.Parent
		}
		line("input", fmt.Sprintf("%s: %s %v", name, in.RemoteSQL, in.Params))
	}
	line("stage", w.StageSQL)
	line("run", w.RunSQL)
	line("rows", w.RowsSQL)
	line("returning", w.ReturningSQL)
	line("temps", strings.Join(w.Temps, ", "))
	if w.Guard != nil {
		line("sealed", w.Prefix+"t", w.Child)
	}
	return b.String()
}

// TestNameEnd finds names in texts of any length and with anything between their parts.
func TestNameEnd(t *testing.T) {
	long := strings.Repeat("x", 2*longestName)
	for text, name := range map[string]string{
		"t": "t", "a.b.c (x)": "a.b.c", `"a.b" . "c""d" AS x`: `"a.b" . "c""d"`, "t/*.x*/ VALUES (1)": "t", "a --\n.b": "a --\n.b",
		"a.b VALUES ('" + long + "')": "a.b", "a /*" + long + "*/ .b DEFAULT VALUES": "a /*" + long + "*/ .b",
		"a" + strings.Repeat(" ", longestName) + ".b":                            "a" + strings.Repeat(" ", longestName) + ".b",
		"\u00fc.\u00e4 VALUES ('" + strings.Repeat("\u00e4", longestName) + "')": "\u00fc.\u00e4",
	} {
		if end, err := nameEnd(text); err != nil || text[:end] != name {
			t.Errorf("%.40q: %d, %v", text, end, err)
		}
	}
}
