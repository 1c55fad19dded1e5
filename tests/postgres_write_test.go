package tests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// remoteTables makes a database behind a proxy that reads another one, in which the statements were run.
func remoteTables(t *testing.T, options string, statements ...string) (through *pgx.Conn, home, other string) {
	cluster := hometest.Start(t)
	home, other = hometest.Database(t, cluster), hometest.Database(t, cluster)
	exec(t, other, statements...)
	url := postgresProxy(t, home)
	exec(t, url, append(otherServer(t, other, options), "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public")...)
	return connected(t, url), home, other
}

func connected(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// says runs a statement in the simple protocol and returns its rows and tag, or its error.
func says(t *testing.T, c *pgx.Conn, sql string) string {
	t.Helper()
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code + " " + pe.Message
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var parts []string
	for _, r := range results {
		for _, row := range r.Rows {
			values := make([]string, len(row))
			for i, v := range row {
				if values[i] = "NULL"; v != nil {
					values[i] = string(v)
				}
			}
			parts = append(parts, strings.Join(values, "|"))
		}
		parts = append(parts, r.CommandTag.String())
	}
	return strings.Join(parts, "; ")
}

func TestPostgresWrites(t *testing.T) {
	c, _, other := remoteTables(t, ", updatable 'true'",
		"CREATE TABLE t (id int PRIMARY KEY, name text, v numeric(6,2), at timestamptz, g int GENERATED ALWAYS AS (id * 2) STORED)")
	direct := connected(t, other)
	for _, step := range []struct{ sql, want string }{
		{"INSERT INTO t VALUES (1, 'a', 1.5, '2024-01-01 00:00+00'), (2, NULL, NULL, NULL), (3, E'x\\\\y\\n', -2.255, '2024-06-01') RETURNING id, v, g",
			"1|1.50|2; 2|NULL|4; 3|-2.26|6; INSERT 0 3"},
		{"SELECT id, name, v, g FROM t ORDER BY id", "1|a|1.50|2; 2|NULL|NULL|4; 3|x\\y\n|-2.26|6; SELECT 3"},
		{"UPDATE t SET v = v + 1, name = upper(name) WHERE id <> 2", "UPDATE 2"},
		{"SELECT v FROM t ORDER BY id", "2.50; NULL; -1.26; SELECT 3"},
		{"DELETE FROM t USING (VALUES (2)) x (i) WHERE id = i RETURNING name, id", "NULL|2; DELETE 1"},
		{"INSERT INTO t (id) SELECT 100 + g FROM generate_series(1, 2000) g", "INSERT 0 2000"},
		{"SELECT count(*), sum(id) FROM t", "2002|2201004; SELECT 1"},
		{"INSERT INTO t (id) VALUES (1)", `23505 duplicate key value violates unique constraint "t_pkey"`},
		{"INSERT INTO t (id) VALUES (1), (60), (60) ON CONFLICT DO NOTHING", "INSERT 0 1"},
		{"INSERT INTO t (id) VALUES (1), (61) ON CONFLICT DO NOTHING RETURNING id", `0A000 cannot return rows of foreign table "t": server "other" has skipped some, and does not say which`},
		{"INSERT INTO t (id) VALUES (61) ON CONFLICT DO NOTHING RETURNING id", "61; INSERT 0 1"},
		{"DELETE FROM t WHERE id > 100", "DELETE 2000"},
	} {
		if got := says(t, c, step.sql); got != step.want {
			t.Errorf("%s\n got %q\nwant %q", step.sql, got, step.want)
		}
	}
	for _, step := range []struct {
		c         *pgx.Conn
		sql, want string
	}{
		{c, "BEGIN", "BEGIN"},
		{c, "UPDATE t SET name = 'mine' WHERE id = 1", "UPDATE 1"},
		{c, "SELECT name FROM t WHERE id = 1", "mine; SELECT 1"},
		{direct, "SELECT name FROM t WHERE id = 1", "A; SELECT 1"},
		{c, "ROLLBACK", "ROLLBACK"},
		{direct, "SELECT name FROM t WHERE id = 1", "A; SELECT 1"},
		{c, "BEGIN", "BEGIN"},
		{c, "INSERT INTO t (id) VALUES (50)", "INSERT 0 1"},
		{c, "COMMIT", "COMMIT"},
		{direct, "SELECT id, g FROM t WHERE id = 50", "50|100; SELECT 1"},
		{c, "TRUNCATE t", "TRUNCATE TABLE"},
		{direct, "SELECT count(*) FROM t", "0; SELECT 1"},
	} {
		if got := says(t, step.c, step.sql); got != step.want {
			t.Errorf("%s: got %q, want %q", step.sql, got, step.want)
		}
	}
}

// TestPostgresImportDefaults imports defaults, of which home does not understand some, a column that is computed, and a view that takes
// no rows (L-04, L-12).
func TestPostgresImportDefaults(t *testing.T) {
	first, home, _ := remoteTables(t, ", updatable 'true'", "CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 7'", "CREATE SEQUENCE sq",
		`CREATE TABLE defs (a int, d text DEFAULT 'd\', e int DEFAULT own(), s int DEFAULT nextval('sq'), g int GENERATED ALWAYS AS (a + 1) STORED)`,
		"CREATE VIEW sums AS SELECT sum(a) AS a FROM defs")
	config := first.Config().Copy()
	var warned []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { warned = append(warned, n.Severity+" "+n.Message) }
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	exec(t, home, "CREATE SCHEMA kept")
	for _, step := range []struct{ sql, want string }{
		{"INSERT INTO defs (a) VALUES (1) RETURNING *", "1|NULL|NULL|NULL|2; INSERT 0 1"},
		{"IMPORT FOREIGN SCHEMA public LIMIT TO (defs) FROM SERVER other INTO kept OPTIONS (import_default 'true')", "IMPORT FOREIGN SCHEMA"},
		{"INSERT INTO kept.defs (a) VALUES (1) RETURNING *", `1|d\|NULL|NULL|2; INSERT 0 1`},
		{"INSERT INTO kept.defs (a, g) VALUES (1, 5)", `428C9 cannot insert a non-DEFAULT value into column "g"`},
		{"SELECT a FROM sums", "2; SELECT 1"},
		{"INSERT INTO sums VALUES (1)", `55000 cannot insert into view "sums"`},
	} {
		if got := says(t, c, step.sql); got != step.want {
			t.Errorf("%s\n got %q\nwant %q", step.sql, got, step.want)
		}
	}
	if want := []string{`WARNING column "e" of table "defs" was left without its default: function public.own() does not exist`,
		`WARNING column "s" of table "defs" was left without its default: relation "public.sq" does not exist`}; !slices.Equal(warned, want) {
		t.Errorf("got %q", warned)
	}
}

func TestPostgresReadOnly(t *testing.T) {
	c, _, _ := remoteTables(t, "", "CREATE TABLE t (id int)")
	if got, want := says(t, c, "INSERT INTO t VALUES (1)"), `0A000 server "other" is read-only`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A role is logged in to the other server as its user mapping says, and the definition of a view is read as its owner.
func TestPostgresMappings(t *testing.T) {
	cluster := hometest.Start(t)
	home, other := hometest.Database(t, cluster), hometest.Database(t, cluster)
	name := func(role string) string { return fmt.Sprintf("mapped_%s_%d", role, os.Getpid()) }
	reader, owner, stranger, remote := name("reader"), name("owner"), name("stranger"), name("remote")
	for _, r := range []string{reader, owner, stranger, remote} {
		exec(t, home, "CREATE ROLE "+r+" LOGIN PASSWORD 'pw'")
		t.Cleanup(func() { exec(t, cluster.URL("postgres"), "DROP ROLE "+r) })
	}
	exec(t, other, "CREATE TABLE t (id int)", "INSERT INTO t VALUES (1)", "CREATE VIEW who AS SELECT current_user::text AS who", "GRANT SELECT ON t, who TO PUBLIC")
	t.Cleanup(func() { exec(t, home, "DROP OWNED BY "+strings.Join([]string{reader, owner, stranger}, ", ")) })
	url := postgresProxy(t, home)
	exec(t, url, append(otherServer(t, other, ""),
		"IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public",
		"CREATE USER MAPPING FOR "+owner+" SERVER other OPTIONS (user '"+remote+"', password_required 'false')", "ALTER ROLE "+owner+" SUPERUSER",
		"GRANT SELECT ON t, who TO "+owner, "GRANT SELECT ON who TO "+reader, "GRANT CREATE ON SCHEMA public TO "+owner,
		"CREATE USER MAPPING FOR "+stranger+" SERVER other OPTIONS (user 'postgres', password_required 'false')", "GRANT SELECT ON who TO "+stranger,
		"SET ROLE "+owner, "CREATE VIEW owned AS SELECT who FROM who", "GRANT SELECT ON owned TO "+reader, "RESET ROLE")...)
	c := connected(t, url)
	for _, step := range []struct{ sql, want string }{
		{"SELECT who FROM who", "postgres; SELECT 1"},
		{"SET ROLE " + owner + "; SELECT who FROM who", "" + remote + "; SELECT 1"},
		{"SET ROLE " + reader + "; SELECT who FROM who", "postgres; SELECT 1"},
		{"SET ROLE " + reader + "; SELECT who FROM owned", "" + remote + "; SELECT 1"},
		{"SET ROLE " + reader + "; SELECT id FROM t", "42501 permission denied for foreign table t"},
		{"SET ROLE " + stranger + "; SELECT who FROM who", "2F003 password or sslcert is required"},
		{"RESET ROLE; DROP USER MAPPING FOR PUBLIC SERVER other; SELECT who FROM who", `42704 user mapping not found for user "postgres", server "other"`},
	} {
		got := ""
		for _, sql := range strings.SplitAfter(step.sql, "; ") {
			if got != "" {
				got += "; "
			}
			got += says(t, c, sql)
		}
		if !strings.HasSuffix(got, step.want) {
			t.Errorf("%s\n got %q\nwant %q", step.sql, got, step.want)
		}
	}
}

// Types and functions of one's own are read at home, whatever the other server makes of them, and so are those of extensions.
func TestPostgresOwnTypes(t *testing.T) {
	types := []string{
		"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')", "CREATE DOMAIN small AS int CHECK (VALUE < 100)", "CREATE TYPE pair AS (a int, b text)",
	}
	cluster := hometest.Start(t)
	home, other := hometest.Database(t, cluster), hometest.Database(t, cluster)
	exec(t, home, append(types, "CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'")...)
	exec(t, other, append(types, "CREATE TABLE t (id int, m mood, s small, p pair, ms mood[], x xml, c money)",
		`INSERT INTO t VALUES (1, 'happy', 7, (1, E'a "b"\t'), '{ok,NULL}', '<a/>', 12.5), (2, 'sad', NULL, NULL, NULL, NULL, NULL), (3, 'ok', 99, (NULL, ''), '{}', 'x', -1)`)...)
	url := postgresProxy(t, home)
	exec(t, url, append(otherServer(t, other, ""), "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public")...)
	c := connected(t, url)
	for _, before := range []string{"RESET default_transaction_read_only", "SET default_transaction_read_only = on"} {
		says(t, c, before)
		for _, step := range []struct{ sql, want string }{
			{"SELECT id, m, s, p, ms, c FROM t ORDER BY m", `2|sad|NULL|NULL|NULL|NULL; 3|ok|99|(,"")|{}|-$1.00; 1|happy|7|(1,"a ""b""	")|{ok,NULL}|$12.50; SELECT 3`},
			{"SELECT id FROM t WHERE m > 'sad' AND s < 50", "1; SELECT 1"},
			{"SELECT (p).b IS NULL, x IS NULL FROM t WHERE id = 2", "t|t; SELECT 1"},
			{"SELECT twice(id) FROM t WHERE twice(id) > 3 AND id < 3", "4; SELECT 1"},
			{"SELECT id FROM t WHERE id IN (1, 3) ORDER BY id DESC", "3; 1; SELECT 2"},
		} {
			if got := says(t, c, step.sql); got != step.want {
				t.Errorf("%s: %s\n got %q\nwant %q", before, step.sql, got, step.want)
			}
		}
	}
}
