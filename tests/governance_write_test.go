package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// TestRowSecurityWrites declares the same policies on a plain and on a foreign table, by the same words, and lets several
// roles write to both by the same statements: answers and what the tables then hold are the same.
func TestRowSecurityWrites(t *testing.T) {
	onBothEngines(t, map[string]string{"notes": "SELECT *, secret * 2 AS twice FROM " + notes, "open": "SELECT 1 AS id UNION ALL SELECT 2"}, compareRowSecurityWrites)
}

const notes = "(VALUES (1, 'alice', 10, 'a1'), (2, 'bob', 20, 'b1'), (3, 'bob', 0, 'b2'), (4, 'alice', 7, NULL), (5, 'carol', 30, 'c1')) v (id, owner, secret, note)"

const notesColumns = "(id int NOT NULL, owner text, secret int DEFAULT 5 CHECK (secret >= 0), note text, twice int GENERATED ALWAYS AS (secret * 2) STORED)"

// writers are sessions that see a table as a plain and as a foreign one, each as a role and as a superuser.
type writers struct {
	plain, foreign           *pgx.Conn
	plainAdmin, foreignAdmin *pgx.Conn
	held                     string // what the table has before each statement
}

func (w *writers) both(t *testing.T, sql string) {
	t.Helper()
	if a, b := answer(t, w.plainAdmin, sql), answer(t, w.foreignAdmin, sql); a != b || strings.Contains(a, "table .") && !strings.Contains(sql, "DROP") {
		t.Fatalf("%s\n plain:   %s\n foreign: %s", sql, a, b)
	}
}

// as runs a statement as a role, by the simple protocol or the extended one.
func (w *writers) as(t *testing.T, role, sql string, ask func(*testing.T, *pgx.Conn, string) string) {
	t.Helper()
	for _, c := range []*pgx.Conn{w.plain, w.foreign} {
		exec1(t, c, "SET ROLE "+role)
	}
	a, b := ask(t, w.plain, sql), strings.ReplaceAll(ask(t, w.foreign, sql), "denied for foreign table", "denied for table")
	for _, c := range []*pgx.Conn{w.plain, w.foreign} {
		if c.PgConn().TxStatus() != 'I' {
			exec1(t, c, "ROLLBACK")
		}
	}
	if a != b {
		t.Errorf("as %s: %s\n plain:   %s\n foreign: %s", role, sql, a, b)
	}
	a, b = answer(t, w.plainAdmin, allNotes), answer(t, w.foreignAdmin, allNotes)
	if a != b {
		t.Errorf("after %s as %s\n plain:   %s\n foreign: %s", sql, role, a, b)
	}
	if a == w.held {
		return
	}
	w.both(t, "TRUNCATE notes")
	w.both(t, "INSERT INTO notes (id, owner, secret, note) SELECT * FROM "+notes)
}

// answerExtended is answer by Parse, Bind and Execute.
func answerExtended(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	r := conn.PgConn().ExecParams(timed(t), sql, nil, nil, nil, nil).Read()
	var b strings.Builder
	for _, f := range r.FieldDescriptions {
		fmt.Fprintf(&b, "%s:%d:%d ", f.Name, min(f.DataTypeOID, 16384), f.TypeModifier)
	}
	var lines []string
	for _, row := range r.Rows {
		lines = append(lines, fmt.Sprintf("\n%q", row))
	}
	slices.Sort(lines)
	return b.String() + strings.Join(lines, "") + "\n" + tagOf(r.CommandTag) + fault(r.Err)
}

// copied runs a COPY FROM STDIN of one row.
func copied(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	tag, err := conn.PgConn().CopyFrom(timed(t), strings.NewReader("9\talice\t8\n"), sql)
	return tagOf(tag) + fault(err)
}

const allNotes = "SELECT * FROM notes ORDER BY id, owner, secret, note"

func tagOf(tag pgconn.CommandTag) string { return tag.String() + "\n" }

// writable is a statement that lets a server of onBothEngines be written to.
func writable(server string) string {
	return map[string]string{
		"lake": "ALTER SERVER lake OPTIONS (ADD read_only 'false')", "other": "ALTER SERVER other OPTIONS (ADD updatable 'true')",
	}[server]
}

func newWriters(t *testing.T, direct, through, server string, roles ...string) *writers {
	exec(t, direct, "CREATE SCHEMA plain", "CREATE SCHEMA fx", "CREATE TABLE entitled (who text, secret int)", "INSERT INTO entitled VALUES ('gow_alice', 100), ('gow_bob', 15)")
	for _, r := range roles {
		exec(t, direct, "DROP ROLE IF EXISTS "+r, "CREATE ROLE "+r, "GRANT USAGE ON SCHEMA plain, fx TO "+r, "GRANT SELECT ON entitled TO "+r)
	}
	t.Cleanup(func() {
		exec(t, direct, "DROP OWNED BY "+strings.Join(roles, ", ")+" CASCADE", "DROP ROLE "+strings.Join(roles, ", "))
	})
	exec(t, through, writable(server))
	exec(t, direct, "CREATE TABLE plain.notes "+notesColumns, "INSERT INTO plain.notes (id, owner, secret, note) SELECT * FROM "+notes,
		"CREATE TABLE plain.open AS SELECT generate_series(1, 2) AS id")
	exec(t, through, "CREATE FOREIGN TABLE fx.notes "+notesColumns+" SERVER "+server, "CREATE FOREIGN TABLE fx.open (id int) SERVER "+server)
	w := &writers{plain: connect(t, direct), foreign: connect(t, through), plainAdmin: connect(t, direct), foreignAdmin: connect(t, through)}
	for _, c := range []*pgx.Conn{w.plain, w.plainAdmin} {
		exec1(t, c, "SET search_path = plain, public")
	}
	for _, c := range []*pgx.Conn{w.foreign, w.foreignAdmin} {
		exec1(t, c, "SET search_path = fx, public")
	}
	w.held = answer(t, w.plainAdmin, allNotes)
	return w
}

func compareRowSecurityWrites(t *testing.T, direct, through, server string) {
	w := newWriters(t, direct, through, server, "gow_alice", "gow_bob", "gow_auditor", "gow_blind")
	exec(t, direct, "ALTER ROLE gow_auditor BYPASSRLS")
	w.both(t, "GRANT ALL ON notes, open TO gow_alice, gow_bob, gow_auditor")
	w.both(t, "GRANT INSERT, UPDATE (note, secret), DELETE ON notes TO gow_blind")
	w.both(t, "GRANT SELECT (id) ON notes TO gow_blind")
	w.both(t, "ALTER TABLE notes ENABLE ROW LEVEL SECURITY")
	for _, stage := range []struct {
		ddl   []string
		roles []string
	}{
		{nil, []string{"gow_alice"}},
		{[]string{
			"CREATE POLICY own ON notes USING (owner = substr(current_user, 5))",
		}, []string{"gow_alice"}},
		{[]string{
			"CREATE POLICY see ON notes FOR SELECT USING (secret < 25)",
			"CREATE POLICY add ON notes FOR INSERT TO gow_bob WITH CHECK (notes.secret <= (SELECT max(e.secret) FROM entitled e WHERE e.who = current_user))",
			"CREATE POLICY change ON notes FOR UPDATE TO gow_bob, gow_blind USING (secret <> 7) WITH CHECK (secret < 50)",
			"CREATE POLICY take ON notes FOR DELETE TO gow_bob, gow_blind USING (id > 2)",
		}, []string{"gow_alice", "gow_bob", "gow_blind"}},
		{[]string{
			"CREATE POLICY few ON notes AS RESTRICTIVE USING (id < 5) WITH CHECK (id < 50)",
			`CREATE POLICY "no ""x""" ON notes AS RESTRICTIVE FOR INSERT WITH CHECK (note IS DISTINCT FROM 'x')`,
			"DROP POLICY see ON notes", "ALTER POLICY change ON notes USING (secret > 0)",
		}, []string{"gow_bob", "gow_blind"}},
	} {
		for _, sql := range stage.ddl {
			w.both(t, sql)
		}
		for i, role := range stage.roles {
			for n, sql := range governedWrites {
				ask := answer
				if (i+n)%2 == 1 {
					ask = answerExtended
				}
				w.as(t, role, sql, ask)
			}
			for _, role := range []string{role, "gow_auditor"} {
				w.as(t, role, "COPY notes (id, owner, secret) FROM STDIN", copied)
			}
		}
	}
}

// TestRowSecurityWriteOrder runs statements one behind the other in a session, prepared, in blocks and with roles that change, over
// plain and foreign tables, and pipelines with parameters.
func TestRowSecurityWriteOrder(t *testing.T) {
	onBothEngines(t, map[string]string{"notes": "SELECT *, secret * 2 AS twice FROM " + notes, "open": "SELECT 1 AS id UNION ALL SELECT 2"}, compareWriteOrder)
}

func compareWriteOrder(t *testing.T, direct, through, server string) {
	w := newWriters(t, direct, through, server, "gow_alice", "gow_bob", "gow_owner")
	for _, sql := range []string{
		"GRANT ALL ON notes, open TO gow_alice, gow_bob", "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
		"CREATE POLICY own ON notes USING (owner = substr(current_user, 5)) WITH CHECK (secret < current_setting('app.most', true)::int)",
	} {
		w.both(t, sql)
	}
	each := func(sql string) {
		t.Helper()
		if a, b := answer(t, w.plain, sql), answer(t, w.foreign, sql); a != b {
			t.Errorf("%s\n plain:   %s\n foreign: %s", sql, a, b)
		}
	}
	for _, sql := range []string{
		"SET app.most = '50'", "SET ROLE gow_alice",
		"PREPARE add (int, text, int) AS INSERT INTO notes (id, owner, secret) VALUES ($1, $2, $3) RETURNING id, owner", "EXECUTE add (20, 'alice', 49)", "EXECUTE add (21, 'alice', 50)",
		"PREPARE note (text) AS UPDATE notes SET note = $1 WHERE secret > 5 RETURNING id", "EXECUTE note ('p')",
		"SET ROLE gow_bob", "EXECUTE add (22, 'alice', 1)", "EXECUTE add (22, 'bob', 1)", "EXECUTE note ('q')", "SET app.most = '10'", "EXECUTE note ('r')", "EXECUTE add (23, 'bob', 10)", "SELECT * FROM notes ORDER BY id",
		"BEGIN", "INSERT INTO notes (id, owner, secret) VALUES (30, 'bob', 2)", "SAVEPOINT a", "INSERT INTO notes (id, owner, secret) VALUES (31, 'bob', 20)", "ROLLBACK TO a",
		"UPDATE notes SET note = 'block' WHERE secret < 10 RETURNING *", "UPDATE notes SET note = 'again' WHERE id = 30 RETURNING notes", "DELETE FROM notes WHERE secret = 0", "SELECT * FROM notes ORDER BY id",
		"SET LOCAL ROLE gow_alice", "DELETE FROM notes WHERE id IN (1, 2, 3)", "SELECT * FROM notes ORDER BY id", "COMMIT", "SELECT * FROM notes ORDER BY id",
		"SET row_security = off", "UPDATE notes SET note = 'x'", "INSERT INTO notes (id, owner) VALUES (40, 'bob')", "SET row_security = on",
		"BEGIN; DECLARE c CURSOR FOR SELECT id FROM notes ORDER BY id; FETCH 1 FROM c; UPDATE notes SET note = 'cursor'; FETCH 1 FROM c; COMMIT",
		"CREATE TEMP TABLE mine AS SELECT * FROM notes; INSERT INTO notes (id, owner, secret) SELECT id + 50, owner, 3 FROM mine; DROP TABLE mine", "SELECT * FROM notes ORDER BY id",
		"COPY (DELETE FROM notes RETURNING id, owner) TO STDOUT", "SELECT count(*) FROM notes", "RESET ROLE", "SELECT * FROM notes ORDER BY id",
		"ALTER TABLE notes OWNER TO gow_owner", "GRANT ALL ON notes TO gow_owner", "SET ROLE gow_owner", "UPDATE notes SET note = 'owned'", "RESET ROLE",
		"ALTER TABLE notes FORCE ROW LEVEL SECURITY", "SET ROLE gow_owner", "UPDATE notes SET note = 'forced'", "INSERT INTO notes (id, owner, secret) VALUES (70, 'owner', 1)", "INSERT INTO notes (id, owner, secret) VALUES (70, 'owner', 11)",
		"UPDATE notes SET note = 'forced' RETURNING id, note", "RESET ROLE", "SELECT * FROM notes ORDER BY id",
	} {
		each(sql)
	}
	each("SET ROLE gow_bob")
	for _, group := range [][]pgproto3.FrontendMessage{
		messages(statement("INSERT INTO notes (id, owner, secret) VALUES ($1, $2, $3) RETURNING id, twice", "80", "bob", "4"), statement("UPDATE notes SET note = $1 WHERE id = $2::int", "bound", "80")),
		messages(statement("INSERT INTO notes (id, owner, secret) VALUES ($1, $2, $3) RETURNING id", "81", "zoe", "4"), statement("SELECT 1")),
		messages(statement("UPDATE notes SET secret = $1", "11")),
		messages(statement("DELETE FROM notes WHERE id = $1::int RETURNING note", "80"), statement("SELECT count(*) FROM notes")),
	} {
		if a, b := pipeline(t, w.plain, group...), pipeline(t, w.foreign, group...); a != b {
			t.Errorf("plain:   %s\nforeign: %s", a, b)
		}
	}
	each("RESET ROLE")
	each("SELECT * FROM notes ORDER BY id")
}

var governedWrites = []string{
	"INSERT INTO notes (id, owner, secret, note) VALUES (10, 'alice', 3, 'n')",
	"INSERT INTO notes (id, owner, secret, note) VALUES (10, 'bob', 3, 'n')",
	"INSERT INTO notes (id, owner, secret, note) VALUES (10, 'bob', 40, 'n')",
	"INSERT INTO notes (id, owner, secret, note) VALUES (10, 'alice', 40, 'n'), (11, 'bob', 3, 'n')",
	"INSERT INTO notes (id, owner, secret, note) VALUES (70, 'bob', 3, 'x')",
	"INSERT INTO notes (id, owner, note) VALUES (10, 'bob', 'x')",
	"INSERT INTO notes (id, owner) VALUES (10, 'alice') RETURNING *",
	"INSERT INTO notes (id, owner) VALUES (10, 'bob') RETURNING id, twice, owner",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'bob', 13) RETURNING 1",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'carol', 13) RETURNING 1",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'carol', 13) RETURNING id",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'bob', 14) RETURNING 1 / (secret - 14)",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'zoe', 99) RETURNING 1 / (secret - 99)",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'zoe', -1)",
	"INSERT INTO notes (id, owner, secret) VALUES (10, 'alice', -1)",
	"INSERT INTO notes (id, owner, secret) VALUES (NULL, 'alice', 1)",
	"INSERT INTO notes (id, owner, secret) VALUES (NULL, 'zoe', 90)",
	"INSERT INTO notes (id, owner, secret) SELECT id + 100, 'alice', id FROM open",
	"INSERT INTO notes (id, owner, secret) SELECT id + 20, owner, secret FROM notes",
	"INSERT INTO notes (id, owner, secret) SELECT id + 20, owner, 4 FROM notes WHERE secret > 5 RETURNING id, owner",
	"WITH n AS (SELECT id FROM open) INSERT INTO notes (id, owner, secret) SELECT id + 30, 'bob', 1 FROM n RETURNING (SELECT count(*) FROM n), id",
	"INSERT INTO notes DEFAULT VALUES",
	"INSERT INTO notes (id, owner, secret) VALUES (1, 'alice', 1) ON CONFLICT DO NOTHING",
	"INSERT INTO notes (id, owner, secret) VALUES (1, 'zoe', 1) ON CONFLICT DO NOTHING",
	"INSERT INTO notes (id, owner, secret) VALUES (1, 'alice', 1) ON CONFLICT (id) DO UPDATE SET note = 'z'",
	"INSERT INTO notes (id, owner, secret) SELECT g, 'alice', g FROM generate_series(1, 1500) g",
	"INSERT INTO notes (id, owner, secret) SELECT g, 'bob', g FROM generate_series(1, 1500) g",
	"UPDATE notes SET note = 'u'",
	"UPDATE notes SET note = 'u', secret = 12",
	"UPDATE notes SET secret = 60",
	"UPDATE notes SET note = 'u' RETURNING 1",
	"UPDATE notes SET note = 'u' WHERE id = 2",
	"UPDATE notes SET note = 'u' WHERE id = 5",
	"UPDATE notes SET note = 'u' WHERE secret = 30",
	"UPDATE notes SET note = 'u' WHERE 100 / (secret - 30) < 1000",
	"UPDATE notes SET note = 'u' WHERE 100 / (secret - 10) > -1000",
	"UPDATE notes SET note = note || id WHERE (note || 'x')::int > 0 AND owner = 'nobody'",
	"UPDATE notes SET secret = secret + 1 RETURNING id, secret, twice",
	"UPDATE notes SET secret = secret + 6",
	"UPDATE notes SET secret = 70 WHERE id = 3",
	"UPDATE notes SET secret = 27 WHERE id = 3",
	"UPDATE notes SET owner = 'bob' WHERE id = 1",
	"UPDATE notes SET owner = 'alice' WHERE id = 2",
	"UPDATE notes SET owner = 'zoe', secret = 99 WHERE id = 4",
	"UPDATE notes SET id = 7 WHERE id = 2 RETURNING *",
	"UPDATE notes SET id = 60 WHERE id = 2",
	"UPDATE notes SET secret = -1 WHERE id = 1",
	"UPDATE notes SET secret = -1 WHERE id = 5",
	"UPDATE notes SET note = o.note FROM notes o WHERE o.id = notes.id + 1 RETURNING notes.id, notes.note",
	"UPDATE notes n SET note = (SELECT max(note) FROM notes) FROM open WHERE open.id = n.id RETURNING n, open.id",
	"UPDATE notes SET note = 'f' FROM open",
	"UPDATE notes SET (note, secret) = (SELECT x.note, x.secret FROM notes x WHERE x.id = notes.id) WHERE id IN (SELECT id FROM open)",
	"WITH top AS (SELECT max(secret) AS m FROM notes) UPDATE notes SET note = m::text FROM top WHERE secret = m RETURNING id, (SELECT m FROM top)",
	"UPDATE notes SET note = DEFAULT, secret = DEFAULT WHERE id < 3",
	"DELETE FROM notes",
	"DELETE FROM notes RETURNING *",
	"DELETE FROM notes RETURNING 'gone'",
	"DELETE FROM notes WHERE id = 2",
	"DELETE FROM notes WHERE id = 5 RETURNING id",
	"DELETE FROM notes WHERE secret = 30",
	"DELETE FROM notes WHERE 1 / (secret - 30) = 0",
	"DELETE FROM notes WHERE 1 / (secret - 20) = 0",
	"DELETE FROM notes USING open WHERE open.id = notes.id RETURNING notes.id, owner",
	"DELETE FROM notes USING open",
	"DELETE FROM notes n USING notes o WHERE n.id = o.id + 1 RETURNING n.id, o.note",
	"WITH d AS (SELECT id FROM notes) DELETE FROM notes WHERE id IN (SELECT id FROM d) RETURNING id, twice",
	"DELETE FROM notes WHERE EXISTS (SELECT FROM notes x WHERE x.secret > notes.secret)",
	"TRUNCATE notes",
	"BEGIN; INSERT INTO notes (id, owner, secret) VALUES (11, 'alice', 1); UPDATE notes SET note = 'again' WHERE id = 11; DELETE FROM notes WHERE id = 1; ROLLBACK",
	"SELECT count(*) FROM notes",
}
