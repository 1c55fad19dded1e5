package keep

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// Documents is a Sink for an engine that takes each batch as one value, from which its SQL makes the rows: an array of arrays of texts,
// in JSON.
type Documents struct {
	// Engine is what messages call it.
	Engine  string
	Columns []Column
	// UTC is what its casts take behind a time for +00.
	UTC string
	// Spell is the text that a cast makes the value of, where it is another than home's; nil where there is none such. Bytes come in
	// hexadecimal digits, and times as UTC has it.
	Spell func(text string, c Column) (string, error)
	// Run takes a document.
	Run func(ctx context.Context, document string) error
}

// Sink is the Sink.
func (d Documents) Sink() Sink {
	return Each(func(ctx context.Context, rows *Batch) error {
		document, err := d.document(rows)
		if err != nil {
			return err
		}
		return d.Run(ctx, document)
	})
}

func (d Documents) document(rows *Batch) (string, error) {
	list := make([][]*string, rows.Rows())
	for i := range list {
		list[i] = make([]*string, len(d.Columns))
		for j, c := range d.Columns {
			v := rows.Value(i, j)
			if v == nil {
				continue
			}
			text, err := d.spelled(string(v), c)
			if err != nil {
				return "", err
			}
			list[i][j] = &text
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(list)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (d Documents) spelled(text string, c Column) (string, error) {
	switch c.Type.Name {
	case "bytea":
		return strings.TrimPrefix(text, `\x`), nil
	case "date", "timestamp without time zone", "timestamp with time zone":
		if !ordinary(text) {
			return "", pgerr.Hint(pgerr.New(pgerr.InvalidTextRepr, "%q cannot be kept as a %s of %s", text, c.Remote, d.Engine),
				"Cast the column in the query, for instance to text, or keep the result at home.")
		}
		return strings.Replace(text, "+00", d.UTC, 1), nil
	}
	if d.Spell == nil {
		return text, nil
	}
	return d.Spell(text, c)
}

var ordinaryTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?(\+00)?)?$`)

// ordinary reports whether a date or a time is of our era and its year has four digits: of others an engine may make other ones.
func ordinary(text string) bool { return ordinaryTime.MatchString(text) }
