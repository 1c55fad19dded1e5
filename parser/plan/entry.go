package plan

import (
	"math"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// operand is an argument of an operator, function or cast.
type operand struct {
	node    *pg_query.Node
	sql     string
	typ     typ
	literal string // of a plain literal: its text
	plain   bool   // it is one
	raises  bool   // it may raise an error where Postgres does
}

// operands prints arguments; an untyped literal waits for a type.
func (s *shipper) operands(nodes []*pg_query.Node, e *scope) ([]operand, bool) {
	list := make([]operand, len(nodes))
	before := s.raises
	defer func() { s.raises = s.raises || before }()
	for i, n := range nodes {
		before, s.raises = before || s.raises, false
		o := operand{node: n}
		o.literal, o.plain = literalText(n)
		if isLiteral(n) {
			o.typ = unknown
		} else {
			var ok bool
			if o.sql, o.typ, ok = s.expression(n, e); !ok {
				return nil, false
			}
		}
		o.raises = s.raises
		list[i] = o
	}
	return list, true
}

// literalText returns the text of a number, possibly negated, or of an untyped literal.
func literalText(n *pg_query.Node) (string, bool) {
	sign := ""
	if x := n.GetAExpr(); x != nil && x.Lexpr == nil && lastName(x.Name) == "-" {
		sign, n = "-", x.Rexpr
	}
	c := n.GetAConst()
	switch {
	case c.GetIval() != nil:
		return sign + strconv.Itoa(int(c.GetIval().Ival)), true
	case c.GetSval() != nil && sign == "":
		return c.GetSval().Sval, true
	}
	return "", false
}

// matched returns the operands as the table's entry takes them, false where it does not.
func (s *shipper) matched(entry *dialect.Entry, list []operand, e *scope) ([]operand, bool) {
	out := make([]operand, len(list))
	for i, a := range entry.Args {
		o := list[i]
		if a.Literal != nil && (!o.plain || !a.Literal(o.literal)) {
			return nil, false
		}
		if o.typ.OID == unknownOID {
			if !s.resolve(&o, a.Class, e) {
				return nil, false
			}
		}
		if !a.Class.Takes(o.typ) || o.typ.Opaque && a.Class != dialect.Any || a.Param != nil && parameterOf(o.node) == 0 {
			return nil, false
		}
		if a.Print != nil {
			o.sql = s.d.Literal(a.Print(o.literal))
		}
		if a.Literal != nil && a.Class == dialect.Integer {
			o.sql = o.literal
		}
		out[i] = s.formed(o, a.Class)
	}
	return out, true
}

// resolve gives an untyped literal the type that the entry takes; NULL has none that shows.
func (s *shipper) resolve(o *operand, c dialect.Class, e *scope) bool {
	if !o.plain {
		return false
	}
	switch c {
	case dialect.Text, dialect.Unpadded, dialect.Equal, dialect.Ordered:
		var ok bool
		o.sql, o.typ, ok = s.typed(o.node, e, dialect.Plain(textOID))
		return ok
	}
	return false
}

// formed brings an operand to the form in which its class is printed.
func (s *shipper) formed(o operand, c dialect.Class) operand {
	switch c {
	case dialect.Exact:
		if w, _, _ := o.typ.Digits(); o.typ.IsInt() {
			if n, ok := literalText(o.node); ok && o.node.GetAConst() != nil {
				w = len(n)
			}
			o.typ = dialect.Decimal(w, 0)
			o.sql = "CAST(" + o.sql + " AS " + s.d.Type(o.typ.OID, o.typ.Typmod) + ")"
		}
	case dialect.Numeric:
		o.sql = displayed(o.sql, o.typ)
	case dialect.Padded:
		o.sql = "rpad(" + o.sql + ", " + strconv.Itoa(int(o.typ.Typmod)-4) + ", ' ')"
	}
	return o
}

// displayed prints a numeric as text, with the scale that it has at home where that is known.
func displayed(sql string, t typ) string {
	if t.Wide {
		return sql
	}
	sql = "CAST(" + sql + " AS VARCHAR)"
	if p, scale, ok := t.Decimal(); ok && p == scale { // DuckDB writes such without the 0 in front of the point
		sql = "regexp_replace(" + sql + `, '^(-?)\.', '\10.')`
	}
	if t.Loose && t.Dynamic != "" {
		sql = "sluice_numeric_display(" + sql + ", CAST(" + t.Dynamic + " AS VARCHAR))"
	}
	return sql
}

// apply prints an operator, function or cast by the dialect's table. ok is false where the table has no entry that takes
// the operands; nothing is noted then.
func (s *shipper) apply(kind dialect.Kind, name string, list []operand, e *scope) (string, typ, bool) {
	for _, entry := range s.d.Table().Named(kind, name, len(list)) {
		out, ok := s.matched(entry, list, e)
		if !ok {
			continue
		}
		types := make([]typ, len(out))
		for i := range out {
			if types[i] = out[i].typ; entry.Args[i].Literal != nil {
				types[i].Text = out[i].literal
			}
		}
		if entry.Strict() && anyNull(out) && !undecided(entry, types) {
			if t, fit := entry.Result.Of(types); fit != dialect.Misfit {
				return s.null(s.collated(entry, types, t))
			}
		}
		if entry.Raises() {
			s.exposeCall(kind, out)
			if s.raises = true; kind == dialect.Operator && foldsBadly(name, out) {
				s.no("operator %s over constants is computed at home while it plans", name)
				return "", typ{}, false
			}
			if kind == dialect.Cast && castsBadly(name, out) {
				s.no("a cast of a constant to %s is computed at home while it plans", name)
				return "", typ{}, false
			}
		}
		if undecided(entry, types) {
			continue
		}
		t, fit := entry.Result.Of(types)
		switch fit {
		case dialect.Misfit:
			continue
		case dialect.Guarded:
			s.exposeCall(kind, out)
			s.guarded = true
		}
		s.require(entry, out)
		t = s.collated(entry, types, t)
		t.Declared, t.Null, t.NotNull = false, false, false
		if kind == dialect.Operator {
			s.widen(name, out, &t)
		}
		sql, ok := s.inOrder(entry, out)
		if !ok {
			return "", typ{}, false
		}
		sql = s.print(sql, out, t)
		if s.standard == nil && s.simple == nil {
			sql = opaque(entry, out, t, sql)
		}
		if len(sql) > longest {
			s.no("an expression that long is evaluated at home")
			return "", typ{}, false
		}
		return sql, t, true
	}
	return "", typ{}, false
}

// require notes what values parameters must have.
func (s *shipper) require(entry *dialect.Entry, list []operand) {
	for i, a := range entry.Args {
		if a.Param != nil {
			s.b.checks = append(s.b.checks, check{parameterOf(list[i].node), a.Param})
		}
	}
}

// longest is how long one operator, function or cast may be printed: some name an operand more than once.
const longest = 64 << 10

// foldsBadly reports whether Postgres may raise an error for an operator already while it plans, where both operands are
// constants: an engine would do so too late.
func foldsBadly(op string, list []operand) bool {
	for _, o := range list {
		if refers(o.node) {
			return false
		}
	}
	for _, o := range list {
		if o.plain && len(o.literal) <= 4 && op != "/" && op != "%" {
			continue // neither a sum nor a product of such numbers is out of range
		}
		return true
	}
	return false
}

// most are the largest numbers of types that a number may not fit into.
var most = map[string]float64{"int2": 1<<15 - 1, "int4": 1<<31 - 1, "int8": 1 << 62}

// castsBadly is foldsBadly for a cast of a number that is written out.
func castsBadly(name string, list []operand) bool {
	limit, narrow := most[name]
	if !narrow || len(list) != 1 || list[0].node == nil || refers(list[0].node) || !list[0].plain {
		return false
	}
	n, err := strconv.ParseFloat(list[0].literal, 64)
	return err != nil || math.Abs(n) > limit
}

// widen keeps a result of more than 18 digits from being computed in 64 bits, as an engine does where both operands have
// no more: unless the statement may be computed at home should it not fit.
func (s *shipper) widen(op string, list []operand, t *typ) {
	p, scale, ok := t.Decimal()
	if s.standard != nil || s.simple != nil || !ok || len(list) != 2 || p <= dialect.Narrowest || max(list[0].typ.Held(), list[1].typ.Held()) > dialect.Narrowest {
		return
	}
	if s.narrow && scale <= dialect.Narrowest {
		s.expose(list...)
		s.guarded, t.Narrow = true, true
		return
	}
	if _, own, _ := list[0].typ.Decimal(); op == "*" {
		scale = own
	}
	wide := dialect.Decimal(p, scale)
	list[0].sql = "CAST(" + list[0].sql + " AS " + s.d.Type(wide.OID, wide.Typmod) + ")"
}

// print fills an entry's SQL in.
func (s *shipper) print(sql string, list []operand, t typ) string {
	pairs := []string{"$t", s.d.Type(t.OID, t.Typmod)}
	if strings.Contains(sql, "$w1") {
		pairs = append(pairs, s.common38(list)...)
	}
	if len(list) > 0 {
		_, scale, _ := list[0].typ.Digits()
		all := dialect.Decimal(dialect.MostDigits, scale)
		pairs = append(pairs, "$w", s.d.Type(all.OID, all.Typmod))
	}
	for i, o := range list {
		pairs = append(pairs, "$"+strconv.Itoa(i+1), o.sql)
	}
	return strings.NewReplacer(pairs...).Replace(sql)
}

// typeNames lists operands' types for a reason.
func typeNames(list []operand) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = o.typ.Name()
	}
	return strings.Join(names, ", ")
}
