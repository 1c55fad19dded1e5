package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// Pseudo-types that a RETURNING list can have and no table's column.
const (
	recordOID      = 2249
	voidOID        = 2278
	recordArrayOID = 2287
)

// written makes the statement that changes temporary tables leave its RETURNING list, and which rows it has changed, in
// one more temporary table:
//
//	INSERT, sealed  n, c1, c2 …               n counts the rows, in their order; c1 … are the RETURNING list
//	UPDATE          k, n, c1, c2 …            k is the ctid of the new row
//	DELETE          sluice_rowid, n, c1, c2 …
//
// The statement stands in a WITH clause of the INSERT that fills the table, so that all of it runs to its end at once.
type written struct {
	b         *builder
	w         *Write
	kind      WriteKind            // of the table's columns
	with      *pg_query.WithClause // of the statement, taken out of it
	returning []*pg_query.Node     // of the statement, without the ctid
	from      []*pg_query.Node     // the target and what the statement reads
	alias     string               // of the target
	rows      string               // the table of the target's rows with their identities
}

func (r *written) table() string { return r.b.req.TempPrefix + "r" }

// unkeyed is plan for an UPDATE or DELETE of sealed rows: nothing is added to what it returns, as that would read the target
// where the statement itself does not.
func (r *written) unkeyed() (err error) {
	if r.kind = Insert; len(r.returning) == 0 {
		r.w.RunSQL, err = parser.Deparse(r.b.statement.Node)
		return err
	}
	switch n := r.b.statement.Node.Stmt; {
	case n.GetUpdateStmt() != nil:
		n.GetUpdateStmt().WithClause = nil
	default:
		n.GetDeleteStmt().WithClause = nil
	}
	return r.plan()
}

// plan sets StageSQL, RunSQL and ReturningSQL.
func (r *written) plan() error {
	r.w.Temps = append(r.w.Temps, r.table())
	if err := r.create(); err != nil {
		return err
	}
	if err := r.run(); err != nil {
		return err
	}
	if len(r.returning) > 0 {
		r.w.ReturningSQL = "SELECT " + strings.Join(r.columns(""), ", ") + " FROM pg_temp." + r.table() + " ORDER BY n"
	}
	return nil
}

// columns are the names c1, c2 … of the RETURNING list, cast where the values cannot be stored (cast: "::text").
func (r *written) columns(cast string) []string {
	if len(r.returning) == 0 {
		return nil
	}
	names := make([]string, len(r.b.req.Fields))
	for i, f := range r.b.req.Fields {
		names[i] = "c" + itoa(i+1)
		switch f.OID {
		case recordOID, voidOID, recordArrayOID:
			names[i] += cast
		}
	}
	return names
}

// yields are the columns that the changed statement returns.
func (r *written) yields() []string {
	if r.kind == Insert {
		return r.columns("")
	}
	return append([]string{"k"}, r.columns("")...)
}

const asText = "::pg_catalog.text"

// create sets the statement that makes the table. Home finds the types of its columns by the same RETURNING list.
func (r *written) create() error {
	begin := "CREATE TEMPORARY TABLE " + r.table()
	if len(r.returning) == 0 {
		column := map[WriteKind]string{Update: "k tid", Delete: "sluice_rowid bigint"}[r.kind]
		r.w.StageSQL = begin + " (" + column + ") ON COMMIT DROP"
		return nil
	}
	names, values := []string{"n"}, []string{"0::bigint"}
	switch r.kind {
	case Update:
		names, values = []string{"k", "n"}, []string{"k", "0::bigint"}
	case Delete:
		names, values = []string{"sluice_rowid", "n"}, []string{"0::bigint", "0::bigint"}
	}
	tree, err := template(begin + " (" + strings.Join(append(names, r.columns("")...), ", ") + ") ON COMMIT DROP AS SELECT " +
		strings.Join(append(values, r.columns(asText)...), ", ") + " FROM (SELECT 1) AS u (" + strings.Join(r.yields(), ", ") + ") WITH NO DATA")
	if err != nil {
		return err
	}
	list := r.returning
	if r.kind != Insert {
		list = append([]*pg_query.Node{columnOf(r.alias, "ctid")}, list...)
	}
	inner := tree.Stmt.GetCreateTableAsStmt().Query.GetSelectStmt().FromClause[0].GetRangeSubselect().Subquery.GetSelectStmt()
	inner.TargetList, inner.FromClause = cloneNodes(list), cloneNodes(r.from)
	if r.with != nil {
		inner.WithClause = proto.CloneOf(r.with)
	}
	r.w.StageSQL, err = parser.Deparse(tree)
	return err
}

// run wraps the statement, which returns yields, into the INSERT that fills the table.
func (r *written) run() error {
	numbers := []string{}
	if len(r.returning) > 0 {
		numbers = []string{"pg_catalog.row_number() OVER ()"}
	}
	into := "INSERT INTO pg_temp." + r.table() + " SELECT "
	var sql string
	switch r.kind {
	case Insert:
		sql = into + strings.Join(append(numbers, r.columns(asText)...), ", ") + " FROM sluice_written"
	case Update:
		sql = into + strings.Join(append(append([]string{"k"}, numbers...), r.columns(asText)...), ", ") + " FROM sluice_written"
	default:
		inner := strings.Join(append([]string{"*"}, numbers...), ", ")
		outer := []string{"t.sluice_rowid"}
		if len(numbers) > 0 {
			inner += " AS n"
			outer = append(outer, "u.n")
		}
		for _, c := range r.columns(asText) {
			outer = append(outer, "u."+c)
		}
		sql = into + strings.Join(outer, ", ") + " FROM (SELECT " + inner + " FROM sluice_written) AS u JOIN pg_temp." +
			r.rows + " AS t ON t.ctid OPERATOR(pg_catalog.=) u.k"
	}
	tree, err := template(sql)
	if err != nil {
		return err
	}
	expression := &pg_query.CommonTableExpr{
		Ctename: "sluice_written", Ctequery: r.b.statement.Node.Stmt, Ctematerialized: pg_query.CTEMaterialize_CTEMaterializeDefault,
	}
	for _, name := range r.yields() {
		expression.Aliascolnames = append(expression.Aliascolnames, pg_query.MakeStrNode(name))
	}
	with := r.with
	if with == nil {
		with = &pg_query.WithClause{}
	}
	with.Ctes = append(with.Ctes, &pg_query.Node{Node: &pg_query.Node_CommonTableExpr{CommonTableExpr: expression}})
	tree.Stmt.GetInsertStmt().WithClause = with
	r.w.RunSQL, err = parser.Deparse(tree)
	return err
}

// template parses SQL of our own into a tree to work on.
func template(sql string) (*pg_query.RawStmt, error) {
	tree, err := pg_query.Parse(sql)
	if err != nil || len(tree.Stmts) != 1 {
		return nil, pgerr.New(pgerr.InternalError, "cannot read %q: %v", sql, err)
	}
	tree.Stmts[0].StmtLen = 0
	return tree.Stmts[0], nil
}

func cloneNodes(list []*pg_query.Node) []*pg_query.Node {
	out := make([]*pg_query.Node, len(list))
	for i, n := range list {
		out[i] = proto.CloneOf(n)
	}
	return out
}
