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
	print := b.rulePrinter(s)
	where := ""
	if s.rules.Filter != nil {
		if where, err = print(s.rules.Filter, true); err == nil && isSimple(s.dialect) && !isCondition(s.rules.Filter) {
			err = errors.New("it is not proven equal on " + s.dialect.Name())
		}
		if err != nil {
			return "", govern.Refuse(s.table, "", err)
		}
	}
	var list []string
	for i := range s.table.Columns {
		c := &s.table.Columns[i]
		name := s.dialect.Identifier(dialect.ColumnName(c))
		sql := name
		if mask := s.rules.Masks[c.Name]; nothing(mask) {
			sql = s.given("NULL", c)
		} else if mask != nil {
			if sql, err = print(mask, where == ""); err != nil && where != "" { // not before the filter
				sql, err = print(mask, true)
				sql = "CASE WHEN " + where + " THEN " + sql + " END"
			}
			if err != nil {
				return "", govern.Refuse(s.table, c.Name, err)
			}
			sql = s.given(sql, c)
		}
		list = append(list, sql+" AS "+name)
	}
	sql := "(SELECT " + strings.Join(list, ", ") + " FROM " + from
	if where != "" {
		if sql += " WHERE " + where; s.dialect.Verbatim() {
			sql += " OFFSET 0" // a barrier: what the statement computes comes to rows that have passed the filter
		}
	}
	return sql + ")", nil
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
	return func(n *pg_query.Node, raise bool) (string, error) {
		sh.raises, sh.reason = false, ""
		sql, _, ok := sh.expression(n, &scope{relations: []scopeRelation{r}})
		if ok && sh.raises && !raise {
			sh.no("it may raise an error, for rows that the row filter hides")
			ok = false
		}
		return unproven(sql, ok && !sh.guarded, sh.reason)
	}
}

func unproven(sql string, ok bool, reason string) (string, error) {
	if !ok {
		return "", pgerr.New(pgerr.FeatureNotSupported, "%s", reason)
	}
	return sql, nil
}
