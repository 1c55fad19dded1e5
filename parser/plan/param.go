package plan

import (
	"regexp"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// ShipsParams reports whether parameters go to an engine.
func (p *Plan) ShipsParams() bool {
	if len(p.Params) > 0 {
		return true
	}
	for i := range p.Inputs {
		if len(p.Inputs[i].Params) > 0 {
			return true
		}
	}
	return false
}

// dateForms are the spellings of values, as home writes them under ISO dates, that engines read as home does: years of
// four digits, of our era.
var dateForms = map[uint32]*regexp.Regexp{
	dateOID:        regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	timestampOID:   regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$`),
	timestamptzOID: regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)?$`),
}

// check is of a parameter's value, which home reads where it is false.
type check struct {
	param int
	takes func(value string) bool
}

// isCount is false for negative numbers of rows, which home refuses.
func isCount(value string) bool { return !strings.HasPrefix(value, "-") }

// parameterOf returns the number of the parameter that an expression is, perhaps under a cast; 0 for any other.
func parameterOf(n *pg_query.Node) int {
	if c := n.GetTypeCast(); c != nil {
		n = c.Arg
	}
	return int(n.GetParamRef().GetNumber())
}

// Takes reports whether the engines of the plan read all of the parameter values, in home's text form, as home does, and
// can use them.
func (p *Plan) Takes(types []uint32, texts []*string) bool {
	for i, t := range texts {
		if form := dateForms[types[i]]; t != nil && form != nil && !form.MatchString(*t) {
			return false
		}
	}
	for i, m := range p.Moments {
		if m.Type == listOID && !listed(texts[len(texts)-len(p.Moments)+i]) {
			return false
		}
	}
	return !slices.ContainsFunc(p.checks, func(c check) bool {
		value := texts[c.param-1]
		return value != nil && !c.takes(*value)
	})
}
