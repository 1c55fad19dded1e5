package encode

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

const codeUntranslatable = "22P05"

// bindJSON passes JSON on as it is written, like Postgres' json.
func bindJSON(c column) cell {
	t, ok := stringsOf(c)
	if !ok {
		return nil
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := t.value(i)
		if !t.clean {
			if err := checkText(v); err != nil {
				return dst, err
			}
		}
		if !json.Valid(v) {
			return dst, invalidJSON()
		}
		return append(dst, v...), nil
	}
}

func invalidJSON() *pgconn.PgError {
	return pgerr.New(pgerr.InvalidTextRepr, "invalid input syntax for type json")
}

const jsonbVersion = 1

// bindJSONB writes JSON as jsonb_out does: keys sorted by length and then bytes, the last of equal ones, one space
// behind each colon and comma, numbers as numerics.
func bindJSONB(c column) cell {
	t, ok := stringsOf(c)
	if !ok {
		return nil
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := t.value(i)
		if !t.clean {
			if err := checkText(v); err != nil {
				return dst, err
			}
		}
		tree, err := parseJSON(v)
		if err != nil {
			return dst, err
		}
		if c.binary {
			dst = append(dst, jsonbVersion)
		}
		return appendJSONB(dst, tree)
	}
}

func parseJSON(v []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, invalidJSON()
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, invalidJSON()
	}
	if bytes.Contains(v, []byte(`\u`)) && lostSurrogate(v, tree) {
		return nil, invalidJSON()
	}
	return tree, nil
}

// lostSurrogate reports whether half a surrogate pair was replaced: more replacement characters came out than went in.
func lostSurrogate(v []byte, tree any) bool {
	in := bytes.Count(v, []byte("\ufffd")) + bytes.Count(bytes.ToLower(v), []byte(`\ufffd`))
	return countReplacements(tree) > in
}

func countReplacements(tree any) int {
	n := 0
	switch t := tree.(type) {
	case string:
		n = strings.Count(t, "\ufffd")
	case []any:
		for _, e := range t {
			n += countReplacements(e)
		}
	case map[string]any:
		for k, e := range t {
			n += strings.Count(k, "\ufffd") + countReplacements(e)
		}
	}
	return n
}

func appendJSONB(dst []byte, tree any) ([]byte, error) {
	switch t := tree.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		if t {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case json.Number:
		return appendJSONNumber(dst, string(t))
	case string:
		return appendJSONString(dst, t)
	case []any:
		return appendJSONArray(dst, t)
	default:
		return appendJSONObject(dst, t.(map[string]any))
	}
}

func appendJSONArray(dst []byte, elements []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',', ' ')
		}
		var err error
		if dst, err = appendJSONB(dst, e); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendJSONObject(dst []byte, object map[string]any) ([]byte, error) {
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',', ' ')
		}
		var err error
		if dst, err = appendJSONString(dst, k); err != nil {
			return dst, err
		}
		if dst, err = appendJSONB(append(dst, ':', ' '), object[k]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

const hexDigits = "0123456789abcdef"

func appendJSONString(dst []byte, s string) ([]byte, error) {
	dst = append(dst, '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == 0:
			return dst, pgerr.Detail(pgerr.New(codeUntranslatable, "unsupported Unicode escape sequence"), `\u0000 cannot be converted to text.`)
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b >= ' ':
			dst = append(dst, b)
		default:
			if at := strings.IndexByte("\b\f\n\r\t", b); at >= 0 {
				dst = append(dst, '\\', "bfnrt"[at])
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
			}
		}
	}
	return append(dst, '"'), nil
}

// appendJSONNumber writes a number as a numeric: exponents worked out, trailing zeros kept, no negative zero.
func appendJSONNumber(dst []byte, s string) ([]byte, error) {
	n, err := parseNumber(s)
	if err != nil {
		return dst, err
	}
	return appendNumericText(dst, n.digits, n.scale, n.negative), nil
}
