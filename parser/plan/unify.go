package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

func (s *shipper) coalesce(c *pg_query.CoalesceExpr, e *scope) (string, typ, bool) {
	list, t, ok := s.sameType(c.Args, e)
	if !ok {
		return "", typ{}, false
	}
	parts, conditions := printed(list), make([]string, len(list))
	for i, p := range parts {
		conditions[i] = p + " IS NOT NULL"
	}
	if allNull(list) {
		return s.null(t)
	}
	t.Dynamic = scaleOf(conditions, list, t)
	if s.quirky != nil || slices.ContainsFunc(list[1:], func(o operand) bool { return o.raises }) {
		return inTurn(parts, conditions), t, true
	}
	return "coalesce(" + strings.Join(parts, ", ") + ")", t, true
}

// inTurn prints COALESCE so that an engine comes to no value before it has found all before it NULL: DuckDB computes what
// stands in a statement twice beforehand, but nothing that is in a CASE.
func inTurn(parts, conditions []string) string {
	var out strings.Builder
	last := len(parts) - 1
	out.WriteString("(CASE")
	for i := range last {
		out.WriteString(" WHEN " + conditions[i] + " THEN " + parts[i])
	}
	return out.String() + " ELSE " + parts[last] + " END)"
}

// extreme prints GREATEST and LEAST, where both leave NULLs out.
func (s *shipper) extreme(m *pg_query.MinMaxExpr, e *scope) (string, typ, bool) {
	list, t, ok := s.sameType(m.Args, e)
	if !ok {
		return "", typ{}, false
	}
	if s.standard != nil || !t.Sortable() || t.Wide || t.Loose || t.IsFloat() {
		return s.unproven("GREATEST and LEAST over %s", t.Name())
	}
	name := "greatest("
	if m.Op == pg_query.MinMaxOp_IS_LEAST {
		name = "least("
	}
	return name + strings.Join(printed(list), ", ") + ")", t, true
}

// sameType prints expressions that Postgres brings to one type.
func (s *shipper) sameType(nodes []*pg_query.Node, e *scope) (list []operand, t typ, ok bool) {
	if list, ok = s.operands(nodes, e); !ok {
		return nil, typ{}, false
	}
	t, ok = s.common(list)
	if !ok {
		return nil, typ{}, false
	}
	for i := range list {
		o := &list[i]
		if o.typ.OID == unknownOID {
			if o.sql, o.typ, ok = s.typed(o.node, e, t); !ok {
				return nil, typ{}, false
			}
			if o.typ.OID == numericOID { // its scale may be another one
				s.no("literals beside numerics are read at home")
				return nil, typ{}, false
			}
		}
		if t.OID == float8OID && o.sql != "NULL" {
			o.sql, o.typ = s.double(*o, e)
		}
		o.sql = s.brought(*o, t)
	}
	t.Null, t.NotNull = false, false
	return list, t, true
}

func printed(list []operand) []string {
	parts := make([]string, len(list))
	for i, o := range list {
		parts[i] = o.sql
	}
	return parts
}

// scaleOf is the expression for the scale that a value displays with which is the one of list whose condition is the
// first to hold; the last may have none. It is empty where the type tells the scale, or nothing does.
func scaleOf(conditions []string, list []operand, t typ) string {
	if !t.Loose {
		return ""
	}
	var out strings.Builder
	out.WriteString("(CASE")
	for i, o := range list {
		_, scale, number := o.typ.Digits()
		text := itoa(scale)
		switch {
		case o.typ.Loose && o.typ.Dynamic == "":
			return ""
		case o.typ.Loose:
			text = o.typ.Dynamic
		case !number:
			text = "NULL"
		}
		if i < len(conditions) {
			out.WriteString(" WHEN " + conditions[i] + " THEN " + text)
		} else {
			out.WriteString(" ELSE " + text)
		}
	}
	return out.String() + " END)"
}

// common is the type that typed operands are brought to. Numbers get the larger scale, though those that had a smaller
// one display with that.
func (s *shipper) common(list []operand) (typ, bool) {
	switch {
	case alike(list):
		return list[0].typ, true
	case mixedFloats(list):
		return dialect.Plain(float8OID), true
	}
	t := unknown
	whole, scale, numbers, integers := 0, 0, true, true
	for _, o := range list {
		if o.typ.OID == unknownOID {
			continue
		}
		if t.OID == unknownOID {
			t = o.typ
		}
		w, sc, ok := o.typ.Digits()
		numbers, integers = numbers && ok, integers && o.typ.IsInt()
		whole, scale = max(whole, w), max(scale, sc)
		if text := dialect.Unpadded.Takes(t) && dialect.Unpadded.Takes(o.typ); text {
			t = dialect.TextOf(t, o.typ)
			t.Vague = true
		} else if !numbers && (o.typ.OID != t.OID || o.typ.Typmod != t.Typmod || t.Wide != o.typ.Wide) {
			s.no("%s and %s are brought to one type at home", t.Name(), o.typ.Name())
			return typ{}, false
		}
	}
	switch {
	case t.OID == unknownOID && !slices.ContainsFunc(list, func(o operand) bool { return o.plain }):
		s.no("NULLs alone")
		return typ{}, false
	case t.OID == unknownOID:
		return s.ownText(), true
	case integers:
		return dialect.Plain(widest(list)), true
	case numbers && whole+scale > 38:
		s.unproven("numerics of so many digits side by side")
		return typ{}, false
	case numbers:
		t = dialect.Decimal(whole+scale, scale)
		for _, o := range list {
			if _, sc, _ := o.typ.Digits(); o.typ.OID != unknownOID && (sc < scale || o.typ.Loose) {
				t.Loose = true
			}
		}
	}
	return t, true
}

// alike reports whether operands have one type already, which Postgres then keeps.
func alike(list []operand) bool {
	for _, o := range list {
		t := list[0].typ
		if o.typ.OID == unknownOID || !o.typ.Declared || o.typ.Loose || o.typ.OID != t.OID || o.typ.Typmod != t.Typmod || o.typ.Collate != t.Collate ||
			o.typ.Bytewise != t.Bytewise || o.typ.Exact != t.Exact {
			return false
		}
	}
	return len(list) > 0
}

func widest(list []operand) uint32 {
	for _, oid := range []uint32{int8OID, int4OID} {
		for _, o := range list {
			if o.typ.OID == oid {
				return oid
			}
		}
	}
	return int2OID
}

// brought prints an operand in the common type.
func (s *shipper) brought(o operand, t typ) string {
	if s.simple != nil && t.IsInt() {
		return o.sql
	}
	if s.reads(dialect.Scaled) && t.OID == numericOID && o.sql != "NULL" {
		return "CAST(" + o.sql + " AS " + s.d.Type(t.OID, t.Typmod) + ")"
	}
	if _, _, number := t.Digits(); !number || o.sql == "NULL" || o.typ.OID == t.OID && o.typ.Typmod == t.Typmod && !o.typ.Narrow {
		return o.sql
	}
	return "CAST(" + o.sql + " AS " + s.d.Type(t.OID, t.Typmod) + ")"
}

// branch is what a condition of CASE says of the branch that is taken, if it was not one before: this one, one of those that
// follow, or (-1) that it hangs on the row.
func branch(i int, when string, t typ) int {
	switch {
	case t.Null, when == "false":
		return i + 1
	case when == "true":
		return i
	}
	return -1
}

func (s *shipper) caseExpr(c *pg_query.CaseExpr, e *scope) (string, typ, bool) {
	mark := len(s.params)
	results := make([]*pg_query.Node, 0, len(c.Args)+1)
	for _, w := range c.Args {
		results = append(results, w.GetCaseWhen().Result)
	}
	if c.Defresult != nil {
		results = append(results, c.Defresult)
	}
	whens := make([]string, len(c.Args))
	sure := 0 // the branch that Postgres takes while it plans; -1 where rows decide
	for i, w := range c.Args {
		var t typ
		var ok bool
		if c.Arg != nil {
			whens[i], t, ok = s.compare(c.Arg, w.GetCaseWhen().Expr, "=", e)
		} else {
			whens[i], t, ok = s.judged(w.GetCaseWhen().Expr, e)
		}
		if !ok || t.OID != boolOID {
			return s.no("this form of CASE is evaluated at home")
		}
		if sure == i {
			sure = branch(i, whens[i], t)
		}
	}
	list, t, ok := s.sameType(results, e)
	if !ok {
		return "", typ{}, false
	}
	if sure >= len(list) || sure >= 0 && list[sure].isNull() {
		s.params = s.params[:mark]
		return s.null(t)
	}
	thens := printed(list)
	t.Dynamic = scaleOf(whens, list, t)
	var out strings.Builder
	out.WriteString("(CASE")
	for i, when := range whens {
		out.WriteString(" WHEN " + when + " THEN " + thens[i])
	}
	if c.Defresult != nil {
		out.WriteString(" ELSE " + thens[len(thens)-1])
	}
	out.WriteString(" END)")
	return out.String(), t, true
}
