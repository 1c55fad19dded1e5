package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// checkServer asks one foreign server whether it answers.
func (c *checker) checkServer(ctx context.Context, q session, database string, server *catalog.Server) {
	what := fmt.Sprintf("server %s.%s (%s)", database, server.Name, server.Wrapper)
	wrapper := c.wrappers[server.Wrapper]
	if wrapper == nil {
		c.fail(what, errors.New("this binary has no such engine"), "run a build of sluice that has it, or drop the server")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	mapping, err := q.mapping(ctx, wrapper, server)
	if err != nil {
		c.fail(what, err, "map the account of sluice serve too, if only to check the server")
		return
	}
	engine, err := wrapper.Open(ctx, engines.Server{OID: server.OID, Name: server.Name, Options: server.Options, Mapping: mapping})
	if err != nil {
		c.fail(what, err, "mend its options with ALTER SERVER")
		return
	}
	defer func() { _ = engine.Close() }()
	if err := engine.Ping(ctx); err != nil {
		c.fail(what, err, "see that what its options name is there, or change them with ALTER SERVER")
		return
	}
	c.ok(what, "answers")
}

// mapping returns the user mapping by which the account of our own logs in to a server, nil where its users are not mapped.
func (s session) mapping(ctx context.Context, w engines.Wrapper, server *catalog.Server) (map[string]string, error) {
	if !engines.Maps(w, server.Options) {
		return nil, nil
	}
	role, err := s.Query(ctx, "SELECT oid FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) current_user")
	if err != nil {
		return nil, err
	}
	result := s.conn.ExecParams(ctx, catalog.MappingSQL, [][]byte{fmt.Append(nil, server.OID), []byte(*role[0][0])}, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	var row [][]byte
	if len(result.Rows) > 0 {
		row = result.Rows[0]
	}
	m, err := catalog.ReadMapping(row)
	if err != nil {
		return nil, err
	}
	options, err := m.InForce(server.Name)
	if err != nil {
		return nil, err
	}
	return ddl.Secrets(options)
}

func sortedServers(s *catalog.Snapshot) []*catalog.Server {
	return slices.SortedFunc(maps.Values(s.Servers), func(a, b *catalog.Server) int { return cmp.Compare(a.Name, b.Name) })
}

// session runs the catalog's statements on a connection of our own.
type session struct{ conn *pgconn.PgConn }

// Exec runs one statement and throws its rows away.
func (s session) Exec(ctx context.Context, sql string) (string, error) {
	result := s.conn.ExecParams(ctx, sql, nil, nil, nil, nil).Read()
	return result.CommandTag.String(), result.Err
}

// Query returns all rows in text form.
func (s session) Query(ctx context.Context, sql string, args ...string) ([][]*string, error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	result := s.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	rows := make([][]*string, len(result.Rows))
	for i, row := range result.Rows {
		rows[i] = make([]*string, len(row))
		for j, value := range row {
			if value != nil {
				text := string(value)
				rows[i][j] = &text
			}
		}
	}
	return rows, nil
}
