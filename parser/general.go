package parser

import (
	"slices"
	"strconv"
	"strings"
)

// mostValues is how many parameters General makes at most.
const mostValues = 64

// General returns a query text with parameters, $1 and so on, in place of integers that fit int4 and that a column is
// compared with in WHERE, and these integers in order; equal ones share a parameter. (Elsewhere an expression may have to be the same as
// another: in GROUP BY, in DISTINCT ON.) Such texts are many that differ in those
// alone, and mean the same whichever they are. Where the text may have parameters already, or literals whose end only the
// server knows, or has nothing to replace, there are no values.
func General(text string) (general string, values []string) {
	g := generalizer{text: text}
	for g.at < len(text) {
		if !g.token() {
			return text, nil
		}
	}
	g.decide("")
	if len(g.values) == 0 {
		return text, nil
	}
	g.out.WriteString(text[g.copied:])
	return g.out.String(), g.values
}

// generalizer looks at three tokens back: a column, a comparison, and an integer, which the token behind them decides on.
type generalizer struct {
	text   string
	at     int
	out    strings.Builder
	copied int // how much of text is in out
	values []string

	where  bool   // whether the last clause that has begun is WHERE
	around []bool // the same for what is around each parenthesis that is open

	column, comparison bool // what the last tokens were
	start, end         int  // of the integer that waits for the next token; end is 0 for none
}

// comparisons are the operators that an integer may stand behind.
var comparisons = []string{"=", "<", ">", "<=", ">=", "<>", "!="}

// ends are the words that may follow a comparison without being a part of it.
var ends = []string{"and", "or", "order", "group", "having", "limit", "offset", "fetch", "for", "union", "intersect", "except", "window"}

// clauses are the words that end a WHERE.
var clauses = []string{"select", "from", "group", "order", "having", "limit", "offset", "fetch", "for", "union", "intersect", "except", "window", "returning", "set", "values"}

const operatorChars = "+-*/<>=~!@#%^&|`?"

// token steps over the next token; false where nobody can tell what it is.
func (g *generalizer) token() bool {
	text, i := g.text, g.at
	c := text[i]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
		g.at++
	case c == '-' && strings.HasPrefix(text[i:], "--"):
		g.at = lineEnd(text, i)
	case c == '/' && strings.HasPrefix(text[i:], "/*"):
		g.at = commentEnd(text, i)
	case c == '$' || c == '\\':
		return false
	case c == '\'':
		end, plain := literal(text, i)
		g.next("'", end, false, false)
		return plain
	case c == '"':
		end, _ := quoted(text, i)
		g.next(`"`, end, true, false)
	case isIdentStart(c):
		for g.at = i; g.at < len(text) && isIdentPart(text[g.at]); {
			g.at++
		}
		if g.at < len(text) && (text[g.at] == '\'' || text[g.at] == '&') { // a prefix of a literal
			return false
		}
		g.next(text[i:g.at], g.at, true, false)
	case c >= '0' && c <= '9':
		g.number()
	case strings.IndexByte(operatorChars, c) >= 0:
		end := i + 1
		for end < len(text) && strings.IndexByte(operatorChars, text[end]) >= 0 {
			end++
		}
		g.next(text[i:end], end, false, g.column && slices.Contains(comparisons, text[i:end]))
	default:
		g.next(text[i:i+1], i+1, false, false)
	}
	return true
}

// number steps over a number, and keeps an integer that a column is compared with.
func (g *generalizer) number() {
	i, end := g.at, g.at
	for end < len(g.text) && (isIdentPart(g.text[end]) || g.text[end] == '.') {
		end++
	}
	compared := g.comparison && g.where
	g.next(g.text[i:end], end, false, false)
	if n, err := strconv.ParseInt(g.text[i:end], 10, 32); compared && err == nil && strconv.FormatInt(n, 10) == g.text[i:end] {
		g.start, g.end = i, end
	}
}

// next takes in a token that ends at end.
func (g *generalizer) next(token string, end int, column, comparison bool) {
	g.decide(token)
	g.clause(token)
	g.at, g.column, g.comparison = end, column, comparison
}

// clause notes in which clause what follows a token is.
func (g *generalizer) clause(token string) {
	switch word := strings.ToLower(token); {
	case word == "(":
		g.around = append(g.around, g.where)
	case word == ")" && len(g.around) > 0:
		g.where = g.around[len(g.around)-1]
		g.around = g.around[:len(g.around)-1]
	case word == "where":
		g.where = true
	case slices.Contains(clauses, word):
		g.where = false
	}
}

// decide replaces the integer that waits, where what follows it is no part of its expression.
func (g *generalizer) decide(follows string) {
	start, end := g.start, g.end
	if g.end = 0; end == 0 {
		return
	}
	if follows != "" && follows != ";" && follows != ")" && !slices.Contains(ends, strings.ToLower(follows)) {
		return
	}
	n := slices.Index(g.values, g.text[start:end])
	if n < 0 {
		if len(g.values) == mostValues {
			return
		}
		n = len(g.values)
		g.values = append(g.values, g.text[start:end])
	}
	g.out.WriteString(g.text[g.copied:start] + "$" + strconv.Itoa(n+1))
	g.copied = end
}
