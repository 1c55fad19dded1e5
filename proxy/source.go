package proxy

import (
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/parser"
)

// sourceMark stands before the text that the client wrote, in a comment behind what home was given in its place. The
// function sluice_cat.client_text knows it.
const sourceMark = "\n--sluice: "

// withSource returns a text for home whose statement will be seen in pg_cursors or pg_prepared_statements, together with
// the query text of the client's that it stands for, unless it has that already.
func withSource(sql, source string) string {
	if sql == source || strings.Contains(sql, sourceMark) {
		return sql
	}
	if i := strings.LastIndex(source, sourceMark); i >= 0 { // it was edited before
		return sql + source[i:]
	}
	return sql + sourceMark + `"` + jsonText.Replace(source) + `"`
}

// jsonText escapes what cannot stand in a JSON string, and leaves bytes alone that are no UTF-8.
var jsonText = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`}
	for c := range ' ' {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	return strings.NewReplacer(pairs...)
}()

// innerOf returns the statement that another prepares, with the query text that it stands in; nil where there is none.
func innerOf(st *parser.Statement) (*parser.Statement, error) {
	inner, err := st.Inner()
	if err != nil || inner == nil {
		return nil, err
	}
	own := *inner
	own.Source = st.Source
	return &own, nil
}
