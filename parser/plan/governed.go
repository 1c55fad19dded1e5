package plan

import (
	"errors"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/govern"
	"github.com/sluicedb/sluice/pgerr"
)

// rules asks for what governs a foreign table, whoever's view it is read through: a view lends its owner's privileges to
// others, but not what its owner may see.
func (b *builder) rules(t *catalog.Relation) (*govern.Rules, error) {
	if !t.Governed {
		return nil, nil
	}
	rules, err := b.req.Rules(t)
	b.governed = b.governed || rules != nil
	if rules != nil {
		for column := range rules.Masks {
			b.noteMask(t, column)
		}
	}
	return rules, err
}

func (b *builder) noteMask(t *catalog.Relation, column string) {
	if b.masked == nil {
		b.masked = map[string]bool{}
	}
	b.masked[t.Schema+"."+t.Name+"."+column] = true
}

// relation returns the engine's FROM item for a foreign table, without an alias: for a governed one a sub-select that has
// the columns of the table, by the engine's names, and of its rows and values those alone that the role may see.
func (b *builder) relation(s *source) (string, error) {
	from, err := s.dialect.Relation(s.table)
	if err != nil || s.rules == nil {
		return from, err
	}
	r := ruling{source: s, given: s.given, print: b.rulePrinter(s), column: func(i int) string {
		return s.dialect.Identifier(dialect.ColumnName(&s.table.Columns[i]))
	}}
	where, err := r.filter()
	if err != nil {
		return "", err
	}
	var list []string
	for i := range s.table.Columns {
		sql, err := r.value(i, where)
		if err != nil {
			return "", err
		}
		list = append(list, sql+" AS "+r.column(i))
	}
	if where != "" && isQuirky(s.dialect) {
		from, where = s.filtered(from, where), ""
	}
	sql := "(SELECT " + strings.Join(list, ", ") + " FROM " + from
	if where != "" {
		if sql += " WHERE " + where; s.dialect.Verbatim() {
			sql += " OFFSET 0" // a barrier: what the statement computes comes to rows that have passed the filter
		}
	}
	return sql + ")", nil
}

// ruling prints what governs a source in a dialect.
type ruling struct {
	*source
	print  func(n *pg_query.Node, raise bool) (string, error)
	column func(i int) string                               // what prints a column of the table as it is
	given  func(sql string, instead *catalog.Column) string // and what stands in place of one
}

// filter prints the row filter, empty for none.
func (r *ruling) filter() (string, error) {
	if r.rules.Filter == nil {
		return "", nil
	}
	filter := r.rules.Filter
	if isSimple(r.dialect) {
		filter = yes(filter)
	}
	where, err := r.print(filter, true)
	if err == nil && isSimple(r.dialect) && !(*builder)(nil).newShipper(r.dialect).isCondition(r.rules.Filter) {
		err = errors.New("it is not proven equal on " + r.dialect.Name())
	}
	if err != nil {
		return "", govern.Refuse(r.table, "", err)
	}
	return where, nil
}

// value prints what the role sees of a column, in rows that pass a filter.
func (r *ruling) value(i int, where string) (string, error) {
	c := &r.table.Columns[i]
	mask := r.rules.Masks[c.Name]
	switch {
	case mask == nil:
		return r.column(i), nil
	case nothing(mask):
		return r.given("NULL", c), nil
	}
	sql, err := r.print(mask, where == "")
	if err == nil && isQuirky(r.dialect) && !isFixed(mask) {
		err = errors.New("it is not proven equal on " + r.dialect.Name())
	} else if err != nil && where != "" { // not before the filter
		sql, err = r.print(mask, true)
		sql = "CASE WHEN " + where + " THEN " + sql + " END"
	}
	if err != nil {
		return "", govern.Refuse(r.table, c.Name, err)
	}
	return r.given(sql, c), nil
}

// nothing reports whether an expression is NULL, of whatever type.
func nothing(n *pg_query.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return isNull(n)
}

// rulePrinter returns what prints expressions of rules for the engine, over the columns of the table itself. An error says
// that an expression is not proven to mean the same there, or may raise an error and must not.
func (b *builder) rulePrinter(s *source) func(n *pg_query.Node, raise bool) (string, error) {
	bare := *s
	bare.alias = s.table.Name
	if s.dialect.Verbatim() {
		v := b.newVerbatim(&bare)
		v.rule = true
		return func(n *pg_query.Node, _ bool) (string, error) {
			sql, ok := v.expression(&bare, govern.Inline(n, s.table))
			return unproven(sql, ok && len(v.params) == 0, v.reason)
		}
	}
	if s.dialect.Ships() < dialect.Conditions {
		return func(*pg_query.Node, bool) (string, error) {
			return "", pgerr.New(pgerr.FeatureNotSupported, "%s is not sent conditions and masks", s.dialect.Name())
		}
	}
	sh := b.newShipper(s.dialect)
	sh.rule = true
	r := scopeRelation{alias: bare.alias}
	for i := range s.table.Columns {
		c := &s.table.Columns[i]
		r.columns = append(r.columns, scopeColumn{name: c.Name, sql: sh.columnSQL(c, ""), typ: columnTyp(c, s.dialect)})
	}
	return sh.rulesOver(r)
}

// rulesOver returns what prints expressions of rules over the columns of a relation.
func (s *shipper) rulesOver(r scopeRelation) func(n *pg_query.Node, raise bool) (string, error) {
	return func(n *pg_query.Node, raise bool) (string, error) {
		s.raises, s.reason = false, ""
		print := s.expression
		if s.quirky != nil && s.isCondition(n) {
			print = s.condition
		}
		sql, _, ok := print(n, &scope{relations: []scopeRelation{r}})
		if ok && s.raises && !raise {
			s.no("it may raise an error, for rows that the row filter hides")
			ok = false
		}
		return unproven(sql, ok && !s.guarded, s.reason)
	}
}

func unproven(sql string, ok bool, reason string) (string, error) {
	if !ok {
		return "", pgerr.New(pgerr.FeatureNotSupported, "%s", reason)
	}
	return sql, nil
}
