package parser

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	"google.golang.org/protobuf/proto"
)

var kindNames = map[Kind]string{
	Utility: "utility", Select: "select", Insert: "insert", Update: "update", Delete: "delete", Merge: "merge", CreateTableAs: "create table as",
	CopyTo: "copy to", CopyFrom: "copy from", Truncate: "truncate", DeclareCursor: "declare cursor", Explain: "explain", Prepare: "prepare",
	Execute: "execute",
}

// TestStatements prints the statements of a text: their kind, the text that is theirs, and which relations they name,
// targets with an exclamation mark.
func TestStatements(t *testing.T) {
	datadriven.RunTest(t, "testdata/statements", func(t *testing.T, d *datadriven.TestData) string {
		list, err := Parse(d.Input)
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			return fmt.Sprintf("%s at %d: %s\n", pe.Code, pe.Position, pe.Message)
		}
		var b strings.Builder
		for _, s := range list {
			fmt.Fprintf(&b, "%s: %q\n", kindNames[s.Kind], s.Text)
			for _, r := range s.Relations() {
				fmt.Fprintf(&b, "  %s\n", printRelation(r))
			}
			inner, err := s.Inner()
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			if inner != nil {
				fmt.Fprintf(&b, "  of %s: %s\n", kindNames[inner.Kind], inner.Text)
			}
		}
		return b.String()
	})
}

func printRelation(r Relation) string {
	name := r.Name
	if r.Schema != "" {
		name = r.Schema + "." + name
	}
	if r.Target {
		name += "!"
	}
	if a := r.Var.Alias; a != nil {
		name += " as " + a.Aliasname
	}
	if r.Holder == nil && !r.Target {
		name += " (fixed)"
	}
	return name
}

// TestRelationsOfClone finds the same references in the same order in a clone, and none of them shared.
func TestRelationsOfClone(t *testing.T) {
	list, err := Parse(`WITH c AS (SELECT * FROM a) SELECT (SELECT 1 FROM b) FROM c JOIN d ON d.x IN (SELECT y FROM e)`)
	if err != nil {
		t.Fatal(err)
	}
	clone := list[0].Clone()
	was, is := list[0].Relations(), clone.Relations()
	if len(was) != 4 || len(is) != len(was) {
		t.Fatalf("%d and %d relations", len(was), len(is))
	}
	for i := range was {
		if was[i].Name != is[i].Name || was[i].Var == is[i].Var {
			t.Errorf("reference %d: %v and %v", i, was[i], is[i])
		}
	}
	is[0].Var.Relname = "changed"
	if was[0].Var.Relname != "a" {
		t.Error("a change of the clone has changed the statement")
	}
}

// TestCache gives out the same trees again.
func TestCache(t *testing.T) {
	a, err := Parse("SELECT 1 AS cached")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse("SELECT 1 AS cached")
	if err != nil || a[0] != b[0] || !proto.Equal(a[0].Node, b[0].Node) {
		t.Errorf("parsed again: %v", err)
	}
}
