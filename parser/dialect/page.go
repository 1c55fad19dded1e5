package dialect

import (
	"fmt"
	"strings"
)

// line is one line of the page: entries that differ by their name alone.
type line struct {
	names []string
	entry Entry
}

// Page renders the table for docs/pushdown.md.
func (t Table) Page() string {
	var b strings.Builder
	for _, kind := range []Kind{Operator, Function, Cast, Aggregate, Window} {
		lines := t.lines(kind)
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %ss\n\n| %s | over | gives | at the engine | proven by |\n|---|---|---|---|---|\n", strings.ToUpper(string(kind[:1]))+string(kind[1:]), kind)
		for _, l := range lines {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(strings.Join(l.names, " ")), cell(l.entry.over()), cell(l.entry.gives()), code(l.entry.SQL), cell(l.entry.Cases))
		}
	}
	return b.String()
}

// lines brings entries of a kind together that are printed alike but for their names.
func (t Table) lines(kind Kind) []*line {
	var lines []*line
	seen := map[string]*line{}
	for _, e := range t {
		if e.Kind != kind {
			continue
		}
		if kind == Operator {
			e.SQL = strings.ReplaceAll(e.SQL, " "+e.Name+" ", " op ")
		}
		key := e.over() + "|" + e.gives() + "|" + e.SQL + "|" + e.Cases
		if l := seen[key]; l != nil {
			l.names = append(l.names, e.Name)
			continue
		}
		seen[key] = &line{[]string{e.Name}, e}
		lines = append(lines, seen[key])
	}
	for _, l := range lines {
		if len(l.names) == 1 {
			l.entry.SQL = strings.ReplaceAll(l.entry.SQL, " op ", " "+l.names[0]+" ")
		}
	}
	return lines
}

// over says what the entry takes.
func (e *Entry) over() string {
	parts := make([]string, len(e.Args))
	for i, a := range e.Args {
		parts[i] = string(a.Class)
		if a.Words != "" {
			parts[i] = a.Words
		}
	}
	if len(parts) == 0 {
		return "—"
	}
	return strings.Join(parts, "; ")
}

// gives says what its value is.
func (e *Entry) gives() string {
	words := e.Result.Words
	types := make([]Type, len(e.Args))
	for i, a := range e.Args {
		types[i] = a.Class.sample()
	}
	if _, fit := e.Result.Of(types); fit == Guarded {
		words += ", guarded"
	}
	return words
}

// sample is a type that the class takes.
func (c Class) sample() Type {
	switch c {
	case Exact, Numeric, Sized, Fixed:
		return Decimal(10, 2)
	case Unfixed:
		return WideNumeric()
	case Integer:
		return Plain(int4OID)
	case Padded:
		return Type{OID: bpcharOID, Typmod: 8, Exact: true}
	case Text, Unpadded, Equal, Ordered, Letters, Any, Sorted, Grouped, Element:
		return TextOf()
	}
	return Plain(classTypes[c])
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func code(text string) string { return "`" + cell(text) + "`" }
