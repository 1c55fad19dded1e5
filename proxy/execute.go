package proxy

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// executed returns the EXECUTE that a statement is, or that CREATE TABLE AS is made from; nil for any other.
func executed(n *pg_query.Node) *pg_query.ExecuteStmt {
	if e := n.GetExecuteStmt(); e != nil {
		return e
	}
	return n.GetCreateTableAsStmt().GetQuery().GetExecuteStmt()
}

// planExecute plans the statement that an EXECUTE of ours names, with its arguments as parameters.
func (s *Session) planExecute(ctx context.Context, x *execution) (bool, error) {
	stmt := executed(x.statement.Node.Stmt)
	p := s.prepared(stmt.Name)
	if p == nil {
		return false, nil
	}
	var r request
	d, err := s.readDescription(ctx, r.describe('S', stmt.Name))
	if err != nil {
		return false, err
	}
	if len(d.params) == 0 { // then Postgres does not look at arguments
		stmt = &pg_query.ExecuteStmt{Name: stmt.Name}
	}
	if len(stmt.Params) != len(d.params) {
		e := pgerr.New(pgerr.SyntaxError, "wrong number of parameters for prepared statement %q", stmt.Name)
		return false, pgerr.Detail(e, "Expected %d parameters but got %d.", len(d.params), len(stmt.Params))
	}
	args, err := s.arguments(ctx, x.statement, stmt.Params, d.params)
	if err != nil {
		return false, err
	}
	if x.statement.Kind == parser.CreateTableAs {
		x.statement, err = s.tableFrom(ctx, x.statement, p.statement, d.params, args)
		if err != nil {
			return false, err
		}
		return s.planBody(ctx, x)
	}
	x.statement, x.described, x.bind, x.kept = p.statement, d, &pgproto3.Bind{Parameters: args}, true
	return s.plan(ctx, x)
}

// argsName is the name at home of the statement that takes the parameters of the one that is executed and returns them.
const argsName = ownPrefix + "args"

// arguments has home evaluate the arguments of an EXECUTE as those of parameters of these types, and returns their text;
// nil is NULL.
func (s *Session) arguments(ctx context.Context, st *parser.Statement, params []*pg_query.Node, types []uint32) ([][]byte, error) {
	if len(params) == 0 {
		return nil, nil
	}
	var r request
	if err := s.ask(ctx, r.close('S', argsName).parse(argsName, selectParams(len(types)), types), nil); err != nil {
		return nil, err
	}
	const execute = "EXECUTE " + argsName
	list, offset, ok := st.Arguments()
	if !ok {
		deparsed, err := parser.DeparseList(params)
		if err != nil {
			return nil, err
		}
		list = "(" + deparsed + ")"
	}
	rows, _, err := s.once(ctx, execute+list, nil, nil)
	if pe, is := err.(*pgconn.PgError); is && pe.Position > int32(len(execute)) {
		if pe.Position += int32(offset - len(execute)); !ok {
			pe.Position = 0
		}
	}
	if err != nil {
		return nil, err
	}
	args := make([][]byte, len(rows[0]))
	for i, v := range rows[0] {
		if v != nil {
			args[i] = append([]byte{}, *v...)
		}
	}
	return args, nil
}

// tableFrom returns CREATE TABLE … AS EXECUTE with the prepared statement in the EXECUTE's place and the arguments, cast
// to the parameters' types, in place of the parameters.
func (s *Session) tableFrom(ctx context.Context, create, body *parser.Statement, types []uint32, args [][]byte) (*parser.Statement, error) {
	literals := make([]*pg_query.Node, len(args))
	for i, a := range args {
		rows, err := s.Query(ctx, "SELECT pg_catalog.format_type($1::pg_catalog.oid, NULL)", strconv.FormatUint(uint64(types[i]), 10))
		if err != nil {
			return nil, err
		}
		value := "NULL"
		if a != nil {
			value = "'" + strings.ReplaceAll(string(a), "'", "''") + "'"
		}
		list, err := parser.Parse("SELECT " + value + "::" + *rows[0][0])
		if err != nil {
			return nil, err
		}
		literals[i] = list[0].Node.Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	}
	out, query := create.Clone(), body.Clone().Node.Stmt
	parser.Walk(query, func(m proto.Message) bool {
		if n, ok := m.(*pg_query.Node); ok && n.GetParamRef() != nil {
			n.Node = proto.Clone(literals[n.GetParamRef().Number-1]).(*pg_query.Node).Node
		}
		return true
	})
	out.Node.Stmt.GetCreateTableAsStmt().Query = query
	return parser.FromNode(out.Node)
}
