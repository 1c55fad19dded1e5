package catalog

import (
	"context"
	"io/fs"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Executor runs statements in the client's own session at home.
type Executor interface {
	Querier
	// Exec runs one statement without arguments and returns its command tag. Rows are thrown away. Errors are
	// *pgconn.PgError.
	Exec(ctx context.Context, sql string) (tag string, err error)
}

// runScript runs the statements of a script one by one.
func runScript(ctx context.Context, x Executor, script string) error {
	statements, err := pg_query.SplitWithScanner(script, true)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := x.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// runScripts runs all files of a directory in the order of their names.
func runScripts(ctx context.Context, x Executor, scripts fs.FS) error {
	entries, err := fs.ReadDir(scripts, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		script, err := fs.ReadFile(scripts, e.Name())
		if err != nil {
			return err
		}
		if err := runScript(ctx, x, string(script)); err != nil {
			return err
		}
	}
	return nil
}
