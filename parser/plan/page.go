package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// pageFunctions are the functions of the extension whose values sluice.page writes into statements, each in a sub-select of its own,
// with their types: none hangs on a row.
var pageFunctions = map[string]uint32{"page_first": boolOID, "page_value": textOID, "page_rows": int8OID}

// pageTypes are the types that their values are cast to.
var pageTypes = map[string]uint32{
	"int2": int2OID, "int4": int4OID, "int8": int8OID, "numeric": numericOID, "float4": float4OID, "float8": float8OID, "text": textOID,
	"bpchar": bpcharOID, "uuid": uuidOID, "date": dateOID, "timestamp": timestampOID, "timestamptz": timestamptzOID, "bool": boolOID,
}

// pageType is the type of a value that sluice.page has written into the statement, 0 for all else.
func pageType(n *pg_query.Node) uint32 {
	if c := n.GetTypeCast(); c != nil {
		names := c.TypeName.GetNames()
		if pageCall(c.Arg) != textOID || len(names) != 2 || names[0].GetString_().GetSval() != "pg_catalog" || len(c.TypeName.Typmods)+len(c.TypeName.ArrayBounds) > 0 {
			return 0
		}
		return pageTypes[lastName(names)]
	}
	if t := pageCall(n); t != textOID {
		return t
	}
	return 0
}

// pageCall is the type of a sub-select that yields the value of one of the functions, 0 for any other node.
func pageCall(n *pg_query.Node) uint32 {
	l := n.GetSubLink()
	sel := l.GetSubselect().GetSelectStmt()
	if sel == nil || l.SubLinkType != pg_query.SubLinkType_EXPR_SUBLINK || len(sel.TargetList) != 1 || len(sel.FromClause) > 0 || sel.WhereClause != nil {
		return 0
	}
	c := sel.TargetList[0].GetResTarget().GetVal().GetFuncCall()
	if c == nil || len(c.Funcname) != 2 || c.Funcname[0].GetString_().GetSval() != "sluice" {
		return 0
	}
	for _, a := range c.Args {
		if hasColumn(a) {
			return 0
		}
	}
	return pageFunctions[lastName(c.Funcname)]
}

func (s *shipper) pageType(n *pg_query.Node) uint32 {
	if s.rule {
		return 0
	}
	return pageType(n)
}
