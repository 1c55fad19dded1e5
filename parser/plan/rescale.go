package plan

import (
	"strings"

	"github.com/sluicedb/sluice/parser/dialect"
)

// There is an engine that multiplies the decimal of the smaller scale, in no more digits than it has, to compare it with another. So it
// gets literals in the type of what they stand beside, and decimals of two types in the widest one.

// rescale brings a literal to the type of the decimal that it is compared with, where it has no more digits than that.
func (s *shipper) rescale(list []operand) {
	if !s.reads(dialect.Scaled) {
		return
	}
	for i := range list {
		if o, other := &list[i], list[1-i].typ; other.OID == numericOID && !other.Wide && !(o.typ.IsInt() && other.Typmod == dialect.Decimal(20, 0).Typmod) {
			if sql, ok := s.rescaled(*o, other); ok {
				o.sql, o.typ = sql, other
			}
		}
	}
}

func (s *shipper) rescaled(o operand, t typ) (string, bool) {
	p, scale, ok := t.Decimal()
	text, literal := numberText(o)
	if !ok || !literal {
		return "", false
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(strings.TrimLeft(whole, "0"))+scale > p || len(fraction) > scale {
		return "", false
	}
	return "CAST(" + s.d.Literal(text) + " AS " + s.d.Type(t.OID, t.Typmod) + ")", true
}

// numberText is the text of a literal that is read as a number.
func numberText(o operand) (string, bool) {
	c := o.node.GetAConst()
	text := c.GetSval().GetSval()
	switch {
	case c.GetFval() != nil:
		text = positional(c.GetFval().Fval)
	case c.GetIval() != nil:
		text = itoa(int(c.GetIval().Ival))
	}
	return text, text != "" && text != "-" && text != "." && decimalText.MatchString(text)
}

// common38 are the replacements for two numbers in the widest decimals, or as they are where they have one type.
func (s *shipper) common38(list []operand) []string {
	pairs := make([]string, 0, 2*len(list))
	for i, o := range list {
		sql := o.sql
		if _, scale, ok := o.typ.Digits(); ok && (o.typ.OID != list[0].typ.OID || o.typ.Typmod != list[0].typ.Typmod || o.typ.Typmod != list[1].typ.Typmod) {
			wide := dialect.Decimal(dialect.MostDigits, scale)
			sql = "CAST(" + sql + " AS " + s.d.Type(wide.OID, wide.Typmod) + ")"
		}
		pairs = append(pairs, "$w"+itoa(i+1), sql)
	}
	return pairs
}

// alongside brings a value that another is compared with, as one of several, to that one's type; false where numbers have two.
func (s *shipper) alongside(with typ, m *member) bool {
	if !s.reads(dialect.Scaled) || with.OID != numericOID && m.typ.OID != numericOID || !with.IsNumber() || !m.typ.IsNumber() {
		return true
	}
	if sql, ok := s.rescaled(operand{node: m.node}, with); ok {
		m.sql, m.typ = sql, with
	}
	return with.OID == m.typ.OID && with.Typmod == m.typ.Typmod
}
