package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// limited lets a new connection of a role have settings that are made for the role in the world's database.
func (w *world) limited(t *testing.T, role string, settings ...string) *pgx.Conn {
	t.Helper()
	exec(t, w.direct, "ALTER ROLE "+role+" IN DATABASE "+w.database+" RESET ALL")
	for _, s := range settings {
		exec(t, w.direct, "ALTER ROLE "+role+" IN DATABASE "+w.database+" SET "+s)
	}
	return connect(t, w.as(role))
}

// limitedStatements yield as many rows as $n says, on each route and by each door.
var limitedStatements = []string{
	"SELECT id FROM big WHERE id < $n",
	"SELECT twice(id) FROM big WHERE id < $n",
	"SELECT b.id FROM big b JOIN sluice_home h ON h.id = b.id WHERE b.id < $n",
	"COPY (SELECT id FROM big WHERE id < $n) TO STDOUT",
	"COPY (SELECT twice(id) FROM big WHERE id < $n) TO STDOUT",
	"COPY (SELECT twice(id) FROM big WHERE id < $n) TO STDOUT (FORMAT csv, HEADER)",
	"COPY (SELECT id FROM big WHERE id < $n) TO STDOUT (FORMAT binary)",
	"CREATE TEMP TABLE taken AS SELECT id FROM big WHERE id < $n",
	"SELECT id INTO TEMP taken FROM big WHERE id < $n",
	"INSERT INTO sink SELECT id FROM big WHERE id < $n",
	"DECLARE c CURSOR FOR SELECT id FROM big WHERE id < $n",
	"UPDATE sink SET id = 0 FROM big WHERE big.id < $n",
}

// TestLimitOfRows lets through as many rows as the limit says, and ends what would yield more by an error that names it.
func TestLimitOfRows(t *testing.T) {
	w := auditWorld(t, "lim_rows")
	exec(t, w.direct, "CREATE TABLE sluice_home AS SELECT generate_series(0, 4999) AS id", "GRANT SELECT ON sluice_home TO lim_rows")
	conn := w.limited(t, "lim_rows", "sluice.max_rows = 700")
	for _, sql := range limitedStatements {
		for _, door := range []string{"simple", "extended"} {
			for n, code := range map[int]string{700: "", 701: "54000", 4999: "54000"} {
				want(t, conn, "BEGIN", "BEGIN")
				sql := strings.ReplaceAll(sql, "$n", fmt.Sprint(n))
				var err error
				if door == "simple" {
					_, err = conn.PgConn().Exec(timed(t), sql).ReadAll()
				} else {
					err = conn.PgConn().ExecParams(timed(t), sql, nil, nil, nil, nil).Read().Err
				}
				if sqlState(err) != code || code != "" && !strings.Contains(pgError(err).Message, "sluice.max_rows is 700") {
					t.Errorf("%s: %s: %v, want %q", door, sql, err, code)
				}
				want(t, conn, "ROLLBACK", "ROLLBACK")
			}
		}
	}
	want(t, conn, "SELECT count(*) FROM big", "5000")
	want(t, conn, "SELECT count(*) FROM (SELECT twice(id) FROM big) x", "5000")
	want(t, connect(t, w.through), "SELECT count(*) FROM (SELECT id FROM big OFFSET 0) x", "5000")
}

// TestLimitRowsReach gives a client each row up to the limit before the error.
func TestLimitRowsReach(t *testing.T) {
	w := auditWorld(t, "lim_reach")
	conn := w.limited(t, "lim_reach", "sluice.max_rows = 3")
	for _, sql := range []string{"SELECT id FROM big ORDER BY id", "SELECT twice(id) / 2 FROM big ORDER BY id"} {
		r := conn.PgConn().ExecParams(timed(t), sql, nil, nil, nil, nil)
		var got []string
		for r.NextRow() {
			got = append(got, string(r.Values()[0]))
		}
		if _, err := r.Close(); strings.Join(got, " ") != "0 1 2" || sqlState(err) != "54000" {
			t.Errorf("%s: %v, then %v", sql, got, err)
		}
	}
	want(t, conn, "BEGIN", "BEGIN")
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT id FROM big ORDER BY id"})
	front.Send(&pgproto3.Bind{DestinationPortal: "p"})
	for range 3 {
		front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 2})
	}
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	told := ""
	for ready := false; !ready; {
		m, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			told += string(m.Values[0]) + " "
		case *pgproto3.PortalSuspended:
			told += "more "
		case *pgproto3.ErrorResponse:
			told += m.Code
		case *pgproto3.ReadyForQuery:
			ready = true
		}
	}
	if told != "0 1 more 2 54000" {
		t.Errorf("the Executes of a portal gave %s", told)
	}
}

// TestLimitTruncates ends results with a warning where the role's settings say so, and never what is kept.
func TestLimitTruncates(t *testing.T) {
	w := auditWorld(t, "lim_cut")
	conn := w.limited(t, "lim_cut", "sluice.max_rows = 3", "sluice.on_limit = truncate")
	for sql, answer := range map[string]string{
		"SELECT id FROM big ORDER BY id": "0\n1\n2", "SELECT twice(id) FROM big ORDER BY id": "0\n2\n4", "SELECT id FROM big WHERE id < 3 ORDER BY id": "0\n1\n2",
		"CREATE TEMP TABLE taken AS SELECT id FROM big": "54000", "INSERT INTO sink SELECT id FROM big": "54000",
		"COPY (SELECT id FROM big ORDER BY id) TO STDOUT": "COPY 3", "COPY (SELECT twice(id) FROM big ORDER BY id) TO STDOUT (FORMAT csv, HEADER)": "COPY 3",
		"COPY (SELECT id FROM big ORDER BY id) TO STDOUT (FORMAT binary)": "COPY 3", "COPY (SELECT twice(id) FROM big ORDER BY id) TO STDOUT (FORMAT binary)": "COPY 3",
	} {
		want(t, conn, sql, answer)
	}
	want(t, conn, "SELECT 1", "1")
	var warned []string
	for _, sql := range []string{"SELECT id FROM big", "SELECT id FROM people WHERE id < 4"} {
		front := conn.PgConn().Frontend()
		front.Send(&pgproto3.Query{String: sql})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		warnings := 0
		for ready := false; !ready; {
			m, err := front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			switch m := m.(type) {
			case *pgproto3.NoticeResponse:
				if m.Severity == "WARNING" && strings.Contains(m.Message, "sluice.max_rows is 3") {
					warnings++
				}
			case *pgproto3.ReadyForQuery:
				ready = true
			}
		}
		warned = append(warned, fmt.Sprint(warnings))
	}
	if got := strings.Join(warned, " "); got != "1 0" {
		t.Errorf("warnings: %s, want 1 0", got)
	}
	conn = w.limited(t, "lim_cut", "sluice.max_bytes = 1", "sluice.on_limit = truncate")
	want(t, conn, "COPY (SELECT id FROM big) TO STDOUT (FORMAT binary)", "COPY 0")
	want(t, conn, "SELECT id FROM big", "SELECT 0")
}

// TestLimitOfBytes counts the messages that carry rows.
func TestLimitOfBytes(t *testing.T) {
	w := auditWorld(t, "lim_bytes")
	const row = 5 + 2 + 4 + 4 // header, columns, length, four digits
	conn := w.limited(t, "lim_bytes", fmt.Sprintf("sluice.max_bytes = '%d B'", 100*row))
	for _, column := range []string{"id", "twice(id) / 2"} {
		want(t, conn, "SELECT count(*) FROM big", "5000")
		if got := rows(t, conn, "SELECT "+column+" FROM big WHERE id BETWEEN 1000 AND 1099"); strings.Count(got, "\n") != 99 {
			t.Errorf("100 rows: %s", got)
		}
		want(t, conn, "SELECT "+column+" FROM big WHERE id BETWEEN 1000 AND 1100", "54000")
	}
	want(t, conn, "CREATE TEMP TABLE taken AS SELECT note FROM big", "54000")
	conn = w.limited(t, "lim_bytes", "sluice.max_bytes = '1 parsec'")
	want(t, conn, "SELECT id FROM big", "22023")
}

// TestLimitOfCursors holds for all that a cursor gives, FETCH of a portal included.
func TestLimitOfCursors(t *testing.T) {
	w := auditWorld(t, "lim_cursor")
	conn := w.limited(t, "lim_cursor", "sluice.max_rows = 3")
	want(t, conn, "BEGIN; DECLARE c CURSOR FOR SELECT id FROM big", "54000")
	want(t, conn, "ROLLBACK; BEGIN; DECLARE c CURSOR FOR SELECT id FROM big WHERE id < 3; FETCH ALL FROM c; COMMIT", "ROLLBACK\nBEGIN\nDECLARE CURSOR\n0\n1\n2\nCOMMIT")
	want(t, conn, "BEGIN", "BEGIN")
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT id FROM big ORDER BY id"})
	front.Send(&pgproto3.Bind{DestinationPortal: "p"})
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	readToReady(t, front)
	want(t, conn, "FETCH 2 FROM p", "0\n1")
	want(t, conn, "FETCH 2 FROM p", "54000")
	want(t, conn, "ROLLBACK", "ROLLBACK")
	if got := audited(t, connect(t, w.direct), "outcome, rows", 3); strings.Join(got[1:], " ") != "ok|3 failed|3" {
		t.Errorf("the audit has %s", got)
	}
}

// TestLimitOfTime ends a statement that holds engines for longer than its budget, over all Executes.
func TestLimitOfTime(t *testing.T) {
	w := auditWorld(t, "lim_time")
	conn := w.limited(t, "lim_time", "sluice.statement_budget = '300ms'")
	for _, sql := range []string{"SELECT count(*) FROM forever WHERE i % 7 = 3", "SELECT i FROM forever", "SELECT sum(twice(i::int)) FROM forever WHERE i % 7 = 3", "INSERT INTO sink SELECT i FROM forever"} {
		if err := drain(timed(t), conn, sql); sqlState(err) != "54000" || !strings.Contains(pgError(err).Message, "sluice.statement_budget is 300ms") {
			t.Errorf("%s ended with %v", sql, err)
		}
	}
	want(t, conn, "SELECT count(*) FROM people", "4")
}

// TestLimitsAreTheLeast lets nobody raise what is set for a role of his.
func TestLimitsAreTheLeast(t *testing.T) {
	w := auditWorld(t, "lim_least")
	exec(t, w.direct, "DROP ROLE IF EXISTS lim_other", "CREATE ROLE lim_other", "GRANT lim_other TO lim_least", "GRANT SELECT ON big TO lim_other")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY lim_other", "DROP ROLE lim_other") })
	exec(t, w.direct, "ALTER DATABASE "+w.database+" SET sluice.max_rows = 2", "ALTER ROLE lim_other IN DATABASE "+w.database+" SET sluice.max_rows = 5")
	conn := w.limited(t, "lim_least", "sluice.max_rows = 10")
	const query = "SELECT id FROM big WHERE id < "
	holds := func(n int) {
		t.Helper()
		if got := rows(t, conn, query+fmt.Sprint(n)); strings.Count(got, "\n") != n-1 {
			t.Errorf("%d rows: %s", n, got)
		}
		want(t, conn, query+fmt.Sprint(n+1), "54000")
	}
	holds(10)
	for _, sql := range []string{"SET sluice.max_rows = 100", "SET sluice.max_rows = 0", "RESET sluice.max_rows", "SET sluice.max_rows = ''", "SET sluice.on_limit = truncate"} {
		want(t, conn, sql, sql[:strings.Index(sql, " ")])
		holds(10)
	}
	want(t, conn, "ALTER ROLE lim_least IN DATABASE "+w.database+" SET sluice.max_rows = 100", "42501")
	want(t, conn, "SET sluice.max_rows = 4", "SET")
	holds(4)
	want(t, conn, "RESET sluice.max_rows; SET ROLE lim_other", "RESET\nSET")
	holds(5)
	want(t, conn, "RESET ROLE", "RESET")
	holds(10)
	want(t, connect(t, w.through), query+"3", "54000")
	want(t, conn, "SET sluice.max_rows = '-1'; SELECT id FROM big", "22023")
}

// TestLimitsOfEngines holds and counts what each engine yields, in its own form of batches.
func TestLimitsOfEngines(t *testing.T) {
	onBothEngines(t, map[string]string{"few": "SELECT i AS id, i + 0.5 AS half FROM generate_series(1, 3000) g(i)"}, compareLimits)
}

func compareLimits(t *testing.T, direct, through, server string) {
	exec(t, direct, "DROP ROLE IF EXISTS lim_both", "CREATE ROLE lim_both LOGIN", "CREATE SCHEMA fx", "GRANT USAGE ON SCHEMA fx TO lim_both")
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY lim_both CASCADE", "DROP ROLE lim_both") })
	exec(t, through, "CREATE FOREIGN TABLE fx.few (id bigint, half numeric) SERVER "+server, "GRANT SELECT ON fx.few TO lim_both", "SELECT sluice.set_row_filter('fx.few', 'public', 'id > 0')")
	exec(t, direct, "DO $$ BEGIN EXECUTE format('ALTER ROLE lim_both IN DATABASE %I SET sluice.max_rows = 2000', current_database()); END $$")
	conn := connect(t, strings.Replace(through, "postgres@", "lim_both@", 1))
	statements := 0
	for _, sql := range []string{
		"SELECT id, half FROM fx.few WHERE id <= $n", "SELECT id, half FROM fx.few WHERE id <= $n ORDER BY id DESC",
		"COPY (SELECT id, half FROM fx.few WHERE id <= $n) TO STDOUT", "COPY (SELECT id, half FROM fx.few WHERE id <= $n) TO STDOUT (FORMAT binary)",
	} {
		for n, code := range map[int]string{2000: "", 2001: "54000"} {
			sql := strings.ReplaceAll(sql, "$n", fmt.Sprint(n))
			_, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
			if sqlState(err) != code {
				t.Errorf("%s: %v", sql, err)
			}
			if statements++; !strings.HasPrefix(sql, "COPY") {
				statements++
				if err := conn.PgConn().ExecParams(timed(t), sql, nil, nil, nil, []int16{1}).Read().Err; sqlState(err) != code {
					t.Errorf("%s, binary: %v", sql, err)
				}
			}
		}
	}
	for _, row := range audited(t, connect(t, direct), "outcome, rows", statements) {
		if row != "ok|2000" && row != "failed|2000" {
			t.Errorf("the audit has %s", row)
		}
	}
}

// TestLimitBeforeError meets a row that cannot be written behind more rows than the limit lets through: the limit comes first.
func TestLimitBeforeError(t *testing.T) {
	w := newWorld(t, "CREATE TABLE days AS SELECT i::INTEGER AS id, CASE i WHEN 7 THEN DATE '5880000-01-01' ELSE DATE '2000-01-01' END AS d FROM range(10) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE days (id int, d date) SERVER lake")
	for limit, want := range map[int]string{3: "54000 3", 7: "22008 7", 8: "22008 7"} {
		conn := connect(t, w.through)
		if _, err := conn.Exec(timed(t), fmt.Sprintf("SET sluice.max_rows = %d", limit)); err != nil {
			t.Fatal(err)
		}
		r := conn.PgConn().ExecParams(timed(t), "SELECT id, d FROM days", nil, nil, nil, nil)
		n := 0
		for r.NextRow() {
			n++
		}
		if _, err := r.Close(); fmt.Sprint(sqlState(err), " ", n) != want {
			t.Errorf("limit %d: %d rows, then %v, want %s", limit, n, err, want)
		}
	}
}
