package plan

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// probes finds, for each foreign table, the columns that its query level compares by = with columns of levels around it:
// home asks for such rows once for each outer row, so that an index over them decides how long a sub-select takes.
// Nothing but time depends on what is found.
func (b *builder) probes() map[*pg_query.RangeVar][]string {
	found := map[*pg_query.RangeVar][]string{}
	parser.Walk(b.statement.Node, func(m proto.Message) bool {
		if q, ok := m.(*pg_query.SelectStmt); ok {
			b.levelProbes(q, found)
		}
		return true
	})
	return found
}

func (b *builder) levelProbes(q *pg_query.SelectStmt, found map[*pg_query.RangeVar][]string) {
	l := probeLevel{known: true}
	for _, n := range q.FromClause {
		l.add(b, n)
	}
	for _, c := range parser.Conjuncts(q.WhereClause, nil) {
		x := c.GetAExpr()
		if x == nil || x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || lastName(x.Name) != "=" {
			continue
		}
		left, right := x.Lexpr.GetColumnRef().GetFields(), x.Rexpr.GetColumnRef().GetFields()
		if left == nil || right == nil {
			continue
		}
		if l.names(left) {
			left, right = right, left
		}
		src := l.source(right)
		if l.names(left) || src == nil {
			continue
		}
		if name := lastName(right); !slices.Contains(found[src.Var], name) {
			found[src.Var] = append(found[src.Var], name)
		}
	}
}

// probeLevel is what stands in one FROM clause.
type probeLevel struct {
	sources []*source
	aliases []string
	known   bool // all of it is sources: a name without a table is of one of them, or of a level around
}

func (l *probeLevel) add(b *builder, n *pg_query.Node) {
	if j := n.GetJoinExpr(); j != nil {
		l.add(b, j.Larg)
		l.add(b, j.Rarg)
		return
	}
	if src := b.sourceOf(n.GetRangeVar()); src != nil && src.Var.GetAlias().GetColnames() == nil {
		l.sources, l.aliases = append(l.sources, src), append(l.aliases, src.alias)
		return
	}
	l.known = false
	for _, alias := range []*pg_query.Alias{n.GetRangeVar().GetAlias(), n.GetRangeSubselect().GetAlias(), n.GetRangeFunction().GetAlias()} {
		l.aliases = append(l.aliases, alias.GetAliasname())
	}
	l.aliases = append(l.aliases, n.GetRangeVar().GetRelname())
}

// names reports whether a reference is, or may be, to this level.
func (l *probeLevel) names(fields []*pg_query.Node) bool {
	if len(fields) > 1 {
		return slices.Contains(l.aliases, fields[len(fields)-2].GetString_().GetSval())
	}
	return !l.known || l.source(fields) != nil
}

// source returns the source that a reference is to, nil for none.
func (l *probeLevel) source(fields []*pg_query.Node) *source {
	for _, s := range l.sources {
		if len(fields) > 1 && s.alias == fields[len(fields)-2].GetString_().GetSval() || len(fields) == 1 && s.column(lastName(fields)) >= 0 {
			return s
		}
	}
	return nil
}

// column returns the index of a column, -1 for none.
func (s *source) column(name string) int {
	for i := range s.table.Columns {
		if s.table.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// probe notes that an input is asked for rows by some of its columns. Several columns make one key where none of their
// values can be too long for a btree; else it is one column, for a hash.
func (in *Input) probe(s *source, names []string) {
	var short, long []int
	for _, name := range names {
		c := s.column(name)
		switch {
		case !slices.Contains(in.Columns, c):
		case width(s.table.Columns[c].Type) < width(textOID):
			short = append(short, c)
		case hashed[s.table.Columns[c].Type]:
			long = append(long, c)
		}
	}
	key := short
	if len(key) == 0 {
		key = long[:min(len(long), 1)]
	}
	if len(key) > 0 && !slices.ContainsFunc(in.Probes, func(o []int) bool { return slices.Equal(o, key) }) {
		in.Probes = append(in.Probes, key)
	}
}

// hashed are types with values of any length that have a hash operator class.
var hashed = map[uint32]bool{textOID: true, varcharOID: true, 1042: true, numericOID: true, uuidOID: true}
