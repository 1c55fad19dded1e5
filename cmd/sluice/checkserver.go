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
	"github.com/sluicedb/sluice/proxy"
	"github.com/sluicedb/sluice/proxy/ddl"
)

func serverTitle(database string, server *catalog.Server) string {
	return fmt.Sprintf("server %s.%s (%s)", database, server.Name, server.Wrapper)
}

// checkServer asks one foreign server whether it answers.
func (c *checker) checkServer(ctx context.Context, q session, database string, server *catalog.Server) {
	if engine := c.openServer(ctx, q, database, server); engine != nil {
		_ = engine.Close()
		c.ok(serverTitle(database, server), "answers")
	}
}

// openServer opens the engine of a server that answers; nil, with a line that says so, where it does not.
func (c *checker) openServer(ctx context.Context, q session, database string, server *catalog.Server) engines.Engine {
	what := serverTitle(database, server)
	wrapper := c.wrappers[server.Wrapper]
	if wrapper == nil {
		c.fail(what, errors.New("this binary has no such engine"), "run a build of sluice that has it, or drop the server")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	mapping, err := q.mapping(ctx, wrapper, server)
	if err != nil {
		c.fail(what, err, "map the account of sluice serve too, if only to check the server")
		return nil
	}
	engine, err := wrapper.Open(ctx, engines.Server{OID: server.OID, Name: server.Name, Options: server.Options, Mapping: mapping})
	if err != nil {
		c.fail(what, err, "mend its options with ALTER SERVER")
		return nil
	}
	if err := engine.Ping(ctx); err != nil {
		c.fail(what, err, "see that what its options name is there, or change them with ALTER SERVER")
		_ = engine.Close()
		return nil
	}
	return engine
}

// certifyServer looks at whether a server does what its engine promises, and notes that.
func (c *checker) certifyServer(ctx context.Context, q session, database string, server *catalog.Server) {
	engine := c.openServer(ctx, q, database, server)
	if engine == nil {
		return
	}
	defer func() { _ = engine.Close() }()
	what := serverTitle(database, server)
	found, err := proxy.Certify(ctx, engine)
	if err == nil {
		err = proxy.NoteCertified(ctx, q, server.Name, found)
	}
	if err != nil {
		c.fail(what, err, "the account must own the server, or be a superuser")
		return
	}
	for _, f := range found {
		line := what + ", " + f.Version + ", " + f.Terminal + " " + f.Capability
		switch {
		case f.Certified:
			c.ok(line, "certified: "+f.Detail)
		case f.Terminal == "row":
			c.fail(line, errors.New(oneLine(f.Detail)), "the server must not be relied on for this")
		default: // what has no columns is read by its rows
			_, _ = fmt.Fprintf(c.out, "no    %s: %s\n", line, oneLine(f.Detail))
		}
	}
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
