package clickhouse

import (
	"slices"
	"strconv"
	"strings"
)

// typeName is a type as the server spells it, taken apart: a name, and what stands in parentheses.
type typeName struct {
	text string // all of it
	name string
	args []string
}

// parseType takes a type apart. Parentheses and quotes nest.
func parseType(text string) typeName {
	text = strings.TrimSpace(text)
	open := strings.IndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") {
		return typeName{text: text, name: text}
	}
	return typeName{text: text, name: text[:open], args: splitArgs(text[open+1 : len(text)-1])}
}

// splitArgs parts a list at its outermost commas.
func splitArgs(text string) []string {
	var args []string
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '\'', '`', '"':
			i = closing(text, i)
		case ',':
			if depth == 0 {
				args = append(args, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" {
		args = append(args, last)
	}
	return args
}

// closing returns where the quote ends that opens at a place, or the last byte.
func closing(text string, at int) int {
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return len(text) - 1
}

// number returns an argument that is one, -1 for none.
func (t typeName) number(i int) int {
	if i >= len(t.args) {
		return -1
	}
	n, err := strconv.Atoi(t.args[i])
	if err != nil {
		return -1
	}
	return n
}

// decimal returns precision and scale of the types that are decimals.
func (t typeName) decimal() (precision, scale int, ok bool) {
	switch t.name {
	case "Decimal":
		precision, scale = t.number(0), max(t.number(1), 0)
	case "Decimal32", "Decimal64", "Decimal128", "Decimal256":
		precision, scale = map[string]int{"Decimal32": 9, "Decimal64": 18, "Decimal128": 38, "Decimal256": 76}[t.name], t.number(0)
	}
	return precision, scale, precision > 0 && precision <= 76 && scale >= 0 && scale <= precision
}

// labels returns the labels of an enum by their numbers.
func (t typeName) labels() map[int16]string {
	out := make(map[int16]string, len(t.args))
	for _, a := range t.args {
		if a == "" || a[0] != '\'' {
			return nil
		}
		end := closing(a, 0)
		_, number, _ := strings.Cut(a[end:], "=")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 16)
		if err != nil {
			return nil
		}
		out[int16(n)] = unescape(a[1:end])
	}
	return out
}

var escapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '0': 0, 'a': '\a', 'v': '\v'}

// unescape reads what stands between quotes.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			if c = text[i]; escapes[c] != 0 || c == '0' {
				c = escapes[c]
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// element takes apart an element of a tuple, which may have a name.
func element(arg string) (name string, t typeName) {
	if arg != "" && (arg[0] == '`' || arg[0] == '"') {
		end := closing(arg, 0)
		return unescape(arg[1:end]), parseType(arg[end+1:])
	}
	if name, rest, ok := strings.Cut(arg, " "); ok && !strings.ContainsAny(name, "(',") {
		return name, parseType(rest)
	}
	return "", parseType(arg)
}

// has reports whether a type is of a name, or has one of it within.
func (t typeName) has(name string) bool {
	return t.name == name || slices.ContainsFunc(t.args, func(arg string) bool {
		_, inner := element(arg)
		return inner.has(name)
	})
}

// isCoded reports whether a type's values may come with a dictionary.
func (t typeName) isCoded() bool {
	for t.name == "SimpleAggregateFunction" && len(t.args) == 2 {
		t = parseType(t.args[1])
	}
	return t.name == "LowCardinality"
}

// plain takes off what makes no other values: dictionaries, and functions that only merge; and says whether NULL is among them.
func (t typeName) plain() (inner typeName, nullable bool) {
	for {
		switch {
		case t.name == "LowCardinality" && len(t.args) == 1:
			t = parseType(t.args[0])
		case t.name == "Nullable" && len(t.args) == 1:
			t, nullable = parseType(t.args[0]), true
		case t.name == "SimpleAggregateFunction" && len(t.args) == 2:
			t = parseType(t.args[1])
		default:
			return t, nullable
		}
	}
}
