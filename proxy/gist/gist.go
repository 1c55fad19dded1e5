package gist

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/lru"
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

var known = lru.New[string, Gist](textBytes)

// Of returns the gist of a statement.
func Of(statement string) Gist {
	if found, ok := known.Get(statement); ok {
		return found
	}
	made := Gist{Text: strip(statement)}
	made.Fingerprint, _ = pg_query.Fingerprint(statement)
	known.Put(statement, made, len(statement)+len(made.Text))
	return made
}

// constants are the tokens that may hold data, and comments, which may as well.
var constants = map[pg_query.Token]string{
	pg_query.Token_SCONST: "?", pg_query.Token_USCONST: "?", pg_query.Token_BCONST: "?", pg_query.Token_XCONST: "?",
	pg_query.Token_ICONST: "?", pg_query.Token_FCONST: "?", pg_query.Token_SQL_COMMENT: "", pg_query.Token_C_COMMENT: "",
}

// strip returns a statement with a question mark in the place of each literal, and without comments; empty where its tokens
// cannot be told. pg_query's Normalize leaves some literals where they are, those of CREATE TABLE AS among them.
func strip(statement string) string {
	scanned, err := pg_query.Scan(statement)
	if err != nil {
		return ""
	}
	var b strings.Builder
	at := 0
	for _, t := range scanned.Tokens {
		if instead, ok := constants[t.Token]; ok {
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
