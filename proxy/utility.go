package proxy

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// utility is a statement that the proxy runs itself; it sets x.tag.
type utility func(ctx context.Context, x *execution) (*cursor, error)

// handles reports whether a statement is of a kind that is analysed here once it names something of ours. All others
// pass through to home: it plans nothing for them, or needs no handler to run them.
func (s *Session) handles(st *parser.Statement) bool {
	switch n := st.Node.Stmt; {
	case s.utility(st) != nil:
		return true
	case executed(n) != nil:
		return s.prepared(executed(n).Name) != nil
	case s.fetchesHidden(n) != nil:
		return true
	default:
		return parser.Plans(st)
	}
}

// utility returns what runs a statement that the proxy carries out itself, nil for any other.
func (s *Session) utility(st *parser.Statement) utility {
	switch n := st.Node.Stmt; {
	case catalog.Extension(n) != nil:
		return s.extension
	case s.snapshot.Installed && governed(n) != nil:
		return s.govern
	case s.snapshot.Installed && s.alters(n):
		return s.alter
	case s.snapshot.Installed && calls(st, "materialize") != nil:
		return s.materialize
	case s.snapshot.Installed && calls(st, "certify") != nil:
		return s.certifies
	case len(s.snapshot.Remotely) > 0 && calls(st, verifier) != nil:
		return s.verifyStatistics
	case s.snapshot.Installed && calls(st, "document") != nil:
		return s.document
	case s.snapshot.Installed && createsHandle(n):
		return s.createHandle
	case s.mustSpare(n):
		return s.discardTemp
	case n.GetCreateForeignServerStmt() != nil, n.GetAlterForeignServerStmt() != nil,
		n.GetCreateUserMappingStmt() != nil, n.GetAlterUserMappingStmt() != nil,
		n.GetCreateForeignTableStmt() != nil,
		n.GetAlterTableStmt() != nil && n.GetAlterTableStmt().Objtype == pg_query.ObjectType_OBJECT_FOREIGN_TABLE:
		if !s.snapshot.Installed {
			return nil
		}
		return s.define
	case n.GetImportForeignSchemaStmt() != nil:
		if s.serverNamed(n.GetImportForeignSchemaStmt().ServerName) == nil {
			return nil // home's own wrapper, or no such server
		}
		return s.importSchema
	case n.GetExplainStmt() != nil:
		return s.explain
	case s.snapshot.Installed && resetsActivity(n):
		return s.resetActivity
	case n.GetPrepareStmt() != nil:
		return s.prepareSQL
	case n.GetVacuumStmt() != nil && !n.GetVacuumStmt().IsVacuumcmd && len(n.GetVacuumStmt().Rels) > 0:
		return s.analyze
	case n.GetTransactionStmt() != nil && (s.writing != nil || n.GetTransactionStmt().Chain):
		return s.transaction
	}
	return s.cursorUtility(st.Node.Stmt)
}

func (s *Session) serverNamed(name string) *catalog.Server {
	for _, server := range s.snapshot.Servers {
		if server.Name == name {
			return server
		}
	}
	return nil
}

// extension carries out CREATE, ALTER and DROP EXTENSION sluice in the transaction that is open. What follows in the same query text
// is looked at by what there is then.
func (s *Session) extension(ctx context.Context, x *execution) (*cursor, error) {
	tag, notices, err := catalog.Extension(x.statement.Node.Stmt)(ctx, s)
	if err = s.defined(x, tag, notices, err); err == nil {
		err = s.refresh(ctx)
	}
	return nil, err
}

// define lets home define SQL/MED objects on our wrappers and then checks their options, as Postgres asks a validator last:
// an error undoes what home did.
func (s *Session) define(ctx context.Context, x *execution) (*cursor, error) {
	tag, err := s.Exec(ctx, x.statement.Text)
	if err != nil {
		return nil, err
	}
	notices, err := ddl.Check(x.statement.Node.Stmt, s.server.wrappers, ddl.InSnapshot(s.snapshot))
	if err == nil {
		err = s.checkCertified(ctx, x.statement.Node.Stmt)
	}
	if err != nil {
		s.notices(notices)
		return nil, err
	}
	return nil, s.defined(x, tag, notices, nil)
}

// importSchema introspects the engine and creates the foreign tables, all in the transaction that is open.
func (s *Session) importSchema(ctx context.Context, x *execution) (*cursor, error) {
	stmt := x.statement.Node.Stmt.GetImportForeignSchemaStmt()
	server := s.serverNamed(stmt.ServerName)
	if server == nil {
		return nil, pgerr.New(pgerr.UndefinedObject, "server %q does not exist", stmt.ServerName)
	}
	if err := s.checkImport(ctx, stmt, server); err != nil {
		return nil, err
	}
	engine, err := s.engine(ctx, server, 0)
	if err != nil {
		return nil, err
	}
	tables, err := engine.Introspect(ctx, stmt.RemoteSchema)
	if err != nil {
		return nil, s.cause(err)
	}
	statements, notices, err := ddl.Import(stmt, server, tables)
	if err != nil {
		return nil, err
	}
	task := s.server.activity.Start(s.origin(0), "IMPORT FOREIGN SCHEMA", server.Name+"."+stmt.RemoteSchema, int64(len(statements)))
	defer task.End()
	for _, st := range statements {
		if _, err := s.Exec(ctx, st.SQL); err != nil {
			return nil, inImport(err, st.Where)
		}
		task.Add(1)
	}
	return nil, s.defined(x, "IMPORT FOREIGN SCHEMA", notices, nil)
}

// checkImport asks home what it would check first: the target schema and USAGE on the server.
func (s *Session) checkImport(ctx context.Context, stmt *pg_query.ImportForeignSchemaStmt, server *catalog.Server) error {
	rows, err := s.Query(ctx, `SELECT pg_catalog.has_server_privilege($1, 'USAGE'), EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $2)`,
		server.Name, stmt.LocalSchema)
	switch {
	case err != nil:
		return err
	case *rows[0][0] == "f":
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for foreign server %s", server.Name)
	case *rows[0][1] == "f":
		return pgerr.New("3F000", "schema %q does not exist", stmt.LocalSchema)
	}
	return nil
}

// inImport adds the context that home gives to errors of IMPORT FOREIGN SCHEMA.
func inImport(err error, where string) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || pe.Severity == "FATAL" || where == "" {
		return err
	}
	e := *pe
	e.Position = 0
	e.Where = strings.TrimSpace(e.Where + "\n" + where)
	return &e
}

// defined ends a statement that changed definitions.
func (s *Session) defined(x *execution, tag string, notices []*pgconn.PgError, err error) error {
	if err != nil {
		return err
	}
	s.noteDDL()
	s.notices(notices)
	x.tag = fixedTag(tag)
	return nil
}

func (s *Session) notices(list []*pgconn.PgError) {
	for _, n := range list {
		s.say(noticeResponse(n))
	}
}

func noticeResponse(e *pgconn.PgError) *pgproto3.NoticeResponse {
	return (*pgproto3.NoticeResponse)(errorResponse(e))
}

// transaction carries out transaction control while a write to a foreign server is open: the server commits first.
func (s *Session) transaction(ctx context.Context, x *execution) (*cursor, error) {
	switch t := x.statement.Node.Stmt.GetTransactionStmt(); t.Kind {
	case pg_query.TransactionStmtKind_TRANS_STMT_COMMIT:
		switch state := s.home.state(); {
		case state == 'E': // home rolls back as well
			s.undoWrite()
		case state == 'I' && t.Chain:
			return nil, needsBlock("COMMIT AND CHAIN")
		default:
			if err := s.commitWrite(); err != nil {
				return nil, err
			}
		}
	case pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		s.undoWrite()
	case pg_query.TransactionStmtKind_TRANS_STMT_BEGIN, pg_query.TransactionStmtKind_TRANS_STMT_START:
	case pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT, pg_query.TransactionStmtKind_TRANS_STMT_RELEASE, pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		if s.writing != nil {
			tag, err := s.savepoint(ctx, t, x.statement.Text)
			x.tag = fixedTag(tag)
			return nil, err
		}
	default:
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "a transaction that has written to server %q cannot be prepared", s.writing.server.Name),
			"COMMIT or ROLLBACK it.")
	}
	tag, err := s.Exec(ctx, x.statement.Text)
	if err == nil && x.statement.Node.Stmt.GetTransactionStmt().Chain {
		s.home.chained()
	}
	x.tag = fixedTag(tag)
	return nil, err
}

// prepareSQL lets home prepare a statement by PREPARE and remembers it.
func (s *Session) prepareSQL(ctx context.Context, x *execution) (*cursor, error) {
	inner, err := innerOf(x.statement)
	if err != nil {
		return nil, err
	}
	tag, err := s.Exec(ctx, withSource(x.statement.Text, x.statement.Source))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stmts[x.statement.Node.Stmt.GetPrepareStmt().Name] = &prepared{statement: inner}
	x.tag = fixedTag(tag)
	return nil, nil
}
