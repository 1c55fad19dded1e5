package gist

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/lru"
	"github.com/sluicedb/sluice/parser"
)

// textBytes bounds the statements whose gists are known, and mostText the text that is kept of one.
const (
	textBytes = 4 << 20
	mostText  = 16 << 10
)

// Gist is what is kept of a statement.
type Gist struct {
	Fingerprint string // empty for what Postgres alone can parse
	Text        string // with a question mark in the place of each literal, without comments
}

// wording is a statement, or what stands for many that differ in integers alone.
type wording struct {
	text    string
	general bool
}

var known = lru.New[wording, Gist](textBytes)

// Of returns the gist of a statement. Of those that differ in the integers alone that columns are compared with, it is made once.
func Of(statement string) Gist {
	general, values := parser.General(statement)
	w := wording{general, len(values) > 0}
	if found, ok := known.Get(w); ok {
		return found
	}
	made := Gist{Text: w.strip()}
	made.Fingerprint, _ = pg_query.Fingerprint(w.text)
	known.Put(w, made, len(w.text)+len(made.Text))
	return made
}

// constants are the tokens that may hold data, and comments, which may as well.
var constants = map[pg_query.Token]string{
	pg_query.Token_SCONST: "?", pg_query.Token_USCONST: "?", pg_query.Token_BCONST: "?", pg_query.Token_XCONST: "?",
	pg_query.Token_ICONST: "?", pg_query.Token_FCONST: "?", pg_query.Token_SQL_COMMENT: "", pg_query.Token_C_COMMENT: "",
}

// strip returns a statement with a question mark in the place of each literal, and of each parameter where these stand for
// literals, and without comments; empty where its tokens cannot be told. pg_query's Normalize leaves some literals where they are, those of CREATE TABLE AS among them.
func (w wording) strip() string {
	statement := w.text
	scanned, err := pg_query.Scan(statement)
	if err != nil {
		return ""
	}
	var b strings.Builder
	at := 0
	for _, t := range scanned.Tokens {
		instead, ok := constants[t.Token]
		if w.general && t.Token == pg_query.Token_PARAM {
			instead, ok = "?", true
		}
		if ok {
			b.WriteString(statement[at:t.Start])
			b.WriteString(instead)
			at = int(t.End)
		}
	}
	b.WriteString(statement[at:])
	out := strings.TrimSpace(b.String())
	if len(out) > mostText {
		out = strings.ToValidUTF8(out[:mostText], "") + "…"
	}
	return out
}
