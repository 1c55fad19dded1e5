package plan

import (
	"strings"

	"github.com/jackc/pgx/v5"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// guardTarget asks for what holds for who writes to a table. TRUNCATE heeds privileges alone.
func (b *builder) guardTarget(t *catalog.Relation) (err error) {
	if t.Governed && b.statement.Kind != parser.Truncate {
		b.guard, err = b.req.Guards(t)
		b.governed = b.governed || b.guard != nil
		if b.guard != nil {
			for _, column := range b.guard.Masked {
				b.noteMask(t, column)
			}
		}
	}
	return err
}

// seal has home guard a write; child is the table of the rows that may be changed, empty for an INSERT.
func (b *builder) seal(w *Write, child string) {
	if b.guard != nil {
		w.Guard, w.Prefix, w.Child = b.guard, b.req.TempPrefix, child
	}
}

// refuseMasked refuses a write that reads a masked column of its target, of which home has the values as they are.
func (b *builder) refuseMasked(used usedColumns) {
	if b.guard == nil {
		return
	}
	for _, name := range b.guard.Masked {
		if !used.starred[b.target.Var] && !used.names[b.target.Var][name] || !b.mayUse(name) {
			continue
		}
		b.refused = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot read masked column %q of foreign table %q in a statement that writes to it", name, b.target.table.Name),
			"Name only columns without masks in WHERE, SET and RETURNING, or write as the table's owner.")
		return
	}
}

// mayUse reports whether home, where it was asked, has said that the statement uses a column of its target.
func (b *builder) mayUse(name string) bool {
	only, asked := b.req.Only[b.target.table.OID]
	if !asked {
		return true
	}
	for i := range b.target.table.Columns {
		if c := &b.target.table.Columns[i]; c.Name == name {
			for _, num := range only {
				if num == c.Num || num == catalog.WholeRow {
					return true
				}
			}
		}
	}
	return false
}

// usedByReturning is what a RETURNING list may use of the target.
func (b *builder) usedByReturning(list []*pg_query.Node) usedColumns {
	return columnsUsed(&pg_query.RawStmt{Stmt: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: list, FromClause: []*pg_query.Node{{Node: &pg_query.Node_RangeVar{RangeVar: b.target.Var}}},
	}}}})
}

// changedRows is a SELECT of what has become of the rows of a sealed table. Its own state says what was done to it, as the
// statement's functions may write to the role's tables: a row that was updated stands in another place.
func (w *Write) changedRows(columns string) string {
	child, places := "pg_temp."+w.Child, "pg_temp."+w.Prefix+"k"
	if w.Kind == Delete {
		return "SELECT k.sluice_rowid FROM " + places + " AS k WHERE NOT EXISTS (SELECT FROM " + child +
			" AS t WHERE t.sluice_rowid OPERATOR(pg_catalog.=) k.sluice_rowid)"
	}
	return "SELECT t.sluice_rowid" + columns + " FROM " + child + " AS t JOIN " + places +
		" AS k ON k.sluice_rowid OPERATOR(pg_catalog.=) t.sluice_rowid WHERE t.ctid OPERATOR(pg_catalog.<>) k.place"
}

// likeTarget is a statement that makes a table with columns of the target, and nothing else of it.
func (b *builder) likeTarget(table string, columns []int) string {
	t := b.target.table
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = pgx.Identifier{t.Columns[c].Name}.Sanitize()
	}
	return "CREATE TEMPORARY TABLE " + table + " ON COMMIT DROP AS SELECT " + strings.Join(names, ", ") +
		" FROM " + pgx.Identifier{t.Schema}.Sanitize() + "." + pgx.Identifier{t.Name}.Sanitize() + " WITH NO DATA"
}

func everyColumn(t *catalog.Relation) []int {
	columns := make([]int, len(t.Columns))
	for i := range columns {
		columns[i] = i
	}
	return columns
}
