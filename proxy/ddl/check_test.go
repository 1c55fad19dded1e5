package ddl_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// present is a catalog with servers s (ours) and pg (another wrapper's) and foreign table app.t.
func present() ddl.Present {
	s := &catalog.Server{OID: 1, Name: "s", Wrapper: "sluice_duckdb", Options: map[string]string{"host": "h", "port": "1"}}
	p := ddl.InSnapshot(&catalog.Snapshot{
		Servers: map[uint32]*catalog.Server{1: s, 2: {OID: 2, Name: "flake", Wrapper: "sluice_snowflake"}},
		Relations: map[uint32]*catalog.Relation{
			3: {OID: 3, Schema: "app", Name: "t", Kind: 'f', Server: s, Options: map[string]string{"file": "f"},
				Columns: []catalog.Column{{Num: 1, Name: "a", Options: map[string]string{"column_name": "A"}}}},
			4: {OID: 4, Schema: "app", Name: "twice", Kind: 'f', Server: s},
			5: {OID: 5, Schema: "app2", Name: "twice", Kind: 'f', Server: s},
		},
	})
	p.Mapping = func(server, user string) (map[string]string, bool) {
		return map[string]string{"user": "u"}, server == "s" && user == "PUBLIC"
	}
	return p
}

func TestCheck(t *testing.T) {
	datadriven.RunTest(t, "testdata/check", func(t *testing.T, d *datadriven.TestData) string {
		p := present()
		if d.Cmd == "blind" {
			p = ddl.Present{}
		}
		tree, err := pg_query.Parse(d.Input)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		notices, err := ddl.Check(tree.Stmts[0].Stmt, wrappers, p)
		if out := say(notices, err); out != "" {
			return out
		}
		return "ok\n"
	})
}
