package parser

import (
	"container/list"
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

// TestCache gives out the same trees again, and forgets the oldest first when texts grow beyond the bound.
func TestCache(t *testing.T) {
	c := &treeCache{entries: map[string]*list.Element{}}
	text := func(i int) string { return fmt.Sprintf("SELECT %04d /* %s */", i, strings.Repeat("x", 10_000)) }
	tree := []*Statement{{}}
	for i := range 200 {
		c.put(text(i), tree)
		if _, ok := c.get(text(0)); !ok {
			t.Fatalf("the text used last is forgotten after %d", i)
		}
	}
	if c.bytes > cacheBytes || len(c.entries) < 50 {
		t.Errorf("%d bytes in %d entries", c.bytes, len(c.entries))
	}
	if _, ok := c.get(text(1)); ok {
		t.Error("the oldest text is still known")
	}
	c.put(strings.Repeat("x", cacheBytes), tree)
	if _, ok := c.get(strings.Repeat("x", cacheBytes)); ok {
		t.Error("a text as large as the cache is kept")
	}
	a, err := Parse("SELECT 1 AS cached")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse("SELECT 1 AS cached")
	if err != nil || a[0] != b[0] || !proto.Equal(a[0].Node, b[0].Node) {
		t.Errorf("parsed again: %v", err)
	}
}
