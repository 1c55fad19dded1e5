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

// Values are those of expressions that depend on no row, as home has found them for the current role.
type Values map[string]catalog.Value

// Resolve reads the rules of a relation, with the values in them of what depends on the session: current_user, settings,
// sub-selects over entitlement tables. It returns nil where there are none; missing are expressions whose values it needs
// and has not been given, all of which follow from the rules alone.
func Resolve(r *catalog.Relation, list []catalog.Rule, values Values) (rules *Rules, missing []string, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	rules = &Rules{Masks: map[string]*pg_query.Node{}}
	f := &folder{relation: r.Name, values: values}
	for _, rule := range list {
		n, err := expression(rule.Expression)
		if err == nil {
			err = f.fold(n)
			plainText(n)
		}
		switch {
		case err != nil:
			return nil, nil, Refuse(r, rule.Column, err)
		case rule.Column == "":
			rules.Filter = n
		case !hasColumn(r, rule.Column):
			return nil, nil, Refuse(r, rule.Column, pgerr.New(pgerr.UndefinedColumn, "the column does not exist"))
		default:
			rules.Masks[rule.Column] = n
		}
	}
	if len(f.missing) > 0 {
		return nil, f.missing, nil
	}
	return rules, nil, nil
}

// AtHome returns the rules of a table of home, whose masks home computes: which columns do not stand for themselves. It returns
// nil where the table is read as it is.
func AtHome(list []catalog.Rule) *Rules {
	if len(list) == 0 {
		return nil
	}
	rules := &Rules{Masks: map[string]*pg_query.Node{}}
	for _, rule := range list {
		n, err := expression(rule.Expression)
		if fields := n.GetColumnRef().GetFields(); err != nil || len(fields) != 1 || fields[0].GetString_().GetSval() != rule.Column {
			rules.Masks[rule.Column] = n
		}
	}
	return rules
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
