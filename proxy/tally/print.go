package tally

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// ownPrefix begins the names that rewriting makes. EXPLAIN shows them.
const ownPrefix = "sluice "

// rewrite puts counters in the place of the table.
func (q *query) rewrite() error {
	q.name()
	if q.grouped != nil {
		return q.readGroups()
	}
	return q.readCount()
}

// name gives the columns that are counts the names that they have.
func (q *query) name() {
	for _, n := range q.TargetList {
		t := n.GetResTarget()
		t.Name = columnName(t)
	}
}

// readCount makes a query without groups one of the single row that the counters yield. Its sub-select runs where they yield NULL alone.
func (q *query) readCount() error {
	where, err := q.where(" OR ")
	if err != nil {
		return err
	}
	from := fmt.Sprintf(`sluice.exact_count(%s) AS "sluice counters" ("sluice rows")`, q.relation())
	if q.filters {
		from = fmt.Sprintf(`(SELECT pg_catalog.sum("sluice rows")::pg_catalog.int8 AS "sluice rows" FROM sluice.exact_counts(%s, %s) AS "sluice counters" ("sluice group", "sluice rows")
			CROSS JOIN LATERAL (%s) AS %s WHERE "sluice group" IS NULL%s) AS "sluice counters"`,
			q.relation(), q.names(), q.values(), quoted(q.alias()), where)
	}
	rows := &pg_query.SelectStmt{
		TargetList: []*pg_query.Node{pg_query.MakeResTargetNodeWithVal(countAll(), -1)}, FromClause: q.FromClause, WhereClause: q.WhereClause,
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	read, err := parse(`SELECT COALESCE("sluice rows", (SELECT 1)) FROM ` + from)
	if err != nil {
		return err
	}
	value := read.TargetList[0].GetResTarget().Val
	value.GetCoalesceExpr().Args[1].GetSubLink().Subselect = &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: rows}}
	q.replace(value)
	q.FromClause, q.WhereClause = read.FromClause, nil
	return nil
}

// readGroups has a query with groups read theirs from the counters, or from the rows: OFFSET 0 keeps what counts these from being begun.
func (q *query) readGroups() error {
	var where [2]string
	for i, word := range []string{" AND ", " WHERE "} {
		var err error
		if where[i], err = q.where(word); err != nil {
			return err
		}
	}
	keys := make([]string, len(q.grouped))
	for i, k := range q.grouped {
		keys[i] = quoted(q.alias()) + "." + quoted(k)
	}
	list := strings.Join(keys, ", ")
	from, err := parser.Deparse(&pg_query.RawStmt{Stmt: selectOf(q.FromClause)})
	if err != nil {
		return err
	}
	read, err := parse(fmt.Sprintf(`SELECT pg_catalog.sum("sluice rows")::pg_catalog.int8 FROM (
		WITH "sluice counters" AS MATERIALIZED (SELECT * FROM sluice.exact_counts(%s, %s) AS "sluice counters" ("sluice group", "sluice rows"))
		SELECT %s, "sluice rows" FROM "sluice counters" CROSS JOIN LATERAL (%s) AS %s WHERE "sluice group" IS NOT NULL%s
		UNION ALL
		SELECT * FROM (%s%s GROUP BY %s OFFSET 0) AS "sluice rows" WHERE NOT EXISTS (SELECT FROM "sluice counters")) AS %s`,
		q.relation(), q.names(), list, q.values(), quoted(q.alias()), where[0],
		strings.Replace(from, "SELECT 1", "SELECT "+list+", pg_catalog.count(*)", 1), where[1], list, quoted(q.alias())))
	if err != nil {
		return err
	}
	q.replace(read.TargetList[0].GetResTarget().Val)
	q.FromClause, q.WhereClause = read.FromClause, nil
	return nil
}

// where prints the condition of the query behind a word, empty for none.
func (q *query) where(word string) (string, error) {
	if !q.filters {
		return "", nil
	}
	sql, err := parser.DeparseList([]*pg_query.Node{q.WhereClause})
	return word + "(" + sql + ")", err
}

// relation prints the table as a regclass, which home finds by the search path as it finds the table itself. For a cursor it is
// NULL where the role that fetches is not the one whose row security was planned.
func (q *query) relation() string {
	name := literal(q.table()) + "::pg_catalog.regclass"
	if q.cursor {
		return "CASE WHEN sluice.planning_role() = current_user THEN " + name + " END"
	}
	return name
}

// table prints the table as the query names it.
func (q *query) table() string {
	if q.from.Schemaname == "" {
		return quoted(q.from.Relname)
	}
	return quoted(q.from.Schemaname) + "." + quoted(q.from.Relname)
}

// names prints the keys that the query names.
func (q *query) names() string {
	list := make([]string, len(q.used))
	for i, k := range q.used {
		list[i] = literal(k)
	}
	return "ARRAY[" + strings.Join(list, ", ") + "]::pg_catalog.name[]"
}

// values prints a SELECT of these keys' values in a group, with types that home takes from the columns themselves.
func (q *query) values() string {
	list := make([]string, len(q.used))
	for i, k := range q.used {
		list[i] = fmt.Sprintf(`sluice.key_value((SELECT %s FROM %s LIMIT 0), pg_catalog.jsonb_object_field_text("sluice group", %s)) AS %[1]s`, quoted(k), q.table(), literal(k))
	}
	return "SELECT " + strings.Join(list, ", ")
}

// replace puts an expression in the place of each count.
func (q *query) replace(with *pg_query.Node) {
	visit := func(m proto.Message) bool {
		n, ok := m.(*pg_query.Node)
		if !ok || !isCount(n) {
			return true
		}
		n.Node = proto.Clone(with).(*pg_query.Node).Node
		return false
	}
	for _, n := range q.TargetList {
		parser.Walk(n, visit)
	}
	for _, n := range q.SortClause {
		parser.Walk(n, visit)
	}
	if q.HavingClause != nil {
		parser.Walk(q.HavingClause, visit)
	}
}

func countAll() *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_FuncCall{FuncCall: &pg_query.FuncCall{
		Funcname: []*pg_query.Node{pg_query.MakeStrNode("pg_catalog"), pg_query.MakeStrNode("count")}, AggStar: true, Funcformat: pg_query.CoercionForm_COERCE_EXPLICIT_CALL,
	}}}
}

// selectOf makes SELECT 1 FROM what is given.
func selectOf(from []*pg_query.Node) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: []*pg_query.Node{pg_query.MakeResTargetNodeWithVal(pg_query.MakeAConstIntNode(1, -1), -1)}, FromClause: from,
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}}}
}

// parse reads one SELECT into a tree of its own.
func parse(sql string) (*pg_query.SelectStmt, error) {
	tree, err := pg_query.Parse(sql)
	if err != nil || len(tree.Stmts) != 1 {
		return nil, pgerr.New(pgerr.InternalError, "a query of counters cannot be read: %s", sql)
	}
	return tree.Stmts[0].Stmt.GetSelectStmt(), nil
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
