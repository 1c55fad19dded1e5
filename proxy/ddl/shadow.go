package ddl

import (
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// shadowSchema holds the twins, under the names that the originals have. It is no longer than the names it stands for, so that
// errors are where the client wrote them.
const shadowSchema = "sluice_cat"

// Canceler is the function whose twin also reaches statements that engines run.
const Canceler = "pg_cancel_backend"

// shadowViews are the views of information_schema that have a twin, shadowFunctions the functions of pg_catalog, and
// sessionViews those of its views that show what the session has made, each with the function that it shows.
var (
	shadowViews     = map[string]bool{"tables": true, "columns": true, "views": true}
	shadowFunctions = map[string]bool{
		"pg_relation_is_updatable": true, "pg_column_is_updatable": true, Canceler: true, "pg_cursor": true, "pg_prepared_statement": true,
	}
	sessionViews = map[string]string{"pg_cursors": "pg_cursor", "pg_prepared_statements": "pg_prepared_statement"}
	// beforeView are the words before the bare name of a view.
	beforeView = map[string]bool{"from": true, "join": true, "table": true, "only": true}
	// clauses are words behind which a comma separates no tables.
	clauses = map[string]bool{"select": true, "where": true, "by": true, "having": true, "on": true, "set": true, "values": true, "returning": true}
)

// shadowed are the first words of the statements that are edited. Others, CREATE VIEW above all, keep what they
// name: what they make must not depend on the twins.
var shadowed = map[string]bool{
	"select": true, "with": true, "table": true, "values": true, "insert": true, "update": true, "delete": true,
	"merge": true, "explain": true, "copy": true, "declare": true, "prepare": true, "create table": true, "(": true,
}

// ShadowCatalog edits a query text so that it reads the twins of information_schema.tables, columns and views, and of
// functions and views of pg_catalog, where there are those functions. It replaces names only, by the position of their
// tokens, and reports whether there was anything to replace. Names in literals and comments stay, and so do unqualified
// names of views of information_schema: a search path with it is the user's own doing.
func ShadowCatalog(text string, twins map[string]bool) (string, bool) {
	if !mayNeedShadow(text) {
		return text, false
	}
	tokens, err := scan(text)
	if err != nil {
		return text, false
	}
	var b strings.Builder
	end := 0
	replace := func(from, to int, with string) {
		b.WriteString(text[end:from])
		b.WriteString(with)
		end = to
	}
	statements(tokens, func(first, last int) {
		for i := first; i < last; i++ {
			shadowAt(tokens, i, last, twins, replace)
		}
	})
	if end == 0 {
		return text, false
	}
	b.WriteString(text[end:])
	return b.String(), true
}

// mayNeedShadow is the cheap test before any scan: names are found whatever their case.
func mayNeedShadow(text string) bool {
	for i := range len(text) {
		if text[i] != '_' {
			continue
		}
		rest := text[i:]
		if hasFold(rest, "_is_updatable") || hasFold(rest, "_cursor") || hasFold(rest, "_prepared_statement") || hasFold(rest, "_cancel_backend") || hasFold(rest, "_schema") && i >= 11 && strings.EqualFold(text[i-11:i], "information") {
			return true
		}
	}
	return false
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// token is one token of a text; word is its name or key word, decoded, or the character it consists of.
type token struct {
	start, end int
	word       string
	name       bool // an identifier or a key word
}

func scan(text string) ([]token, error) {
	result, err := pg_query.Scan(text)
	if err != nil {
		return nil, err
	}
	tokens := make([]token, 0, len(result.Tokens))
	for _, t := range result.Tokens {
		source := text[t.Start:t.End]
		k := token{start: int(t.Start), end: int(t.End), word: source}
		switch {
		case t.Token == pg_query.Token_SQL_COMMENT || t.Token == pg_query.Token_C_COMMENT:
			continue
		case t.Token == pg_query.Token_IDENT && strings.HasPrefix(source, `"`):
			k.word, k.name = strings.ReplaceAll(source[1:len(source)-1], `""`, `"`), true
		case t.Token == pg_query.Token_IDENT, t.KeywordKind != pg_query.KeywordKind_NO_KEYWORD:
			k.word, k.name = strings.ToLower(source), true
		}
		tokens = append(tokens, k)
	}
	return tokens, nil
}

// statements calls f with the range of tokens of each statement that is edited.
func statements(tokens []token, f func(first, last int)) {
	first := 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && (tokens[i].name || tokens[i].word != ";") {
			continue
		}
		if first < i {
			if verb := verb(tokens[first:i]); shadowed[verb] {
				f(first, i)
			} else if verb == "create function" || verb == "create procedure" {
				return // a body of BEGIN ATOMIC has semicolons too: leave all that follows
			}
		}
		first = i + 1
	}
}

// verb returns a statement's first word, and for CREATE that and the kind of object.
func verb(tokens []token) string {
	first := tokens[0].word
	if first != "create" {
		return first
	}
	for _, t := range tokens[1:] {
		switch t.word {
		case "or", "replace", "global", "local", "temp", "temporary", "unlogged":
		default:
			return "create " + t.word
		}
	}
	return first
}

// inFrom reports whether behind these tokens a table is named, as far as that can be seen: behind FROM, JOIN and the like,
// or a comma in a list of these.
func inFrom(before []token) bool {
	depth, comma := 0, false
	for i := len(before) - 1; i >= 0; i-- {
		switch t := before[i]; {
		case t.word == ")" && !t.name:
			depth++
		case t.word == "(" && !t.name:
			if depth--; depth < 0 {
				return false
			}
		case depth > 0:
		case t.name && beforeView[t.word]:
			return true
		case t.name && clauses[t.word]:
			return false
		case t.word == ",":
			comma = true
		case !comma:
			return false
		}
	}
	return false
}

// shadowAt replaces the schema of a view's or function's name that starts at tokens[i], or puts one before it.
func shadowAt(tokens []token, i, last int, twins map[string]bool, replace func(from, to int, with string)) {
	t := tokens[i]
	if !t.name || i > 0 && tokens[i-1].word == "." && !tokens[i-1].name && t.word != "information_schema" {
		return // the last part of a longer name is looked at from its first part
	}
	is := func(j int, word string) bool { return j < last && !tokens[j].name && tokens[j].word == word }
	word := func(j int) string {
		if j < last && tokens[j].name {
			return tokens[j].word
		}
		return ""
	}
	function := func(j int) bool { return shadowFunctions[word(j)] && twins[word(j)] && is(j+1, "(") }
	view := func(j int) bool { return twins[sessionViews[word(j)]] && !is(j+1, "(") }
	switch {
	case t.word == "information_schema" && is(i+1, ".") && shadowViews[word(i+2)] && !is(i+3, "("),
		t.word == "pg_catalog" && is(i+1, ".") && (function(i+2) || view(i+2)):
		replace(t.start, t.end, fmt.Sprintf("%-*s", t.end-t.start, shadowSchema))
	case function(i), view(i) && !is(i+1, ".") && inFrom(tokens[:i]):
		replace(t.start, t.start, shadowSchema+".")
	}
}
