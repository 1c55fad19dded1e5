package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// exposure tells whether what may raise an error might be computed for rows that a row filter in FROM hides. An engine may
// compute a condition before the filter, which is one itself: WHERE, ON, HAVING, and what these name of a sub-select. What
// is aggregated, computed of aggregates or only selected comes behind: nothing moves it below a condition.
type exposure struct {
	exposed    bool
	aggregated int   // we are within so many arguments of aggregates
	selected   *bool // we are in an entry of a select list: to be set where it may raise an error; else nil
}

// expose notes that something stands here that may raise an error, for some values of the operands; of no operands, for rows.
func (s *shipper) expose(list ...operand) {
	columns := len(list) == 0
	for _, o := range list {
		if s.ofAggregate(o.node) {
			return
		}
		columns = columns || readsColumns(o.node)
	}
	switch {
	case !columns || s.aggregated > 0:
	case s.selected != nil:
		*s.selected = true
	default:
		s.exposed = true
	}
}

// exposeCall does so for what an operator, function or cast makes of operands; aggregates come behind all conditions.
func (s *shipper) exposeCall(kind dialect.Kind, list []operand) {
	if kind != dialect.Aggregate && kind != dialect.Window {
		s.expose(list...)
	}
}

// exposeColumns does so for the columns of a sub-select whose values are compared.
func (s *shipper) exposeColumns(columns ...scopeColumn) {
	for _, c := range columns {
		if c.raises {
			s.expose()
		}
	}
}

// level begins a query of its own, and returns what ends it.
func (s *shipper) level() (end func()) {
	aggregated, selected := s.aggregated, s.selected
	s.aggregated, s.selected = 0, nil
	return func() { s.aggregated, s.selected = aggregated, selected }
}

// isAggregate reports whether a call is of an aggregate over groups.
func (s *shipper) isAggregate(f *pg_query.FuncCall) bool {
	name := lastName(f.Funcname)
	return f.Over == nil && len(s.d.Table().Named(dialect.Aggregate, name, len(f.Args))) > 0 && len(s.d.Table().Named(dialect.Function, name, len(f.Args))) == 0
}

// ofAggregate reports whether an expression is computed of an aggregate of its query.
func (s *shipper) ofAggregate(n *pg_query.Node) (of bool) {
	if n == nil {
		return false
	}
	parser.Walk(n, func(m proto.Message) bool {
		switch m := m.(type) {
		case *pg_query.SubLink:
			return false
		case *pg_query.FuncCall:
			of = of || s.isAggregate(m)
		}
		return !of
	})
	return of
}

func readsColumns(n *pg_query.Node) (reads bool) {
	if n == nil {
		return true
	}
	parser.Walk(n, func(m proto.Message) bool {
		switch m.(type) {
		case *pg_query.ColumnRef, *pg_query.SubLink:
			reads = true
		}
		return !reads
	})
	return reads
}
