package plan

import (
	"regexp"
	"slices"
	"strings"
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

// Takes reports whether the engines of the plan read all of the parameter values, in home's text form, as home does, and
// can use them.
func (p *Plan) Takes(types []uint32, texts []*string) bool {
	for i, t := range texts {
		switch form := dateForms[types[i]]; {
		case t == nil:
		case form != nil && !form.MatchString(*t), strings.HasPrefix(*t, "-") && slices.Contains(p.counts, i+1):
			return false
		}
	}
	return true
}
