package keep

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// Document writes rows as an array of arrays of texts, in JSON, for engines that take them as one value. Each text is as spell has it.
func Document(rows *Batch, columns []Column, spell func(text string, c Column) (string, error)) (string, error) {
	list := make([][]*string, rows.Rows())
	for i := range list {
		list[i] = make([]*string, len(columns))
		for j, c := range columns {
			v := rows.Value(i, j)
			if v == nil {
				continue
			}
			text, err := spell(string(v), c)
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

var ordinaryTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?(\+00)?)?$`)

// Ordinary reports whether a date or a time is of our era and its year has four digits: of others an engine may make other ones.
func Ordinary(text string) bool { return ordinaryTime.MatchString(text) }
