package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
)

// Moment is what hangs on no row, but on the transaction: when it began (now() - interval '7 days') or who runs it
// (current_user); or an array among the parameters, as a list in JSON. Home computes it, once for the statement, and engines
// are sent its value as that of a parameter, behind those of the statement.
type Moment struct {
	SQL  string // for home
	Type uint32 // OID
}

// ParamTypes are the types of a statement's parameters and of the moments behind them.
func (p *Plan) ParamTypes(params []uint32) []uint32 {
	if len(p.Moments) == 0 {
		return params
	}
	types := slices.Clone(params)
	for _, m := range p.Moments {
		types = append(types, m.Type)
	}
	return types
}

// momentType is the type of a time, date or interval that is made of literals and of clocks alone, 0 for all else.
func (s *shipper) momentType(n *pg_query.Node) (oid uint32, clock bool) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_SqlvalueFunction:
		oid = homeValues[n.SqlvalueFunction.Op]
		return oid, isDateTime(oid)
	case *pg_query.Node_FuncCall:
		return s.momentCall(n.FuncCall)
	case *pg_query.Node_TypeCast:
		return s.momentCast(n.TypeCast)
	case *pg_query.Node_AExpr:
		x := n.AExpr
		op := lastName(x.Name)
		if x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || x.Lexpr == nil || len(x.Name) != 1 || op != "+" && op != "-" || s.shadowed(op) {
			return 0, false
		}
		r, rc := s.momentType(x.Rexpr) // first, as long sums are deep on the left
		if r == 0 {
			return 0, false
		}
		l, lc := s.momentType(x.Lexpr)
		return momentSum(l, r, op), lc || rc
	case *pg_query.Node_AConst:
		if n.AConst.GetIval() != nil {
			return int4OID, false
		}
	}
	return 0, false
}

// momentSum is the type of a sum or difference.
func momentSum(l, r uint32, op string) uint32 {
	if op == "+" && (l == intervalOID || l == int4OID) {
		l, r = r, l
	}
	switch {
	case l == dateOID && r == int4OID:
		return dateOID
	case l == dateOID && r == intervalOID:
		return timestampOID
	case (l == timestampOID || l == timestamptzOID) && r == intervalOID:
		return l
	}
	return 0
}

// momentCall is the type of a clock, or of a function of one.
func (s *shipper) momentCall(f *pg_query.FuncCall) (uint32, bool) {
	name := lastName(f.Funcname)
	if !plainCall(f) || len(f.Funcname) > 1 && f.Funcname[0].GetString_().GetSval() != "pg_catalog" || len(f.Funcname) == 1 && s.shadowed(name) {
		return 0, false
	}
	switch {
	case clocks[name] && len(f.Args) == 0:
		return timestamptzOID, true
	case len(f.Args) != 2 || f.Args[0].GetAConst().GetSval() == nil:
		return 0, false
	}
	of, clock := s.momentType(f.Args[1])
	switch {
	case name == "date_trunc" && of == timestampOID:
		return timestampOID, clock
	case name == "date_trunc" && (of == timestamptzOID || of == dateOID), name == "timezone" && of == timestampOID:
		return timestamptzOID, clock
	case name == "timezone" && of == timestamptzOID:
		return timestampOID, clock
	}
	return 0, false
}

// momentCast is the type of a literal interval, or of a time that is cast.
func (s *shipper) momentCast(c *pg_query.TypeCast) (uint32, bool) {
	if c.Arg.GetAConst().GetSval() != nil && lastName(c.TypeName.Names) == "interval" {
		return intervalOID, false
	}
	of, clock := s.momentType(c.Arg)
	if !isDateTime(of) || len(c.TypeName.Typmods) > 0 || len(c.TypeName.ArrayBounds) > 0 {
		return 0, false
	}
	for oid, name := range paramTypes {
		if isDateTime(oid) && lastName(name.Names) == lastName(c.TypeName.Names) {
			return oid, clock
		}
	}
	return 0, false
}

// clockType is momentType of what a clock is in.
func (s *shipper) clockType(n *pg_query.Node) uint32 {
	if oid, clock := s.momentType(n); clock && isDateTime(oid) && !s.rule {
		return oid
	}
	return 0
}

// moment returns the number of an expression among the parameters and the moments behind them; 0 for none.
func (b *builder) moment(n *pg_query.Node, oid uint32) int {
	sql, err := parser.DeparseList([]*pg_query.Node{n})
	if err != nil {
		return 0
	}
	return b.momentOf(Moment{sql, oid})
}

func (b *builder) momentOf(m Moment) int {
	i := slices.Index(b.moments, m)
	if i < 0 {
		i = len(b.moments)
		b.moments = append(b.moments, m)
	}
	return len(b.req.Params) + i + 1
}

// moment prints the place of a time that home computes.
func (s *shipper) moment(n *pg_query.Node, oid uint32) (string, typ, bool) {
	if number := s.b.moment(n, oid); number > 0 {
		return s.placed(number, oid)
	}
	return s.no("this time is computed at home")
}

// beside returns a node that stands beside a value of a type in a comparison: a time is cast to the type that the other is
// cast to, where Postgres would cast it, or where that is the same.
func (s *shipper) beside(n *pg_query.Node, other uint32) *pg_query.Node {
	own := s.clockType(n)
	want := uint32(0)
	switch {
	case own == 0 || own == other:
	case other == timestamptzOID, other == timestampOID && own == dateOID:
		want = other
	case own == timestamptzOID && isDateTime(other) && unmoved[s.b.req.Settings.TimeZone]:
		want = timestampOID
	}
	if want == 0 {
		return n
	}
	return &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: n, TypeName: paramTypes[want], Location: -1}}}
}

// unmoved are zones in which a timestamp and the timestamptz that it is cast to are as far from others.
var unmoved = func() map[string]bool {
	zones := map[string]bool{}
	for _, name := range strings.Fields("UTC UCT GMT Zulu Universal Greenwich") {
		zones[name], zones["Etc/"+name] = true, true
	}
	return zones
}()

// pairBeside is beside for both sides of a comparison.
func (s *shipper) pairBeside(l, r *pg_query.Node, e *scope) (*pg_query.Node, *pg_query.Node) {
	return s.besideNode(l, r, e), s.besideNode(r, l, e)
}

func (s *shipper) besideNode(n, other *pg_query.Node, e *scope) *pg_query.Node {
	if s.clockType(n) == 0 || s.clockType(other) != 0 {
		return n
	}
	mark := len(s.params)
	_, t, ok := s.expression(other, e)
	if s.params = s.params[:mark]; !ok {
		return n
	}
	return s.beside(n, t.OID)
}
