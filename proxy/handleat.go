package proxy

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// keepAt makes a table of the result of a query at a foreign server, and the foreign table for it at home. What the server computes
// whole stays there; else home computes the rows as those of an INSERT, and the server takes them.
func (s *Session) keepAt(ctx context.Context, x *execution, table string, h *handleRequest) (rows int64, err error) {
	server, keeper, err := s.keeper(ctx, h.server)
	if err != nil {
		return 0, err
	}
	y, err := s.planKept(ctx, x, h.query)
	if err != nil {
		return 0, inQuery(err, h.query, "")
	}
	remote, columns, err := s.declareKept(ctx, table, server, keeper, h.query)
	if err != nil {
		return 0, err
	}
	if err := s.beginKept(ctx, server, keeper); err != nil {
		return 0, err
	}
	s.writing.writes++
	run := s.begin()
	defer run.end()
	defer run.limit(y.timeout())()
	if y.computedAt(server) {
		n, ok, err := s.fillKept(run.ctx, y, remote, columns)
		if ok || err != nil && (!dataException(err) && !y.misread(err) || s.writing.writes > 1) {
			s.settle(y.ledger, s.cause(err))
			return n, s.cause(err)
		}
		s.abandon(y.ledger)
		if err != nil { // what an engine finds wrong with values home has the last word on
			s.undoWrite()
			if err := s.beginKept(ctx, server, keeper); err != nil {
				return 0, err
			}
			s.writing.writes++
		}
	}
	if err := s.writing.tx.(engines.Maker).Make(run.ctx, remote, columns); err != nil {
		s.writing.broken = true
		return 0, s.cause(err)
	}
	n, err := s.insertKept(run.ctx, x, table, h.query)
	return n, s.cause(err)
}

// computedAt reports whether a server computes the statement whole, be it over tables of others.
func (x *execution) computedAt(server *catalog.Server) bool {
	p := x.plan
	return p != nil && p.Write == nil && (p.Route == plan.Remote || p.Route == plan.Federated) && p.Server != nil && p.Server.OID == server.OID
}

// keeper returns a server by its name, and its engine, which takes handles.
func (s *Session) keeper(ctx context.Context, name string) (*catalog.Server, engines.Keeper, error) {
	server := s.serverNamed(name)
	if server == nil {
		return nil, nil, pgerr.Hint(pgerr.New(pgerr.UndefinedObject, "server %q does not exist", name), "The view sluice.servers has those there are; leave the server out for home.")
	}
	engine, err := s.engine(ctx, server, 0)
	if err != nil {
		return nil, nil, err
	}
	keeper, ok := engines.As[engines.Keeper](engine)
	if !ok {
		return nil, nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q does not take handles", name), "docs/handles.md says which do; leave the server out for home.")
	}
	return server, keeper, keeper.Keeps()
}

// planKept plans the query of a handle. A plan of nil says that nothing of ours is in it.
func (s *Session) planKept(ctx context.Context, x *execution, query string) (*execution, error) {
	statements, err := s.parse(query)
	if err != nil {
		return nil, err
	}
	d, err := s.describe(ctx, ownPrefix+"kept", query, nil)
	if err != nil {
		return nil, err
	}
	if len(d.params) > 0 {
		return nil, noParameter()
	}
	y := &execution{statement: statements[0], described: d, within: x.statement}
	ours, err := s.planBody(ctx, y)
	if err != nil {
		return nil, s.enter(ctx, y, err)
	}
	if !ours {
		y.plan = nil
	}
	return y, nil
}

func noParameter() error { return pgerr.New("42P02", "there is no parameter $1") }

// keptColumns describes a table of home: its columns' names and types, as Keeper takes them, and the column definitions, in two parts that
// options stand between.
const keptColumns = `SELECT a.attname, CASE WHEN COALESCE(e.typtype, t.typtype) OPERATOR(pg_catalog.=) 'e' THEN pg_catalog.concat('` + engines.AnyEnum + `', CASE WHEN e.oid IS NOT NULL THEN '[]' END)
 ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END, pg_catalog.concat(pg_catalog.quote_ident(a.attname), ' ',
 pg_catalog.format_type(a.atttypid, a.atttypmod)), pg_catalog.concat(CASE WHEN a.attcollation OPERATOR(pg_catalog.<>) t.typcollation THEN (
  SELECT pg_catalog.format(' COLLATE %I.%I', n.nspname, l.collname) FROM pg_catalog.pg_collation l
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) l.collnamespace WHERE l.oid OPERATOR(pg_catalog.=) a.attcollation) END)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
LEFT JOIN pg_catalog.pg_type e ON e.oid OPERATOR(pg_catalog.=) t.typelem AND e.typarray OPERATOR(pg_catalog.=) t.oid
WHERE a.attrelid OPERATOR(pg_catalog.=) $1::pg_catalog.regclass AND a.attnum OPERATOR(pg_catalog.>) 0 ORDER BY a.attnum`

// declareKept declares the foreign table for a handle, whose columns are those that CREATE TABLE AS would make, and returns the
// remote table's name and columns.
func (s *Session) declareKept(ctx context.Context, table string, server *catalog.Server, keeper engines.Keeper, query string) (remote string, columns []engines.Column, err error) {
	like := "pg_temp." + s.tempPrefix(false) + "kept"
	prefix := "CREATE TEMPORARY TABLE " + strings.TrimPrefix(like, "pg_temp.") + " AS "
	if _, err := s.Exec(ctx, prefix+query+"\nWITH NO DATA"); err != nil {
		return "", nil, inQuery(err, query, prefix)
	}
	rows, err := s.Query(ctx, keptColumns, like)
	if err != nil {
		return "", nil, err
	}
	for _, r := range rows {
		columns = append(columns, engines.Column{Name: *r[0], Type: *r[1]})
	}
	definitions, err := definitionsOf(rows, columns, keeper)
	if err != nil {
		return "", nil, err
	}
	if _, err := s.Exec(ctx, "DROP TABLE "+like); err != nil {
		return "", nil, err
	}
	named, err := s.Query(ctx, "SELECT pg_catalog.concat(sluice.handle_prefix($1), pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-', ''))", server.Name)
	if err != nil {
		return "", nil, err
	}
	remote = *named[0][0]
	sql := "CREATE FOREIGN TABLE " + table + " (" + strings.Join(definitions, ", ") + ") SERVER " + pgx.Identifier{server.Name}.Sanitize() + " OPTIONS (table_name '" + remote + "')"
	if _, err := s.Exec(ctx, sql); err != nil {
		return "", nil, withoutPosition(err)
	}
	s.noteDDL()
	return remote, columns, nil
}

// definitionsOf are the foreign columns for rows of keptColumns, with the options by which the engine knows them.
func definitionsOf(rows [][]*string, columns []engines.Column, keeper engines.Keeper) ([]string, error) {
	options, err := keeper.Declare(columns)
	if err != nil {
		return nil, err
	}
	definitions := make([]string, len(rows))
	for i, r := range rows {
		definitions[i] = *r[2] + ddl.OptionList(options[i]) + *r[3]
	}
	return definitions, nil
}

// beginKept begins the transaction that a handle's table is made in, which must do nothing else.
func (s *Session) beginKept(ctx context.Context, server *catalog.Server, keeper engines.Keeper) error {
	if w := s.writing; w != nil {
		if w.handles && w.server.OID == server.OID {
			return nil
		}
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot make a handle at server %q: this transaction has written to server %q", server.Name, w.server.Name),
			"Make it in a transaction of its own.")
	}
	tx, err := keeper.(engines.Engine).Begin(ctx)
	if err != nil {
		return err
	}
	if _, ok := tx.(engines.Maker); !ok {
		_ = tx.Rollback()
		return pgerr.New(pgerr.InternalError, "an engine that takes handles makes none")
	}
	s.mu.Lock()
	s.committed = false
	s.mu.Unlock()
	s.writing = &write{server: server, tx: tx, handles: true}
	return nil
}

// fillKept lets the server that computes a query keep the rows. ok is false where it has others than home's.
func (s *Session) fillKept(ctx context.Context, y *execution, remote string, columns []engines.Column) (rows int64, ok bool, err error) {
	if err := s.enter(ctx, y, nil); err != nil {
		return 0, false, err
	}
	server := y.plan.Server
	err = s.sendValues(ctx, y, nil)
	if err == nil && !y.computedAt(server) {
		return 0, false, nil
	}
	var q engines.Query
	if err == nil {
		_, q, err = s.locate(ctx, y, y.remoteQuery(nil))
	}
	if err == nil {
		rows, ok, err = s.writing.tx.(engines.Maker).Fill(ctx, remote, columns, q)
	}
	if err != nil {
		s.writing.broken = true
		if y.plan.Governed {
			err = hushed(server, err)
		}
		return 0, false, err
	}
	if y.ledger != nil {
		y.ledger.kept, y.ledger.wrote = true, rows
	}
	return rows, ok, nil
}

// insertKept fills a handle's foreign table by an INSERT in place of x, the client's statement.
func (s *Session) insertKept(ctx context.Context, x *execution, table, query string) (int64, error) {
	prefix := "INSERT INTO " + table + " "
	statements, err := s.parse(prefix + query)
	if err != nil {
		return 0, err
	}
	if len(statements) != 1 || statements[0].Kind != parser.Insert {
		return 0, pgerr.New(pgerr.InternalError, "a query reads differently behind INSERT")
	}
	d, err := s.describe(ctx, ownPrefix+"inserted", statements[0].Text, nil)
	if err != nil {
		return 0, inQuery(err, query, prefix)
	}
	y := &execution{statement: statements[0], described: d, within: x.statement, handle: true}
	ours, err := s.planBody(ctx, y)
	if err == nil && (!ours || y.plan == nil || y.plan.Write == nil) {
		err = pgerr.New(pgerr.InternalError, "the foreign table of a handle is not known")
	}
	if err = s.enter(ctx, y, err); err != nil {
		return 0, inQuery(err, query, prefix)
	}
	p := &portal{}
	_, err = s.runWrite(ctx, y, p)
	s.temps = append(s.temps, p.temps...)
	s.settle(y.ledger, s.cause(err))
	if err != nil {
		return 0, withoutPosition(err)
	}
	n, _ := taggedRows([]byte(y.tag(0)))
	return n, nil
}
