package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// scope is what column references at one query level can mean. All SQL in it is in the engine's dialect.
type scope struct {
	relations []scopeRelation
	ctes      []scopeRelation // common table expressions, by alias
	windows   []*pg_query.Node
	equals    *equals // of a query with grouping sets
	grouped   bool    // what is printed may be what the query groups by
	outer     *scope
}

// scopeRelation is one FROM item under its alias.
type scopeRelation struct {
	alias   string
	remote  string   // of a common table expression: its name in the engine's SQL
	names   []string // and those of its columns
	body    string   // and, where it is written out in each place, its query
	columns []scopeColumn
}

type scopeColumn struct {
	name   string
	sql    string
	typ    typ
	merged bool   // a join by USING has made another of it, which its bare name means
	fixed  bool   // of a select list: no column is in it
	raises bool   // likewise: it may raise an error for a row
	remote string // likewise: its name in the engine's SQL
}

// column finds what a reference means: name, or alias and name. Home has made sure that it is not ambiguous.
func (e *scope) column(fields []*pg_query.Node) (scopeColumn, bool) {
	name := fields[len(fields)-1].GetString_().GetSval()
	alias := ""
	if len(fields) > 1 {
		alias = fields[len(fields)-2].GetString_().GetSval()
	}
	for ; e != nil; e = e.outer {
		for _, r := range e.relations {
			if alias != "" && r.alias != alias {
				continue
			}
			for _, c := range r.columns {
				if c.name == name && (alias != "" || !c.merged) {
					return c, true
				}
			}
			if alias != "" {
				return scopeColumn{}, false // a system column, or a row as a whole
			}
		}
	}
	return scopeColumn{}, false
}

// owns reports whether no column in expressions belongs to an outer level.
func (e *scope) owns(nodes []*pg_query.Node) bool {
	own := &scope{}
	if e != nil {
		own.relations = e.relations
	}
	all := true
	for _, n := range nodes {
		parser.Walk(n, func(m proto.Message) bool {
			if ref, ok := m.(*pg_query.ColumnRef); ok {
				_, found := own.column(ref.Fields)
				all = all && found
			}
			return true
		})
	}
	return all
}

// tables are the common table expressions in sight, an inner one before an outer one of the same name.
func (e *scope) tables() []scopeRelation {
	var list []scopeRelation
	for ; e != nil; e = e.outer {
		list = append(list, e.ctes...)
	}
	return list
}

func (e *scope) cte(name string) (scopeRelation, bool) {
	for ; e != nil; e = e.outer {
		for _, r := range e.ctes {
			if r.alias == name {
				return r, true
			}
		}
	}
	return scopeRelation{}, false
}
