package plan

import (
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

var castNames = map[string]uint32{
	"int2": int2OID, "int4": int4OID, "int8": int8OID, "bool": boolOID, "text": textOID, "date": dateOID,
	"timestamp": timestampOID, "timestamptz": timestamptzOID, "uuid": uuidOID, "numeric": numericOID, "float8": float8OID,
	"float4": float4OID, "bpchar": bpcharOID, "varchar": varcharOID,
}

// cast prints casts of literals, and those of the dialect's table.
func (s *shipper) cast(c *pg_query.TypeCast, e *scope) (string, typ, bool) {
	name := lastName(c.TypeName.Names)
	if name == "interval" {
		return s.intervalLiteral(&pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: c}})
	}
	oid, known := castNames[name]
	if !known || len(c.TypeName.ArrayBounds) > 0 || c.TypeName.Setof {
		return s.no("a cast to %s is evaluated at home", name)
	}
	want, ok := modified(oid, c.TypeName.Typmods)
	if !ok {
		return s.no("a cast to %s with a modifier is evaluated at home", name)
	}
	want.Bytewise, want.Exact = s.b.bytewise(), true
	if isLiteral(c.Arg) && !isNull(c.Arg) {
		sql, t, ok := s.typed(c.Arg, e, want)
		t.Bytewise = want.Bytewise
		return sql, t, ok
	}
	list, ok := s.operands([]*pg_query.Node{c.Arg}, e)
	if !ok {
		return "", typ{}, false
	}
	if isNull(c.Arg) && want.Wide {
		if s.rule { // whose value takes the column's type in the end
			return "NULL", unknown, true
		}
		return s.no("a NULL of type numeric is computed at home")
	}
	if isNull(c.Arg) {
		declared := want.Declared
		sql, t, ok := s.null(want)
		t.Declared = declared
		return sql, t, ok
	}
	if oid == numericOID && want.Typmod >= 4 {
		return s.rounded(list[0], want)
	}
	if sql, t, ok := s.apply(dialect.Cast, name, list, e); ok {
		return sql, t, true
	}
	return s.unproven("a cast from %s to %s", list[0].typ.Name(), name)
}

// modified is a type with its modifiers, of which numeric has one that is known.
func modified(oid uint32, mods []*pg_query.Node) (typ, bool) {
	switch {
	case len(mods) == 0:
		t := dialect.Plain(oid)
		t.Wide = oid == numericOID
		return t, oid != bpcharOID && oid != varcharOID
	case oid != numericOID || len(mods) > 2:
		return typ{}, false
	}
	digits := [2]int{}
	for i, m := range mods {
		n := m.GetAConst().GetIval()
		if n == nil {
			return typ{}, false
		}
		digits[i] = int(n.Ival)
	}
	t := dialect.Decimal(digits[0], digits[1])
	_, _, ok := t.Decimal()
	return t, ok && digits[1] >= 0
}

// rounded prints a cast to numeric(p,s), where both round half away from zero and refuse what is too large.
func (s *shipper) rounded(o operand, want typ) (string, typ, bool) {
	if _, _, ok := o.typ.Digits(); !ok {
		return s.unproven("a cast from %s to numeric(p,s)", o.typ.Name())
	}
	if o.typ.Null {
		return s.null(want)
	}
	s.expose(o)
	want.Declared, s.raises = true, true
	return "CAST(" + s.formed(o, dialect.Exact).sql + " AS " + s.d.Type(want.OID, want.Typmod) + ")", want, true
}

// decimalLiteral prints a literal that is read as a numeric.
func (s *shipper) decimalLiteral(text string, want typ) (string, typ, bool) {
	m := decimalText.FindStringSubmatch(text)
	if m == nil || m[2]+m[3] == "" {
		return s.no("the literal %s is read at home", s.d.Literal(text))
	}
	t := dialect.Decimal(max(len(m[2])+len(m[3]), 1), len(m[3]))
	if want.Typmod >= 4 && !want.Wide {
		return "CAST(CAST('" + text + "' AS " + s.d.Type(t.OID, t.Typmod) + ") AS " + s.d.Type(want.OID, want.Typmod) + ")", want, true
	}
	if s.typer != nil {
		if sql, ok := s.typer.Constant(text, t); ok {
			return sql, t, true
		}
	}
	return "CAST('" + text + "' AS " + s.d.Type(t.OID, t.Typmod) + ")", t, true
}

func itoa(n int) string { return strconv.Itoa(n) }
