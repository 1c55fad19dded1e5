package tests

import (
	"fmt"
	"testing"

	"github.com/sluicedb/sluice/internal/mariadbtest"
)

// sqlKeepers is a world whose servers maria, lite and mssql take handles, and the names of the tables there with which they do.
func sqlKeepers(t *testing.T) (w *sqlWorld, kept map[string]string) {
	w = newSQLWorld(t, "CREATE TABLE item (id integer NOT NULL PRIMARY KEY, name varchar(20))", "INSERT INTO item VALUES (1, 'one'), (2, 'two'), (3, NULL)", "CREATE TABLE numbers (a integer, t varchar(20))")
	exec(t, w.through, "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a",
		fmt.Sprintf("ALTER USER MAPPING FOR PUBLIC SERVER maria OPTIONS (SET user '%s', SET password '%s')", mariadbtest.Admin, mariadbtest.AdminPassword),
		"ALTER SERVER maria OPTIONS (ADD handles 'true')", "ALTER SERVER lite OPTIONS (ADD handles 'true')", "ALTER SERVER mssql OPTIONS (ADD handles 'true')",
		"CREATE FOREIGN TABLE mssql.item (id integer NOT NULL, name varchar(20)) SERVER mssql", "CREATE FOREIGN TABLE mssql.kept (name text) SERVER mssql OPTIONS (schema_name 'sys', table_name 'objects')",
		"CREATE FOREIGN TABLE maria.kept (table_schema text, table_name text) SERVER maria OPTIONS (schema_name 'information_schema', table_name 'tables')",
		"CREATE FOREIGN TABLE lite.kept (name text) SERVER lite OPTIONS (table_name 'sqlite_schema')")
	return w, map[string]string{
		"maria": "SELECT count(*) FROM maria.kept WHERE table_schema = '" + w.database + "' AND table_name LIKE 'sluice_handle%'",
		"mssql": "SELECT count(*) FROM mssql.kept WHERE name LIKE 'sluice_handle%'",
		"lite":  "SELECT count(*) FROM lite.kept WHERE name LIKE 'sluice_handle%'",
	}
}

// TestHandlesInSQL makes handles in MariaDB, in SQLite and in what stands in for a SQL Server, and has them go.
func TestHandlesInSQL(t *testing.T) {
	w, kept := sqlKeepers(t)
	conn := connect(t, w.through)
	for server, count := range kept {
		want(t, conn, "SELECT server, row_count, bytes FROM sluice.materialize('SELECT * FROM "+server+".item', server => '"+server+"', name => 'own')", server+"|3|NULL")
		want(t, conn, "SELECT * FROM sluice_handle.own ORDER BY id", "1|one\n2|two\n3|NULL")
		want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT a, now() AS at, 1.5 AS n FROM plain JOIN "+server+".item ON id < a', server => '"+server+"', name => 'joined')", "294")
		want(t, conn, "SELECT count(*), sum(a), max(n), count(*) FILTER (WHERE at <= now()) FROM sluice_handle.joined", "294|15140|1.5|294")
		want(t, conn, count, "2")
		want(t, conn, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE plain', server => '"+server+"', name => 'undone'); SELECT sum(a) FROM sluice_handle.undone WHERE a > 98; ROLLBACK", "BEGIN\n100\n199\nROLLBACK")
		want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT 1/(a-3) AS a FROM plain', server => '"+server+"')", "22012")
		want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT 1 AS a, 2 AS \"A\"', server => '"+server+"')", "42701")
		want(t, conn, "INSERT INTO "+server+".item VALUES (4, 'four')", "0A000")
		becomes(t, conn, count, "2")
		want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "2")
		becomes(t, conn, count, "0")
	}
	want(t, conn, "CREATE SERVER no FOREIGN DATA WRAPPER sluice_sql OPTIONS (driver 'mysql', handles 'true')", "HV00B")
}

// TestHandleRowsStayInSQL has the rows of a handle stay where they are computed, of which the audit says how many bytes came from there.
func TestHandleRowsStayInSQL(t *testing.T) {
	w, _ := sqlKeepers(t)
	wide := "INSERT INTO wide %s SELECT 100 * a.n + b.n, 0.5 * a.n, '1999-12-31', 'some words that are kept' FROM n a CROSS JOIN n b"
	digits := "(SELECT 0 AS i UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	statements := []string{"CREATE TABLE wide (id integer NOT NULL, n decimal(9,2), d date, t text)",
		fmt.Sprintf(wide, "WITH n AS (SELECT 10 * x.i + y.i AS n FROM "+digits+" AS x CROSS JOIN "+digits+" AS y)")}
	if err := w.maria.Do(t.Context(), w.database, statements...); err != nil {
		t.Fatal(err)
	}
	w.lite(t, statements...)
	exec(t, w.server.URL, "CREATE TABLE dbo.wide AS SELECT i AS id, CAST(0.5 * i AS decimal(9,2)) AS n, repeat('some words', 3) AS t FROM generate_series(0, 9999) i")
	exec(t, w.through, "IMPORT FOREIGN SCHEMA "+w.database+" LIMIT TO (wide) FROM SERVER maria INTO maria", "IMPORT FOREIGN SCHEMA main LIMIT TO (wide) FROM SERVER lite INTO lite",
		"IMPORT FOREIGN SCHEMA dbo LIMIT TO (wide) FROM SERVER mssql INTO mssql", "ALTER DATABASE "+w.database+" SET sluice.audit = 'all'")
	conn := connect(t, w.through)
	for _, server := range []string{"maria", "lite", "mssql"} {
		moved := "SELECT rows, bytes = 0 FROM sluice.audit WHERE '" + server + ".wide' = ANY (relation_names) ORDER BY at"
		exec1(t, conn, "CREATE TABLE sluice_handle.stays WITH (sluice.server = '"+server+"') AS SELECT * FROM "+server+".wide WHERE id < 9000")
		becomes(t, conn, moved, "9000|t")
		exec1(t, conn, "CREATE TABLE sluice_handle.crosses WITH (sluice.server = '"+server+"') AS SELECT * FROM "+server+".wide WHERE id % 2 = 0")
		becomes(t, conn, moved, "9000|t\n5000|f")
		for _, asked := range []string{"SELECT count(*), sum(id), sum(n), count(t) FROM %s", "SELECT * FROM %s ORDER BY id OFFSET 100 LIMIT 10"} {
			want(t, conn, fmt.Sprintf(asked, "sluice_handle.stays"), rows(t, conn, fmt.Sprintf(asked, "(SELECT * FROM "+server+".wide WHERE id < 9000) w")))
		}
		exec1(t, conn, "SELECT sluice.drop_handle(handle_id) FROM sluice.ctas_handles")
	}
}

// TestHandleTypesInSQL has values come back from handles there as they went in.
func TestHandleTypesInSQL(t *testing.T) {
	w, _ := sqlKeepers(t)
	conn := connect(t, w.through)
	exec1(t, conn, `CREATE TYPE sluice_mood AS ENUM ('sad', 'ok', 'a ''b"')`)
	for _, server := range []string{"maria", "lite", "mssql"} {
		sameKept(t, conn, server)
		exec1(t, conn, "SELECT sluice.drop_handle(handle_id) FROM sluice.ctas_handles")
	}
}
