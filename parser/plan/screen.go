package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/govern"
	"github.com/sluicedb/sluice/pgerr"
)

// Screen is what a governed table of a server that computes nothing is read through: the federation engine has the server's
// rows, and lets through what the role may see of them.
type Screen struct {
	SQL     string               // in the federation engine's dialect: yields an Input's Columns
	Columns []int                // indexes into the relation's columns: what the Input's RemoteSQL yields then
	Feed    []engines.FeedColumn // the same in the federation engine, whose only feed it is
}

func (s *Screen) equal(o *Screen) bool {
	return s == o || s != nil && o != nil && s.SQL == o.SQL
}

// screens reports whether a source is read through a Screen: its server is sent no conditions, or some of which its rules are not.
func (b *builder) screens(s *source) bool {
	if s.rules == nil || s.body != "" || s.server == nil {
		return false
	}
	if _, standard := s.dialect.(dialect.Standard); standard || isSimple(s.dialect) {
		_, err := b.relation(s)
		return err != nil
	}
	return s.dialect.Ships() < dialect.Conditions
}

// screen makes the Screen of an input.
func (b *builder) screen(s *source, in *Input) (*Screen, error) {
	out := &Screen{Columns: s.ruledBy(in.Columns)}
	relation := scopeRelation{alias: s.table.Name}
	for i := range s.table.Columns {
		c := &s.table.Columns[i]
		t := columnTyp(c, dialect.DuckDB{})
		t.AsText = t.AsText || !dialect.Feeds(s.dialect, c)
		relation.columns = append(relation.columns, scopeColumn{name: c.Name, sql: stripped(c, feedColumn(i)), typ: t})
	}
	sh := b.newShipper(dialect.DuckDB{})
	sh.rule = true
	duck := *s
	duck.dialect = dialect.DuckDB{}
	r := ruling{source: &duck, given: duck.given, print: sh.rulesOver(relation), column: feedColumn}
	where, err := r.filter()
	if err != nil {
		return nil, err
	}
	list := make([]string, len(in.Columns))
	for i, c := range in.Columns {
		if list[i] = "NULL"; in.Blank {
			continue
		}
		if list[i], err = r.value(c, where); err != nil {
			return nil, err
		}
	}
	out.SQL = "SELECT " + strings.Join(list, ", ") + " FROM " + feedOf(1)
	if where != "" {
		out.SQL += " WHERE " + where
	}
	out.Feed, err = s.feedTypes(out.Columns)
	return out, err
}

// ruledBy adds to columns of a governed table those that its rules read.
func (s *source) ruledBy(columns []int) []int {
	read := map[string]bool{}
	note := func(n *pg_query.Node) {
		parser.Walk(n, func(m proto.Message) bool {
			if c, ok := m.(*pg_query.ColumnRef); ok {
				for _, f := range c.Fields {
					read[f.GetString_().GetSval()] = true
				}
			}
			return true
		})
	}
	if s.rules.Filter != nil {
		note(s.rules.Filter)
	}
	raw := []int{}
	for _, i := range columns {
		if mask := s.rules.Masks[s.table.Columns[i].Name]; mask != nil {
			note(mask)
		} else {
			raw = append(raw, i)
		}
	}
	for i := range s.table.Columns {
		if read[s.table.Columns[i].Name] {
			raw = append(raw, i)
		}
	}
	slices.Sort(raw)
	if raw = slices.Compact(raw); len(raw) == 0 {
		raw = columns[:1]
	}
	return raw
}

// feedTypes says what columns of a table are in the federation engine, for a Screen.
func (s *source) feedTypes(columns []int) ([]engines.FeedColumn, error) {
	var feed []engines.FeedColumn
	for _, i := range columns {
		c := &s.table.Columns[i]
		name := dialect.DuckDB{}.Type(c.Type, c.Typmod)
		if !dialect.Feeds(s.dialect, c) {
			name = "VARCHAR"
		}
		if name == "TIMETZ" {
			return nil, govern.Refuse(s.table, c.Name, pgerr.New(pgerr.FeatureNotSupported, "values of type %s are not brought to other engines", c.TypeName))
		}
		feed = append(feed, engines.FeedColumn{Name: feedColumn(i), Type: name})
	}
	return feed, nil
}
