package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Tour runs the steps through the proxy and prints them. It goes on after a failure, and returns all failures.
func Tour(ctx context.Context, c Config) error {
	var failures []error
	for i, s := range steps {
		c.progress("the tour", int64(i), int64(len(steps)))
		title(c.Out, fmt.Sprintf("%d. %s", i+1, s.title))
		if err := c.runStep(ctx, s); err != nil {
			_, _ = fmt.Fprintf(c.Out, "✗ %v\n", err)
			failures = append(failures, fmt.Errorf("step %d (%s): %w", i+1, s.title, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(failures...)
}

func (c Config) runStep(ctx context.Context, s step) error {
	return within(ctx, inDatabase(c.ProxyURL), func(conn *pgconn.PgConn) error {
		if s.describe != "" {
			return c.describe(ctx, conn, s.describe)
		}
		return within(ctx, inDatabase(c.HomeURL), func(plain *pgconn.PgConn) error {
			return c.runStatements(ctx, conn, plain, s.statements)
		})
	})
}

// runStatements runs each statement over foreign tables and over plain ones, prints the first and compares.
func (c Config) runStatements(ctx context.Context, conn, plain *pgconn.PgConn, statements []string) error {
	compared := 0
	var took time.Duration
	for _, sql := range statements {
		_, _ = fmt.Fprintln(c.Out, sql+";")
		start := time.Now()
		got, err := query(ctx, conn, sql)
		took += time.Since(start)
		if err != nil {
			return err
		}
		c.print(got)
		if strings.HasPrefix(sql, "EXPLAIN") {
			continue // its lines name routes, which plain tables have none of
		}
		want, err := query(ctx, plain, onPlainTables(sql))
		if err != nil {
			return fmt.Errorf("on plain tables: %w", err)
		}
		if err := compare(got, want); err != nil {
			return err
		}
		compared++
	}
	if compared > 0 {
		_, _ = fmt.Fprintf(c.Out, "✓ the same as on plain tables (%d ms)\n", took.Milliseconds())
	}
	return nil
}

func (c Config) print(r result) {
	switch {
	case r.copied != "":
		_, _ = fmt.Fprint(c.Out, r.copied)
	case r.fields != nil:
		printTable(c.Out, r)
	default:
		_, _ = fmt.Fprintln(c.Out, r.tag)
	}
}

// onPlainTables is the statement over the tables that hold the same rows.
func onPlainTables(sql string) string {
	return strings.NewReplacer("lake.", "plain.", "files.", "plain.").Replace(sql)
}

// describe has psql describe a relation; where there is no psql, it asks the catalog itself.
func (c Config) describe(ctx context.Context, conn *pgconn.PgConn, relation string) error {
	psql, err := exec.LookPath("psql")
	if err != nil {
		r, err := query(ctx, conn, `SELECT attname AS "Column", format_type(atttypid, atttypmod) AS "Type",
       CASE WHEN attnotnull THEN 'not null' ELSE '' END AS "Nullable"
FROM pg_attribute WHERE attrelid = `+quote(relation)+`::regclass AND attnum > 0 ORDER BY attnum`)
		if err != nil {
			return err
		}
		printTable(c.Out, r)
		return nil
	}
	_, _ = fmt.Fprintf(c.Out, "\\d %s\n", relation)
	said, err := exec.CommandContext(ctx, psql, "--no-psqlrc", "--pset=pager=off", "--dbname="+inDatabase(c.ProxyURL), "--command=\\d "+relation).CombinedOutput()
	text := trimLines(string(said))
	_, _ = fmt.Fprintln(c.Out, text)
	if err != nil {
		return fmt.Errorf("psql: %w", err)
	}
	if !strings.Contains(text, "Foreign table") {
		return fmt.Errorf("psql does not see a foreign table")
	}
	return nil
}

// trimLines takes the spaces off the end of each line, which psql pads tables with, and empty lines off the end.
func trimLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
