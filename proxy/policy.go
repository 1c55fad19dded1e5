package proxy

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// governed returns the name of the table whose row security or masks a statement defines, nil for any other statement.
func governed(n *pg_query.Node) *pg_query.RangeVar {
	switch {
	case n.GetCreatePolicyStmt() != nil:
		return n.GetCreatePolicyStmt().Table
	case n.GetAlterPolicyStmt() != nil:
		return n.GetAlterPolicyStmt().Table
	case n.GetRenameStmt().GetRenameType() == pg_query.ObjectType_OBJECT_POLICY:
		return n.GetRenameStmt().Relation
	case n.GetDropStmt().GetRemoveType() == pg_query.ObjectType_OBJECT_POLICY:
		names := n.GetDropStmt().Objects[0].GetList().GetItems()
		return named(names[:len(names)-1])
	case n.GetAlterTableStmt() != nil && slices.ContainsFunc(n.GetAlterTableStmt().Cmds, isRowSecurity):
		return n.GetAlterTableStmt().Relation
	case n.GetSecLabelStmt().GetProvider() == "sluice" && n.GetSecLabelStmt().GetObjtype() == pg_query.ObjectType_OBJECT_COLUMN:
		names := n.GetSecLabelStmt().Object.GetList().GetItems()
		if len(names) > 1 {
			return named(names[:len(names)-1])
		}
	}
	return nil
}

// named makes the reference that a list of names is; nil for no list of one or two.
func named(names []*pg_query.Node) *pg_query.RangeVar {
	switch len(names) {
	case 1:
		return &pg_query.RangeVar{Relname: names[0].GetString_().GetSval()}
	case 2:
		return &pg_query.RangeVar{Schemaname: names[0].GetString_().GetSval(), Relname: names[1].GetString_().GetSval()}
	}
	return nil
}

var rowSecurity = map[pg_query.AlterTableType][2]string{ // the arguments of sluice.set_row_security
	pg_query.AlterTableType_AT_EnableRowSecurity:  {"true", "NULL"},
	pg_query.AlterTableType_AT_DisableRowSecurity: {"false", "NULL"},
	pg_query.AlterTableType_AT_ForceRowSecurity:   {"NULL", "true"},
	pg_query.AlterTableType_AT_NoForceRowSecurity: {"NULL", "false"},
}

func isRowSecurity(n *pg_query.Node) bool {
	_, ok := rowSecurity[n.GetAlterTableCmd().GetSubtype()]
	return ok
}

func enablesRowSecurity(n *pg_query.Node) bool {
	return n.GetAlterTableCmd().GetSubtype() == pg_query.AlterTableType_AT_EnableRowSecurity
}

// warnOfLeaks has home tell the client of each way to a table's rows that its row security does not close.
func (s *Session) warnOfLeaks(ctx context.Context, table uint32) error {
	_, err := s.Query(ctx, "SELECT sluice.warn_of_leaks($1::pg_catalog.oid::pg_catalog.regclass)", strconv.FormatUint(uint64(table), 10))
	return err
}

// govern carries out what defines row security of a foreign table of ours, or masks; home does so for all others.
func (s *Session) govern(ctx context.Context, x *execution) (*cursor, error) {
	n := x.statement.Node.Stmt
	table := governed(n)
	resolved, _, err := catalog.Resolve(ctx, s, []catalog.Name{{Schema: table.Schemaname, Name: table.Relname}})
	if err != nil {
		return nil, err
	}
	r := s.snapshot.Relations[resolved[0]]
	if label := n.GetSecLabelStmt(); label != nil && resolved[0] != 0 {
		return nil, s.defined(x, "SECURITY LABEL", nil, s.label(ctx, label, strconv.FormatUint(uint64(resolved[0]), 10)))
	}
	if r == nil || r.Kind != 'f' {
		tag, err := s.Exec(ctx, x.statement.Text)
		if err == nil && slices.ContainsFunc(n.GetAlterTableStmt().GetCmds(), enablesRowSecurity) {
			err = s.warnOfLeaks(ctx, resolved[0])
		}
		return nil, s.defined(x, tag, nil, err)
	}
	oid := strconv.FormatUint(uint64(r.OID), 10)
	if n.GetAlterTableStmt() != nil {
		return nil, s.defined(x, "ALTER TABLE", nil, s.setRowSecurity(ctx, n.GetAlterTableStmt(), oid))
	}
	text, shift := rehearsal(x.statement, table, r.Name)
	_, err = s.Query(ctx, "SELECT sluice.change_policies($1::pg_catalog.oid::pg_catalog.regclass, $2)", oid, text)
	return nil, s.defined(x, policyTag(n), nil, inRehearsal(err, shift))
}

func policyTag(n *pg_query.Node) string {
	switch {
	case n.GetCreatePolicyStmt() != nil:
		return "CREATE POLICY"
	case n.GetDropStmt() != nil:
		return "DROP POLICY"
	}
	return "ALTER POLICY"
}

func (s *Session) setRowSecurity(ctx context.Context, n *pg_query.AlterTableStmt, oid string) error {
	for _, c := range n.Cmds {
		args, ok := rowSecurity[c.GetAlterTableCmd().Subtype]
		if !ok {
			return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "row security of a foreign table cannot be changed together with other things"),
				"Use an ALTER TABLE of its own.")
		}
		if _, err := s.Query(ctx, "SELECT sluice.set_row_security($1::pg_catalog.oid::pg_catalog.regclass, "+args[0]+", "+args[1]+")", oid); err != nil {
			return inRehearsal(err, 0)
		}
	}
	return nil
}

var maskLabel = regexp.MustCompile(`(?is)^\s*MASKED\s+WITH\s+(?:FUNCTION|VALUE)\s+(.*\S)\s*$`)

// label carries out SECURITY LABEL FOR sluice ON COLUMN: a mask, or none.
func (s *Session) label(ctx context.Context, n *pg_query.SecLabelStmt, oid string) error {
	names := n.Object.GetList().GetItems()
	column := names[len(names)-1].GetString_().GetSval()
	if n.Label == "" {
		_, err := s.Query(ctx, "SELECT sluice.drop_column_mask($1::pg_catalog.oid::pg_catalog.regclass, $2)", oid, column)
		return inRehearsal(err, 0)
	}
	m := maskLabel.FindStringSubmatch(n.Label)
	if m == nil {
		return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "security label %q is not valid", n.Label),
			"Use 'MASKED WITH FUNCTION sluice.mask_email(column)' or 'MASKED WITH VALUE ''***''', or IS NULL to take a mask away.")
	}
	_, err := s.Query(ctx, "SELECT sluice.set_column_mask($1::pg_catalog.oid::pg_catalog.regclass, $2, $3)", oid, column, m[1])
	return inRehearsal(err, 0)
}

var relationName = regexp.MustCompile(`^(?:"(?:[^"]|"")+"|[^\s."(;]+)(?:\s*\.\s*(?:"(?:[^"]|"")+"|[^\s."(;]+))*`)

// rehearsal is a statement on policies with pg_temp in place of the table's schema, and by how much that shifts positions
// behind it.
func rehearsal(st *parser.Statement, table *pg_query.RangeVar, name string) (string, int) {
	instead := `pg_temp."` + strings.ReplaceAll(name, `"`, `""`) + `"`
	at := int(table.Location) - int(st.Node.StmtLocation)
	if table.Location > 0 && at > 0 && at < len(st.Text) {
		if old := relationName.FindString(st.Text[at:]); old != "" {
			return st.Text[:at] + instead + st.Text[at+len(old):], len(instead) - len(old)
		}
	}
	copied := st.Clone()
	replaceTable(copied.Node.Stmt, name)
	text, err := parser.Deparse(copied.Node)
	if err != nil {
		return st.Text, 0
	}
	return text, 0
}

// replaceTable lets a statement on policies mean a table of pg_temp.
func replaceTable(n *pg_query.Node, name string) {
	v := &pg_query.RangeVar{Schemaname: "pg_temp", Relname: name, Inh: true, Relpersistence: "p"}
	switch {
	case n.GetCreatePolicyStmt() != nil:
		n.GetCreatePolicyStmt().Table = v
	case n.GetAlterPolicyStmt() != nil:
		n.GetAlterPolicyStmt().Table = v
	case n.GetRenameStmt() != nil:
		n.GetRenameStmt().Relation = v
	case n.GetDropStmt() != nil:
		for _, o := range n.GetDropStmt().Objects {
			items := o.GetList().Items
			o.GetList().Items = []*pg_query.Node{pg_query.MakeStrNode("pg_temp"), pg_query.MakeStrNode(name), items[len(items)-1]}
		}
	}
}

// inRehearsal gives an error of a statement that functions of ours carry out the form that the statement's own would have.
func inRehearsal(err error, shift int) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok {
		return err
	}
	e := *pe
	if e.InternalPosition > 0 {
		e.Position = max(e.InternalPosition-int32(shift), 0)
	}
	e.InternalPosition, e.InternalQuery, e.Where = 0, "", ""
	return &e
}
