package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
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
	return s.b.pageType(n)
}

// pageType is pageType of a value that home's text form has all of, under the settings of the session.
func (b *builder) pageType(n *pg_query.Node) uint32 {
	oid := pageType(n)
	if (oid == float4OID || oid == float8OID) && b.req.Settings.ExtraFloatDigits < 1 {
		return 0
	}
	return oid
}

// verbatimSelect prints a SELECT whose columns say their types, as those of sluice.page do, for another Postgres.
func (b *builder) verbatimSelect(first *source, sel *pg_query.SelectStmt) (string, []int, []catalog.Column, bool) {
	var columns []catalog.Column
	for _, n := range sel.TargetList {
		t := n.GetResTarget()
		oid := castType(t.Val.GetTypeCast())
		if oid == 0 || t.Name == "" {
			return "", nil, nil, false
		}
		columns = append(columns, catalog.Column{Name: t.Name, Type: oid, Typmod: -1, TypeName: dialect.Postgres{}.Type(oid, -1), Collation: defaultCollation})
	}
	v := b.newVerbatim(first)
	sql, ok := v.query(sel)
	if !ok {
		b.because("%s", v.reason)
	}
	return sql, v.params, columns, ok && len(columns) > 0
}

// castType is the type that a cast is to, 0 where a column of that type is not declared by its name alone.
func castType(c *pg_query.TypeCast) uint32 {
	if len(c.GetTypeName().GetNames()) == 0 || len(c.TypeName.Typmods) > 0 {
		return 0
	}
	for oid, name := range paramTypes {
		switch oid {
		case bpcharOID, 18, 1560: // whose names alone mean one character, or bit
			continue
		}
		if lastName(name.Names) == lastName(c.TypeName.Names) && len(name.ArrayBounds) == len(c.TypeName.ArrayBounds) && len(name.Typmods) == 0 {
			return oid
		}
	}
	return 0
}
