package oracle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// staging is the schema at home that rows pass through on their way into a lake.
const staging = "sluice_staging"

// Foreign makes foreign tables in schema public of a database that hold what the statements of create put into plain
// ones. It needs a connection around the proxy and the URL of the same database through it; file is the DuckDB file to
// make and server the name of the server over it, which can be written to.
func Foreign(ctx context.Context, home *pgx.Conn, proxy, server, file string, create ...string) (err error) {
	stage := append([]string{"CREATE SCHEMA " + staging, "SET search_path = " + staging + ", public"}, create...)
	if err := run(ctx, home.PgConn(), stage...); err != nil {
		return err
	}
	lake, err := Copy(ctx, home, staging, file)
	if err != nil {
		return err
	}
	if err := run(ctx, home.PgConn(), "RESET ALL", "DROP SCHEMA "+staging+" CASCADE"); err != nil {
		return err
	}
	conn, err := pgconn.Connect(ctx, proxy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return run(ctx, conn, append([]string{lake.Server(server, true)}, lake.Tables(server, "public")...)...)
}

func run(ctx context.Context, conn *pgconn.PgConn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", strings.SplitN(sql, "\n", 2)[0], err)
		}
	}
	return nil
}
