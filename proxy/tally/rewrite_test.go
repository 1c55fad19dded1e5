package tally_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/tally"
)

// counted has one table with keys, and one of the same name in another schema with one more.
func counted(name string) []*catalog.Counted {
	if name != "item" {
		return nil
	}
	keys := []catalog.CountedKey{{Name: "state", Type: "text"}, {Name: "Done", Type: "boolean"}, {Name: "short", Type: "character varying(3)"}}
	return []*catalog.Counted{{Schema: "public", Name: "item", Keys: keys[:1]}, {Schema: "it's", Name: "item", Keys: keys}}
}

func TestRewrite(t *testing.T) {
	datadriven.RunTest(t, "testdata/rewrite", func(t *testing.T, d *datadriven.TestData) string {
		list, err := parser.Parse(d.Input)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		sql, ok := tally.Rewrite(list[0], counted)
		if !ok {
			return "as it was\n"
		}
		return sql + "\n"
	})
}
