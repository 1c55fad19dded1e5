package plan

import "regexp"

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

// Shippable reports whether engines read all of the parameter values, in home's text form, as home does.
func Shippable(types []uint32, texts []*string) bool {
	for i, t := range texts {
		if form := dateForms[types[i]]; t != nil && form != nil && !form.MatchString(*t) {
			return false
		}
	}
	return true
}
