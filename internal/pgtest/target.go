package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Target is a server that scripts run against.
type Target struct {
	Name     string
	Addr     string // host:port that frontends connect to
	Home     string // URL of the Postgres behind it, as a superuser and not through the target
	Template string // the database that each script's own is a copy of; empty for the cluster's default
	// Foreign makes the relations of a table command in a database of the target; nil makes plain tables at home.
	Foreign func(ctx context.Context, database string, tables []Table) error
}

// Table is one relation of a table command.
type Table struct {
	Name    string
	Columns string   // as in CREATE TABLE, without constraints
	Rows    []string // each "(…)" as in VALUES
}

var databases atomic.Uint32

// database makes an empty database for one script, which is dropped when the test ends.
func (target Target) database(t testing.TB, ctx context.Context) string {
	name := fmt.Sprintf("pgtest_%d", databases.Add(1))
	create := "CREATE DATABASE " + name
	if target.Template != "" {
		create += " TEMPLATE " + target.Template
	}
	drop := "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"
	// The machine's time zone and locale are not part of any answer.
	err := target.admin(ctx, drop, create, "ALTER DATABASE "+name+" SET timezone = 'UTC'", "ALTER DATABASE "+name+" SET lc_messages = 'C'")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.admin(context.WithoutCancel(ctx), drop); err != nil {
			t.Error(err)
		}
	})
	return name
}

// admin runs statements at home on a connection of their own.
func (target Target) admin(ctx context.Context, statements ...string) error {
	admin, err := pgx.Connect(ctx, target.Home)
	if err != nil {
		return fmt.Errorf("connect to home: %w", err)
	}
	for _, sql := range statements {
		if _, err = admin.Exec(ctx, sql); err != nil {
			err = fmt.Errorf("%s: %w", sql, err)
			break
		}
	}
	return errors.Join(err, admin.Close(ctx))
}

// connectHome connects to a database of home, not through the target.
func (target Target) connectHome(ctx context.Context, database string) (*pgx.Conn, error) {
	u, err := url.Parse(target.Home)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + database
	return pgx.Connect(ctx, u.String())
}

// connect connects to a database through the target, with a driver.
func (target Target) connect(ctx context.Context, database string) (*pgconn.PgConn, error) {
	return pgconn.Connect(ctx, fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", target.Addr, database))
}

// parseTables reads the input of a table command: a line "name (columns)" followed by lines "(values)".
func parseTables(input string) ([]Table, error) {
	var tables []Table
	for _, line := range strings.Split(input, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "("):
			if len(tables) == 0 {
				return nil, fmt.Errorf("a row before any table: %s", line)
			}
			last := &tables[len(tables)-1]
			last.Rows = append(last.Rows, line)
		default:
			name, columns, ok := strings.Cut(line, "(")
			if !ok || !strings.HasSuffix(columns, ")") {
				return nil, fmt.Errorf("want name (columns): %s", line)
			}
			tables = append(tables, Table{Name: strings.TrimSpace(name), Columns: strings.TrimSuffix(columns, ")")})
		}
	}
	return tables, nil
}

// Create returns statements that make the table at home with its rows.
func (tb Table) Create() string {
	sql := fmt.Sprintf("CREATE TABLE %s (%s);", tb.Name, tb.Columns)
	if len(tb.Rows) > 0 {
		sql += fmt.Sprintf(" INSERT INTO %s VALUES %s;", tb.Name, strings.Join(tb.Rows, ", "))
	}
	return sql
}
