package tests

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/sqldb"
	"github.com/sluicedb/sluice/internal/mariadbtest"
	"github.com/sluicedb/sluice/internal/tdstest"
	"github.com/sluicedb/sluice/proxy"
)

// sqlWorld is a database whose tables stand in MariaDB (schema maria), SQLite (schema lite) and what stands in for a SQL Server (schema
// mssql) as well, as foreign ones.
type sqlWorld struct {
	direct, through string
	maria           *mariadbtest.Server
	database, file  string // of MariaDB, and SQLite's
	server          *tdstest.Server
}

// newSQLWorld runs statements that all three understand in each, and imports what they make.
func newSQLWorld(t *testing.T, statements ...string) *sqlWorld {
	t.Helper()
	w := &sqlWorld{maria: mariadbtest.Start(t), file: filepath.Join(t.TempDir(), "lite.db")}
	home := hometest.Start(t)
	w.direct = hometest.Database(t, home)
	u, err := url.Parse(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	w.database = strings.TrimPrefix(u.Path, "/")
	config, err := pgconn.ParseConfig(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, sqldb.Wrapper{}, sqldb.SQLServer{}}, Federation: federation()})
	w.through = proxyURL(addr, w.database)
	ctx := context.Background()
	if err := w.maria.Do(ctx, "", "CREATE DATABASE "+w.database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.maria.Do(ctx, "", "DROP DATABASE "+w.database) })
	if err := w.maria.Do(ctx, w.database, statements...); err != nil {
		t.Fatal(err)
	}
	w.lite(t, statements...)
	exec(t, w.direct, statements...)
	w.server = tdstest.Start(t, hometest.Database(t, home))
	exec(t, w.server.URL, append([]string{"SET search_path = dbo"}, statements...)...)
	exec(t, w.server.URL, "ALTER TABLE dbo.numbers ALTER t TYPE varchar(20) COLLATE dbo.folding")
	exec(t, w.through, "CREATE EXTENSION sluice", "CREATE SCHEMA maria", "CREATE SCHEMA lite", "CREATE SCHEMA mssql",
		fmt.Sprintf("CREATE SERVER maria FOREIGN DATA WRAPPER sluice_sql OPTIONS (driver 'mysql', host '127.0.0.1', port '%d', database '%s')", w.maria.Port, w.database),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER maria OPTIONS (user '%s', password '%s')", mariadbtest.Reader, mariadbtest.ReaderPassword),
		fmt.Sprintf("CREATE SERVER lite FOREIGN DATA WRAPPER sluice_sql OPTIONS (driver 'sqlite', file '%s')", w.file),
		fmt.Sprintf("CREATE SERVER mssql FOREIGN DATA WRAPPER sluice_mssql OPTIONS (host '127.0.0.1', port '%d', database 'sales', sslmode 'disable')", w.server.Port),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER mssql OPTIONS (user '%s', password '%s')", tdstest.User, strings.ReplaceAll(tdstest.Password, "'", "''")),
		"IMPORT FOREIGN SCHEMA dbo LIMIT TO (numbers) FROM SERVER mssql INTO mssql",
		fmt.Sprintf("IMPORT FOREIGN SCHEMA %s FROM SERVER maria INTO maria", w.database), "IMPORT FOREIGN SCHEMA main FROM SERVER lite INTO lite")
	return w
}

// lite runs statements in the SQLite file.
func (w *sqlWorld) lite(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", w.file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// twinRows is a table that all three make alike.
var twinRows = []string{
	`CREATE TABLE numbers (id integer NOT NULL PRIMARY KEY, a integer, s smallint, b bigint, t varchar(20), n decimal(20,3), d date)`,
	`INSERT INTO numbers VALUES
 (1, 5, 7, 9223372036854775807, 'one', 1.5, '2024-02-29'), (2, NULL, -32768, -9223372036854775808, 'ONE', -0.001, '0001-01-01'),
 (3, -5, 32767, 9007199254740993, 'one ', NULL, '9999-12-31'), (4, 2147483647, NULL, 9007199254740992, NULL, 123456789.125, NULL),
 (5, -2147483648, 0, NULL, '', 0, '1970-01-01'), (6, 5, 7, 0, 'é', 12, '2000-01-01')`,
}

var remoteLine = regexp.MustCompile(`(?m)^\s*(?:Remote SQL|Route|Sluice[^:]*): .*$`)

// TestSQL compares answers over MariaDB, SQLite and what stands in for a SQL Server with those over a plain table, and shows what was shipped.
func TestSQL(t *testing.T) {
	w := newSQLWorld(t, twinRows...)
	exec(t, w.through, "ALTER FOREIGN TABLE lite.numbers ALTER id TYPE integer, ALTER a TYPE integer, ALTER s TYPE smallint") // SQLite has one type of integers
	plain := connect(t, w.direct)
	sides := map[string]*pgx.Conn{}
	for _, schema := range []string{"maria", "lite", "mssql"} {
		sides[schema] = connect(t, w.through)
		rows(t, sides[schema], "SET search_path = "+schema)
	}
	datadriven.RunTest(t, "testdata/sqldb", func(t *testing.T, d *datadriven.TestData) string {
		var params []any
		for _, a := range d.CmdArgs {
			params = append(params, paramOf(a.Key))
		}
		answer := answerOf(t, plain, d.Input, params)
		out := answer + "\n"
		for _, schema := range []string{"maria", "lite", "mssql"} {
			for _, route := range []string{"", "home_join"} {
				rows(t, sides[schema], "SET sluice.route = '"+route+"'")
				if got := answerOf(t, sides[schema], d.Input, params); got != answer {
					t.Errorf("%s\n%s %s: %s\nplain: %s", d.Input, schema, route, got, answer)
				}
			}
			rows(t, sides[schema], "RESET sluice.route")
			if params == nil {
				out += schema + strings.ReplaceAll(strings.Join(remoteLine.FindAllString(rows(t, sides[schema], "EXPLAIN (VERBOSE) "+d.Input), -1), "\n"), w.database, "DB") + "\n"
			}
		}
		return out
	})
}

func paramOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if text == "NULL" {
		return nil
	}
	return text
}

// answerOf returns the rows of a statement, sorted where it does not say how, or the SQLSTATE.
func answerOf(t *testing.T, conn *pgx.Conn, sql string, params []any) string {
	t.Helper()
	var list []string
	if params == nil {
		list = strings.Split(rows(t, conn, sql), "\n")
	} else {
		found, err := conn.Query(timed(t), sql, params...)
		if err != nil {
			return sqlState(err)
		}
		all, err := pgx.CollectRows(found, func(r pgx.CollectableRow) (string, error) {
			values, err := r.Values()
			return fmt.Sprint(values...), err
		})
		if err != nil {
			return sqlState(err)
		}
		list = all
	}
	if !strings.Contains(sql, "ORDER BY") {
		slices.Sort(list)
	}
	return strings.Join(list, "\n")
}

// TestSQLJoins joins tables of both with each other and with home's.
func TestSQLJoins(t *testing.T) {
	w := newSQLWorld(t, twinRows...)
	exec(t, w.through, "ALTER FOREIGN TABLE lite.numbers ALTER id TYPE integer, ALTER a TYPE integer, ALTER s TYPE smallint")
	plain, conn := connect(t, w.direct), connect(t, w.through)
	for _, sql := range []string{
		"SELECT m.id, l.id, m.t, l.n FROM M m JOIN L l ON m.a = l.a ORDER BY 1, 2",
		"SELECT m.id, l.id FROM M m JOIN L l ON m.t = l.t AND m.d = l.d ORDER BY 1, 2",
		"SELECT m.b, sum(l.n), count(h.t) FROM M m LEFT JOIN L l USING (id) JOIN public.numbers h ON h.s = m.s WHERE m.a > -6 GROUP BY m.b ORDER BY 1",
	} {
		answer := rows(t, plain, strings.NewReplacer(" M ", " numbers ", " L ", " numbers ").Replace(sql))
		for _, route := range []string{"", "federated", "home_join"} {
			rows(t, conn, "SET sluice.route = '"+route+"'")
			want(t, conn, strings.NewReplacer(" M ", " maria.numbers ", " L ", " lite.numbers ").Replace(sql), answer)
		}
	}
}

// TestSQLGoverned reads through row filters and masks, also where these are not proven to mean the same there.
func TestSQLGoverned(t *testing.T) {
	w := newSQLWorld(t, twinRows...)
	exec(t, w.direct, "DROP ROLE IF EXISTS sql_reader", "CREATE ROLE sql_reader LOGIN")
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY sql_reader CASCADE", "DROP ROLE sql_reader")
	})
	for _, schema := range []string{"maria", "lite", "mssql"} {
		exec(t, w.through, "GRANT USAGE ON SCHEMA "+schema+" TO sql_reader", "GRANT SELECT ON "+schema+".numbers TO sql_reader",
			"ALTER FOREIGN TABLE "+schema+".numbers ENABLE ROW LEVEL SECURITY", "CREATE POLICY few ON "+schema+".numbers TO sql_reader USING (a = 5 AND id IS NOT NULL)",
			"SECURITY LABEL FOR sluice ON COLUMN "+schema+".numbers.t IS 'MASKED WITH VALUE NULL'", "SECURITY LABEL FOR sluice ON COLUMN "+schema+".numbers.s IS 'MASKED WITH VALUE 1'")
	}
	conn := connect(t, w.through)
	rows(t, conn, "SET ROLE sql_reader")
	for _, schema := range []string{"maria", "lite", "mssql"} {
		for _, route := range []string{"", "home_join"} {
			rows(t, conn, "SET sluice.route = '"+route+"'")
			want(t, conn, "SELECT id, a, t, s FROM "+schema+".numbers ORDER BY id", "1|5|NULL|1\n6|5|NULL|1")
			want(t, conn, "SELECT count(*), count(t), max(id) FROM "+schema+".numbers WHERE a <> 6", "2|0|6")
			want(t, conn, "SELECT id FROM "+schema+".numbers WHERE s = 7", "SELECT 0")
			want(t, conn, "SELECT id FROM "+schema+".numbers WHERE t = 'one' OR id = 3 OR a = -5", "SELECT 0")
		}
	}
	for _, schema := range []string{"maria", "lite", "mssql"} { // what is not proven to mean the same there is evaluated in the proxy
		exec(t, w.through, "CREATE POLICY more ON "+schema+".numbers TO sql_reader USING (t = 'ONE')", "SECURITY LABEL FOR sluice ON COLUMN "+schema+".numbers.t IS 'MASKED WITH FUNCTION sluice.mask_partial(t, 1, ''*'', 1)'")
		rows(t, conn, "RESET sluice.route")
		for sql, answer := range map[string]string{
			"SELECT id, a, t, s FROM %s.numbers ORDER BY id":                                    "1|5|o*e|1\n2|NULL|O*E|1\n6|5|*|1",
			"SELECT count(*) FROM %s.numbers WHERE s = 7 OR t = 'one' OR t = 'ONE'":             "0",
			"SELECT max(id) FROM %s.numbers WHERE a = 5 OR id = 3":                              "6",
			"SELECT x.id, y.t FROM %[1]s.numbers x JOIN %[1]s.numbers y USING (id) ORDER BY id": "1|o*e\n2|O*E\n6|*",
		} {
			want(t, conn, fmt.Sprintf(sql, schema), answer)
		}
	}
}
