package plan

import (
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// like prints LIKE and ILIKE with a pattern that is a literal or a parameter.
func (s *shipper) like(x *pg_query.A_Expr, name string, e *scope) (string, typ, bool) {
	pattern, ok := patternOf(x.Rexpr)
	if !ok {
		return s.unproven("LIKE with an ESCAPE that is no literal")
	}
	list, ok := s.operands([]*pg_query.Node{x.Lexpr, pattern}, e)
	if !ok {
		return "", typ{}, false
	}
	if _, plain := literalText(pattern); !plain && parameterOf(pattern) == 0 {
		return s.unproven("LIKE with a pattern that is neither a literal nor a parameter")
	}
	return s.applied(name, list, e)
}

// patternOf returns a pattern whose escapes are backslashes, false where ESCAPE makes none of it before a plan runs.
func patternOf(n *pg_query.Node) (*pg_query.Node, bool) {
	f := n.GetFuncCall()
	if f == nil || lastName(f.Funcname) != "like_escape" || len(f.Args) != 2 {
		return n, true
	}
	pattern, escape := f.Args[0].GetAConst().GetSval(), f.Args[1].GetAConst().GetSval()
	if pattern == nil || escape == nil || utf8.RuneCountInString(escape.Sval) > 1 {
		return nil, false
	}
	return pg_query.MakeAConstStrNode(backslashed(pattern.Sval, escape.Sval), 0), true
}

// backslashed is like_escape.
func backslashed(pattern, escape string) string {
	var out strings.Builder
	after := false
	for _, r := range pattern {
		switch c := string(r); {
		case c == escape && !after:
			out.WriteByte('\\')
			after = true
			continue
		case c == `\` && !after:
			out.WriteString(`\\`)
		case c == `\`:
			out.WriteString(`\`) // behind its escape
		default:
			out.WriteString(c)
		}
		after = false
	}
	return out.String()
}
