package tests

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestExplainFormats reads EXPLAIN in each format that programs read, and finds in it what the text says.
func TestExplainFormats(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	conn := connect(t, w.through)
	for sql, said := range map[string][]string{
		"SELECT name FROM item WHERE name <> 'a\"b'":                                 {"remote", "a\"b"},
		"SELECT upper(name) FROM item JOIN h USING (id) WHERE item.id < 3":           {"home_join", "relations of home take part", "Hash Join", " < 3"},
		"SELECT count(*) FROM item a, item b, h WHERE a.id < 2 AND lower('x') = 'x'": {"home_join", " < 2"},
	} {
		for _, options := range []string{"", "ANALYZE, ", "VERBOSE, ", "ANALYZE, VERBOSE, "} {
			for format, read := range explainReaders {
				text := rows(t, conn, "EXPLAIN ("+options+"FORMAT "+format+") "+sql)
				got, err := read(text)
				if err != nil {
					t.Errorf("%s (%s): %v in\n%s", sql, options+format, err, text)
					continue
				}
				wanted := said
				if strings.HasPrefix(options, "ANALYZE") {
					wanted = append(wanted[:len(wanted):len(wanted)], "Execution")
				}
				for _, want := range wanted {
					if !strings.Contains(got, want) {
						t.Errorf("%s (%s): no %q in\n%s", sql, options+format, want, text)
					}
				}
			}
		}
	}
}

// explainReaders read a format and return all names and values of it.
var explainReaders = map[string]func(text string) (string, error){
	"TEXT": func(text string) (string, error) { return text, nil },
	"JSON": func(text string) (string, error) {
		var v []any
		err := json.Unmarshal([]byte(text), &v)
		return flat(v), err
	},
	"YAML": func(text string) (string, error) {
		var v []any
		err := yaml.Unmarshal([]byte(text), &v)
		return flat(v), err
	},
	"XML": func(text string) (string, error) {
		var b strings.Builder
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			switch token, err := d.Token(); token := token.(type) {
			case xml.StartElement:
				b.WriteString(token.Name.Local + "\n")
			case xml.CharData:
				b.WriteString(string(token) + "\n")
			default:
				if err == io.EOF {
					return b.String(), nil
				} else if err != nil {
					return "", err
				}
			}
		}
	},
}

// flat lists all names and texts of a document.
func flat(v any) string {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(flat(e))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for name, e := range v {
			b.WriteString(name + "\n" + flat(e))
		}
		return b.String()
	}
	return ""
}
