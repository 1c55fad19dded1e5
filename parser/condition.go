package parser

import pg_query "github.com/pganalyze/pg_query_go/v6"

// Conjuncts appends to list the conditions that a condition joins by AND, itself where it joins none, and nothing for nil.
func Conjuncts(n *pg_query.Node, list []*pg_query.Node) []*pg_query.Node {
	if n == nil {
		return list
	}
	if e := n.GetBoolExpr(); e != nil && e.Boolop == pg_query.BoolExprType_AND_EXPR {
		for _, a := range e.Args {
			list = Conjuncts(a, list)
		}
		return list
	}
	return append(list, n)
}
