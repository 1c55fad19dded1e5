package oracle

import "strings"

// told returns what an error says that is secret, but for what the statement says itself.
func (o *Oracle) told(s Statement, got answer) string {
	if o.Secret == nil || got.code == "" {
		return ""
	}
	for _, said := range o.Secret.FindAllString(got.words, -1) {
		if !strings.Contains(s.SQL, said) {
			return said + " in " + got.words
		}
	}
	return ""
}

// blind asks a side's other schema and says what is not as in the answer given.
func (o *Oracle) blind(s Statement, side *Side, p protocol, got answer) (differs string, err error) {
	other, err := ask(o.ctx, side.conn, s.in(side.Blind), s.Params, p)
	if err != nil {
		return "connection: " + err.Error(), side.open(o.ctx, o.settings)
	}
	if what := difference(other, got, s.Ordered); what != "" {
		return "hidden: " + what, nil
	}
	if a, b := o.Lasting(other.words), o.Lasting(got.words); a != b {
		return "hidden words: want " + a + ", got " + b, nil
	}
	return "", nil
}
