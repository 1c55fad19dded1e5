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

// createsHandle reports whether a statement is CREATE TABLE sluice_handle.x AS ….
func createsHandle(n *pg_query.Node) bool {
	c := n.GetCreateTableAsStmt()
	return c != nil && c.Objtype == pg_query.ObjectType_OBJECT_TABLE && !c.IsSelectInto && c.Into.GetRel().GetSchemaname() == handleSchema
}

// defaultTTL is how long a handle lives that nothing else is said of.
const defaultTTL = "1 hour"

// createHandle carries out CREATE TABLE sluice_handle.x WITH (sluice.ttl = …) AS …: home makes the table without the options that
// are ours, and it is noted as a handle.
func (s *Session) createHandle(ctx context.Context, x *execution) (*cursor, error) {
	st := x.statement.Clone()
	c := st.Node.Stmt.GetCreateTableAsStmt()
	if c.IfNotExists {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "CREATE TABLE IF NOT EXISTS makes no handle"),
			"Leave IF NOT EXISTS out, or look for the handle in sluice.ctas_handles first.")
	}
	h := handleRequest{query: x.statement.Text, ttl: defaultTTL, name: c.Into.Rel.Relname}
	if err := h.take(c.Into); err != nil {
		return nil, err
	}
	if h.server != "" {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "CREATE TABLE makes handles at home only"), "Use sluice.materialize(…, server => %q).", h.server)
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
