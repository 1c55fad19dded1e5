package plan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/govern"
	"github.com/sluicedb/sluice/pgerr"
)

// write plans DML on a foreign table: home computes the rows in temporary tables, the engine takes them.
func (b *builder) write() (*Plan, error) {
	copied, err := b.enterCopy()
	if err != nil {
		return nil, err
	}
	if err := b.checkTarget(); err != nil {
		return nil, err
	}
	w := &Write{Relation: b.target.table}
	switch n := b.statement.Node.Stmt; b.statement.Kind {
	case parser.Insert:
		err = b.insert(w, n.GetInsertStmt())
	case parser.Update:
		err = b.update(w, n.GetUpdateStmt())
	case parser.Delete:
		err = b.delete(w, n.GetDeleteStmt())
	case parser.Truncate:
		b.truncate(w, n.GetTruncateStmt())
	case parser.CopyFrom:
		err = b.copyFrom(w, n.GetCopyStmt())
	}
	if err == nil && copied != nil {
		err = b.copyReturning(w, copied)
	}
	if err != nil {
		return nil, err
	}
	return &Plan{
		Route: HomeJoin, Reason: "home computes the rows to write", Inputs: b.inputs, Privileges: b.privileges, Write: w,
	}, nil
}

// checkTarget refuses what cannot be written: the foreign table must be the one target, that of the statement itself.
func (b *builder) checkTarget() error {
	name := b.target.table.Name
	if b.statement.Kind == parser.Merge {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot execute MERGE on foreign table %q", name),
			"Use INSERT, UPDATE and DELETE in one transaction.")
	}
	for i, r := range b.req.Statement.Relations() {
		if t := b.req.References[i].Relation; r.Target && (t == nil || ofHome(t)) {
			return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot write to foreign table %q and table %q in one statement", name, r.Name),
				"Write to one foreign server in a transaction of its own.")
		}
	}
	if targetOf(b.statement.Node.Stmt) != b.target.Var {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot write to foreign table %q in a WITH clause", name),
			"Write to one foreign table in a statement of its own.")
	}
	return nil
}

// targetOf returns what a statement writes to, nil where that is not one table.
func targetOf(n *pg_query.Node) *pg_query.RangeVar {
	switch {
	case n.GetInsertStmt() != nil:
		return n.GetInsertStmt().Relation
	case n.GetUpdateStmt() != nil:
		return n.GetUpdateStmt().Relation
	case n.GetDeleteStmt() != nil:
		return n.GetDeleteStmt().Relation
	case n.GetCopyStmt() != nil:
		return n.GetCopyStmt().Relation
	case n.GetTruncateStmt() != nil && len(n.GetTruncateStmt().Relations) == 1:
		return n.GetTruncateStmt().Relations[0].GetRangeVar()
	}
	return nil
}

// require notes privileges on the target, which Postgres checks before those on what is read.
func (b *builder) require(names ...string) {
	b.privileges = append(govern.Write(b.target.table, names...), b.privileges...)
}

func (b *builder) insert(w *Write, n *pg_query.InsertStmt) error {
	if c := n.OnConflictClause; c.GetInfer() != nil && c.Infer.Conname == "" {
		return pgerr.New(pgerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	w.Kind, w.Skip = Insert, n.OnConflictClause != nil
	if len(n.ReturningList) > 0 {
		b.require("INSERT", "SELECT")
	} else {
		b.require("INSERT")
	}
	if err := b.shipSources(); err != nil {
		return err
	}
	b.fill(w)
	b.seal(w, "")
	b.refuseMasked(b.usedByReturning(n.ReturningList))
	w.UserValue = n.Override == pg_query.OverridingKind_OVERRIDING_USER_VALUE
	if len(n.ReturningList) == 0 && len(b.sources) == 0 && len(b.masks) == 0 {
		return b.inText(w, n.Relation)
	}
	b.redirect(b.target, w.Table)
	if len(n.ReturningList) == 0 {
		var err error
		w.RunSQL, err = parser.Deparse(b.statement.Node)
		return err
	}
	r := &written{b: b, w: w, kind: Insert, with: n.WithClause, returning: n.ReturningList, from: []*pg_query.Node{rangeVar(n.Relation)}}
	n.WithClause = nil
	return r.plan()
}

// fill makes the table that rows for the engine are collected in, and says which columns they have.
func (b *builder) fill(w *Write) {
	w.Table = b.req.TempPrefix + "t"
	w.Temps = append(w.Temps, w.Table)
	var names []string
	for i := range w.Relation.Columns {
		c := &w.Relation.Columns[i]
		names = append(names, pgx.Identifier{c.Name}.Sanitize())
		w.add(c)
	}
	w.RowsSQL = "SELECT " + strings.Join(names, ", ") + " FROM pg_temp." + w.Table
}

// add notes one more column that the rows carry.
func (w *Write) add(c *catalog.Column) {
	name := dialect.ColumnName(c)
	w.Columns = append(w.Columns, name)
	if c.Generated {
		w.Generated = append(w.Generated, name)
	}
}

func (b *builder) copyFrom(w *Write, n *pg_query.CopyStmt) error {
	w.Kind = CopyFrom
	b.require("INSERT")
	for _, name := range n.Attlist {
		for _, c := range w.Relation.Columns {
			if c.Name == name.GetString_().GetSval() {
				b.privileges[0].Columns = append(b.privileges[0].Columns, c.Num)
			}
		}
	}
	w.Freeze = slices.ContainsFunc(n.Options, func(o *pg_query.Node) bool {
		return o.GetDefElem().Defname == "freeze" && isOn(o.GetDefElem().GetArg())
	})
	b.fill(w)
	b.seal(w, "")
	return b.inText(w, n.Relation)
}

// isOn reports whether the value of an option that is on or off is on. What is neither, home refuses.
func isOn(value *pg_query.Node) bool {
	switch text := strings.ToLower(value.GetString_().GetSval()); {
	case value == nil, value.GetBoolean().GetBoolval(), value.GetInteger().GetIval() == 1:
		return true
	default:
		return text == "true" || text == "on"
	}
}

// inText makes RunSQL of the statement's own text, which is faster than to print it, and loses nothing.
func (b *builder) inText(w *Write, target *pg_query.RangeVar) error {
	text, name := b.statement.Text, "pg_temp."+w.Table
	begin := int(target.Location)
	end, err := nameEnd(text[begin:])
	if err != nil {
		return err
	}
	end += begin
	w.RunSQL = text[:begin] + name + text[end:]
	w.Shift = len(name) - utf8.RuneCountInString(text[begin:end])
	return nil
}

// longestName bounds what is read to find where a name ends, for all names but those with long comments in them.
const longestName = 1 << 10

// nameEnd returns where the qualified name that a text begins with ends.
func nameEnd(text string) (int, error) {
	if len(text) > longestName {
		if end, ok := nameIn(text[:longestName]); ok {
			return end, nil
		}
	}
	end, ok := nameIn(text + " ;")
	if !ok {
		return 0, pgerr.New(pgerr.InternalError, "cannot find the table's name in the statement")
	}
	return end, nil
}

// nameIn is nameEnd for a text that may be cut off; false where something else must follow to be sure.
func nameIn(text string) (end int, ok bool) {
	scan, err := pg_query.Scan(text)
	if err != nil {
		return 0, false
	}
	dotted := true
	for _, token := range scan.Tokens {
		switch dot := token.Token == pg_query.Token_ASCII_46; {
		case token.Token == pg_query.Token_SQL_COMMENT || token.Token == pg_query.Token_C_COMMENT:
		case dot == dotted:
			return end, true
		default:
			dotted, end = dot, int(token.End)
		}
	}
	return 0, false
}

func (b *builder) truncate(w *Write, n *pg_query.TruncateStmt) {
	w.Kind = Truncate
	b.require("TRUNCATE")
	if n.RestartSeqs {
		w.Setup = append(w.Setup, restartSequences(w.Relation.OID))
	}
}

// restartSequences is a statement that restarts the sequences owned by a table's columns.
func restartSequences(table uint32) string {
	return `DO $sluice$ DECLARE s pg_catalog.regclass; BEGIN FOR s IN SELECT c.oid FROM pg_catalog.pg_depend d ` +
		`JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.objid ` +
		`WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass ` +
		`AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass ` +
		`AND d.refobjid OPERATOR(pg_catalog.=) ` + itoa(int(table)) + ` AND d.refobjsubid OPERATOR(pg_catalog.>) 0 ` +
		`AND d.deptype OPERATOR(pg_catalog.=) ANY ('{a,i}') AND c.relkind OPERATOR(pg_catalog.=) 'S' ` +
		`LOOP EXECUTE pg_catalog.concat('ALTER SEQUENCE ', s, ' RESTART'); END LOOP; END $sluice$`
}

func (b *builder) update(w *Write, n *pg_query.UpdateStmt) error {
	if err := b.checkCursor(n.WhereClause); err != nil {
		return err
	}
	w.Kind = Update
	b.require("UPDATE", "SELECT")
	f := b.conditionsOn(b.target, parser.Conjuncts(n.WhereClause, nil))
	if err := b.shipSources(); err != nil {
		return err
	}
	w.Table = b.req.TempPrefix + "t"
	w.Temps = append(w.Temps, w.Table)
	var stored []int // home computes the generated ones
	for i, c := range w.Relation.Columns {
		if !c.Generated {
			stored = append(stored, i)
		}
	}
	rows, err := b.targetInput(w.Table, stored, f)
	if err != nil {
		return err
	}
	b.seal(w, rows)
	b.refuseMasked(b.used)
	b.redirect(b.target, w.Table)
	n.Relation.Inh = true
	r := &written{
		b: b, w: w, kind: Update, with: n.WithClause, returning: n.ReturningList, rows: rows,
		from: append([]*pg_query.Node{rangeVar(n.Relation)}, n.FromClause...), alias: b.target.alias,
	}
	if w.Guard != nil {
		w.RowsSQL = w.changedRows(b.changed(w, n.TargetList))
		return r.unkeyed()
	}
	n.WithClause = nil
	n.ReturningList = append([]*pg_query.Node{columnOf(b.target.alias, "ctid")}, n.ReturningList...)
	w.RowsSQL = "SELECT t.sluice_rowid" + b.changed(w, n.TargetList) + " FROM pg_temp." + r.table() + " AS r JOIN pg_temp." + rows +
		" AS t ON t.ctid OPERATOR(pg_catalog.=) r.k"
	return r.plan()
}

// changed lists the columns that an UPDATE sets, generated ones among them.
func (b *builder) changed(w *Write, set []*pg_query.Node) string {
	names := map[string]bool{}
	for _, n := range set {
		names[n.GetResTarget().GetName()] = true
	}
	var list strings.Builder
	for i := range w.Relation.Columns {
		c := &w.Relation.Columns[i]
		if names[c.Name] || c.Generated {
			w.add(c)
			list.WriteString(", t." + pgx.Identifier{c.Name}.Sanitize())
		}
	}
	return list.String()
}

func (b *builder) delete(w *Write, n *pg_query.DeleteStmt) error {
	if err := b.checkCursor(n.WhereClause); err != nil {
		return err
	}
	w.Kind = Delete
	b.require("DELETE", "SELECT")
	f := b.conditionsOn(b.target, parser.Conjuncts(n.WhereClause, nil))
	if err := b.shipSources(); err != nil {
		return err
	}
	table := b.req.TempPrefix + "t"
	w.Temps = append(w.Temps, table)
	columns := b.columns(b.target)
	if b.guard != nil { // policies may read them all
		columns = everyColumn(b.target.table)
	}
	w.Setup = append(w.Setup, b.likeTarget(table, columns))
	rows, err := b.targetInput(table, columns, f)
	if err != nil {
		return err
	}
	b.seal(w, rows)
	b.refuseMasked(b.used)
	b.redirect(b.target, table)
	n.Relation.Inh = true
	r := &written{
		b: b, w: w, kind: Delete, with: n.WithClause, returning: n.ReturningList, rows: rows,
		from: append([]*pg_query.Node{rangeVar(n.Relation)}, n.UsingClause...), alias: b.target.alias,
	}
	if w.Guard != nil {
		w.RowsSQL = w.changedRows("")
		return r.unkeyed()
	}
	n.WithClause = nil
	n.ReturningList = append([]*pg_query.Node{columnOf(b.target.alias, "ctid")}, n.ReturningList...)
	w.RowsSQL = "SELECT sluice_rowid FROM pg_temp." + r.table()
	return r.plan()
}

func (b *builder) checkCursor(where *pg_query.Node) error {
	if where.GetCurrentOfExpr() == nil {
		return nil
	}
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "WHERE CURRENT OF is not supported on foreign table %q", b.target.table.Name),
		"Name the row by its key.")
}

// targetInput adds the input that brings the rows which may be changed, with their identities, and returns its table.
func (b *builder) targetInput(parent string, columns []int, f filter) (string, error) {
	from, err := b.target.dialect.Relation(b.target.table)
	if err != nil {
		return "", err
	}
	in := Input{
		Relation: b.target.table, Server: b.target.table.Server, Columns: columns, Filters: f.texts, Params: f.params, RowID: true, Parent: parent, Sealed: b.guard != nil,
		TempName: b.req.TempPrefix + itoa(len(b.inputs)+1),
	}
	list := []string{b.target.dialect.RowID() + " AS sluice_rowid"}
	for _, c := range columns {
		list = append(list, b.target.dialect.Column(&b.target.table.Columns[c], ""))
	}
	in.RemoteSQL = "SELECT " + strings.Join(list, ", ") + " FROM " + from
	if len(f.sql) > 0 {
		in.RemoteSQL += " WHERE " + strings.Join(f.sql, " AND ")
	}
	b.inputs = append(b.inputs, in)
	return in.TempName, nil
}

func rangeVar(v *pg_query.RangeVar) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_RangeVar{RangeVar: proto.CloneOf(v)}}
}

// columnOf is a select list entry for one column.
func columnOf(alias, name string) *pg_query.Node {
	fields := []*pg_query.Node{pg_query.MakeStrNode(alias), pg_query.MakeStrNode(name)}
	return pg_query.MakeResTargetNodeWithVal(pg_query.MakeColumnRefNode(fields, -1), -1)
}
