package keep

import (
	"context"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// TestDocuments writes rows as JSON, and refuses times that a cast may make other ones of.
func TestDocuments(t *testing.T) {
	for _, c := range []struct{ typ, text, want string }{
		{"text", `a"\<é`, `[["a\"\\<é"]]`}, {"text", "infinity", `[["infinity"]]`}, {"bytea", `\x00ff`, `[["00ff"]]`}, {"integer", "-7", `[["(-7)"]]`},
		{"date", "2024-02-29", `[["2024-02-29"]]`}, {"timestamp without time zone", "2024-02-29 12:34:56", `[["2024-02-29 12:34:56"]]`},
		{"timestamp with time zone", "9999-12-31 23:59:59.999999+00", `[["9999-12-31 23:59:59.999999 UTC"]]`},
		{"date", "infinity", ""}, {"date", "-infinity", ""}, {"date", "0044-03-15 BC", ""}, {"date", "10000-01-01", ""},
		{"timestamp without time zone", "294276-12-31 23:59:59", ""}, {"timestamp with time zone", "2024-02-29 12:34:56+05:30", ""},
	} {
		var got []string
		d := Documents{
			Engine: "Memory", Columns: []Column{{Name: "a", Type: Type{Name: c.typ}, Remote: "T"}}, UTC: " UTC",
			Spell: func(text string, of Column) (string, error) {
				if of.Type.Name == "integer" {
					text = "(" + text + ")"
				}
				return text, nil
			},
			Run: func(_ context.Context, document string) error {
				got = append(got, document)
				return nil
			},
		}
		err := fill(d.Sink(), framesOf([]*string{new(c.text)}, []*string{nil}))
		if c.want == "" {
			if code(err) != pgerr.InvalidTextRepr || len(got) > 0 {
				t.Errorf("%s %s: %q, %v", c.typ, c.text, got, err)
			}
			continue
		}
		if err != nil || strings.Join(got, " ") != c.want+" [[null]]" {
			t.Errorf("%s %s: %q, %v", c.typ, c.text, got, err)
		}
	}
}

// fill writes rows one by one.
func fill(sink Sink, rows engines.Stream) error {
	w := writer{sink: sink, rules: Rules{BatchRows: 1}, batch: Batch{columns: len(rows.Fields())}}
	return w.copy(context.Background(), rows)
}
