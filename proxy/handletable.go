package proxy

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// createsHandle reports whether a statement is CREATE TABLE sluice_handle.x AS …, or SELECT … INTO sluice_handle.x.
func createsHandle(n *pg_query.Node) bool {
	if into := leftmost(n.GetSelectStmt()).GetIntoClause(); into != nil {
		return into.Rel.GetSchemaname() == handleSchema
	}
	c := n.GetCreateTableAsStmt()
	return c != nil && c.Objtype == pg_query.ObjectType_OBJECT_TABLE && c.Into.GetRel().GetSchemaname() == handleSchema
}

// leftmost is the SELECT of a set operation that INTO stands in.
func leftmost(s *pg_query.SelectStmt) *pg_query.SelectStmt {
	for s.GetLarg() != nil {
		s = s.Larg
	}
	return s
}

// asTable makes CREATE TABLE AS of SELECT INTO, which means the same.
func asTable(raw *pg_query.RawStmt) *pg_query.CreateTableAsStmt {
	if c := raw.Stmt.GetCreateTableAsStmt(); c != nil {
		return c
	}
	s := leftmost(raw.Stmt.GetSelectStmt())
	c := &pg_query.CreateTableAsStmt{Query: raw.Stmt, Into: s.IntoClause, Objtype: pg_query.ObjectType_OBJECT_TABLE}
	s.IntoClause = nil
	raw.Stmt = &pg_query.Node{Node: &pg_query.Node_CreateTableAsStmt{CreateTableAsStmt: c}}
	return c
}

// defaultTTL is how long a handle lives that nothing else is said of.
const defaultTTL = "1 hour"

// createHandle carries out CREATE TABLE sluice_handle.x WITH (sluice.ttl = …) AS …, or SELECT INTO: home makes the table without the options that
// are ours, and it is noted as a handle.
func (s *Session) createHandle(ctx context.Context, x *execution) (*cursor, error) {
	st := x.statement.Clone()
	c := asTable(st.Node)
	if c.IfNotExists {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "CREATE TABLE IF NOT EXISTS makes no handle"),
			"Leave IF NOT EXISTS out, or look for the handle in sluice.ctas_handles first.")
	}
	h := handleRequest{query: x.statement.Text, ttl: defaultTTL, name: c.Into.Rel.Relname}
	if err := h.take(c.Into); err != nil {
		return nil, err
	}
	if len(x.described.params) == 0 && plainInto(c) {
		return nil, s.createPlain(ctx, x, c.Query, h)
	}
	if h.server != "" {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "a handle at server %q takes no parameters, and nothing of CREATE TABLE AS but its query", h.server),
			"Leave out what is home's own: column names, storage parameters, USING, TABLESPACE, WITH NO DATA.")
	}
	stripped, err := parser.FromNode(st.Node)
	if err != nil {
		return nil, err
	}
	n, err := s.create(ctx, x, stripped, x.described.params)
	if err != nil {
		return nil, withoutPosition(err)
	}
	if _, err := s.noteHandle(ctx, pgx.Identifier{handleSchema, h.name}.Sanitize(), h, n); err != nil {
		return nil, err
	}
	if x.tag = fixedTag(selectTag(n)); c.Into.SkipData {
		x.tag = fixedTag("CREATE TABLE AS")
	}
	return nil, nil
}

// plainInto reports whether a CREATE TABLE AS says nothing of its table but the name, and has a query of its own.
func plainInto(c *pg_query.CreateTableAsStmt) bool {
	into := c.Into
	return c.Query.GetExecuteStmt() == nil && len(into.ColNames) == 0 && len(into.Options) == 0 && into.AccessMethod == "" && into.TableSpaceName == "" && !into.SkipData &&
		into.Rel.Relpersistence == "p"
}

// createPlain makes a handle as sluice.materialize does.
func (s *Session) createPlain(ctx context.Context, x *execution, query *pg_query.Node, h handleRequest) error {
	text, err := parser.Deparse(&pg_query.RawStmt{Stmt: query})
	if err != nil {
		return err
	}
	h.query = text
	table, n, err := s.keepRows(ctx, x, &h)
	if err == nil {
		_, err = s.noteHandle(ctx, table, h, n)
	}
	if err != nil {
		e := *pgerr.From(err)
		e.InternalQuery, e.InternalPosition = "", 0
		return &e
	}
	x.tag = fixedTag(selectTag(n))
	return nil
}

// take reads the options that are ours, and takes them out of the statement.
func (h *handleRequest) take(into *pg_query.IntoClause) error {
	var err error
	into.Options = slices.DeleteFunc(into.Options, func(o *pg_query.Node) bool {
		d := o.GetDefElem()
		if !strings.EqualFold(d.GetDefnamespace(), "sluice") {
			return false
		}
		switch value := optionText(d.Arg); d.Defname {
		case "ttl":
			h.ttl = value
		case "server":
			h.server = value
		default:
			err = pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "unrecognized parameter \"sluice.%s\"", d.Defname), "There are sluice.ttl and sluice.server.")
		}
		return true
	})
	return err
}
