package govern

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// Rules govern what a role reads of a relation. Their expressions are of the relation's columns, constants, and functions
// and operators of pg_catalog that home is not needed for: what depends on the session has its value in them.
type Rules struct {
	Filter *pg_query.Node            // nil: every row
	Masks  map[string]*pg_query.Node // what stands for a column, by its name
}

// Evaluate computes an expression that depends on no row, at home and for the current role. The value is nil for NULL.
type Evaluate func(expression string) (value *string, typ string, err error)

// Resolve reads the rules of a relation, and has home evaluate what depends on the session in them: current_user,
// settings, sub-selects over entitlement tables. It returns nil where there are none.
func Resolve(r *catalog.Relation, list []catalog.Rule, evaluate Evaluate) (*Rules, error) {
	if len(list) == 0 {
		return nil, nil
	}
	rules := &Rules{Masks: map[string]*pg_query.Node{}}
	for _, rule := range list {
		n, err := expression(rule.Expression)
		if err == nil {
			err = (&folder{relation: r.Name, evaluate: evaluate}).fold(n)
			withoutNames(n)
		}
		switch {
		case err != nil:
			return nil, Refuse(r, rule.Column, err)
		case rule.Column == "":
			rules.Filter = n
		case !hasColumn(r, rule.Column):
			return nil, Refuse(r, rule.Column, pgerr.New(pgerr.UndefinedColumn, "the column does not exist"))
		default:
			rules.Masks[rule.Column] = n
		}
	}
	return rules, nil
}

func hasColumn(r *catalog.Relation, name string) bool {
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return true
		}
	}
	return false
}

// Refuse is the error of who reads a relation one of whose rules, a column's mask or (no column) the row filter, cannot be
// followed for the reason given.
func Refuse(r *catalog.Relation, column string, reason error) error {
	what := "row filter"
	if column != "" {
		what = "mask of column \"" + column + "\""
	}
	pe := pgerr.From(reason)
	return pgerr.Hint(pgerr.New(pe.Code, "cannot follow the %s of foreign table %q: %s", what, r.Name, pe.Message),
		"The table's owner must change the rule, or what it depends on.")
}

func expression(text string) (*pg_query.Node, error) {
	list, err := parser.Parse("SELECT (" + text + ")")
	if err != nil {
		return nil, err
	}
	sel := list[0].Clone().Node.Stmt.GetSelectStmt() // parsed statements are shared
	if len(list) != 1 || len(sel.GetTargetList()) != 1 || len(sel.FromClause) > 0 {
		return nil, pgerr.New(pgerr.SyntaxError, "it is not one expression")
	}
	return sel.TargetList[0].GetResTarget().Val, nil
}
