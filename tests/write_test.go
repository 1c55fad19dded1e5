package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// item is a table of the writers' tests: what DuckDB holds, and the same as a plain and as a foreign table at home.
const itemDuck = `CREATE TABLE item (id INTEGER, name VARCHAR, price DECIMAL(10,2), tags VARCHAR[], made TIMESTAMPTZ, ok BOOLEAN, data JSON, doubled DECIMAL(12,2))`

const itemColumns = `(id int NOT NULL, name text DEFAULT 'none', price numeric(10,2) CHECK (price >= 0), tags text[], made timestamptz,
 ok boolean DEFAULT true, data jsonb, doubled numeric(12,2) GENERATED ALWAYS AS (price * 2) STORED, CONSTRAINT short CHECK (length(name) < 20))`

// pair is a session that sees the tables as foreign ones and one that sees them as plain ones. Each statement must do the
// same to both.
type pair struct {
	foreign, plain *pgx.Conn
}

// newPair makes a world with tables item and other in schema fx, foreign, and in schema plain.
func newPair(t *testing.T) (*world, *pair) {
	t.Helper()
	w := newWorld(t, itemDuck, "CREATE TABLE other (id INTEGER, label VARCHAR)")
	exec(t, w.through, "DROP SERVER lake", w.server("lake", ", read_only 'false'"), "CREATE SCHEMA fx", "CREATE SCHEMA plain",
		"CREATE FOREIGN TABLE fx.item "+itemColumns+" SERVER lake", "CREATE TABLE plain.item "+itemColumns,
		"CREATE FOREIGN TABLE fx.other (id int, label text) SERVER lake", "CREATE TABLE plain.other (id int, label text)",
		"CREATE TABLE home (id int PRIMARY KEY, label text)", "INSERT INTO home SELECT g, 'home ' || g FROM generate_series(1, 5) g")
	p := &pair{connect(t, w.through), connect(t, w.direct)}
	exec1(t, p.foreign, "SET search_path = fx, public")
	exec1(t, p.plain, "SET search_path = plain, public")
	return w, p
}

func exec1(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(timed(t), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// answer runs a statement in the simple protocol and tells everything that a client sees of it.
func answer(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	results, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
	var b strings.Builder
	for _, r := range results {
		for _, f := range r.FieldDescriptions {
			fmt.Fprintf(&b, "%s:%d:%d ", f.Name, min(f.DataTypeOID, 16384), f.TypeModifier) // row types differ
		}
		var lines []string
		for _, row := range r.Rows {
			lines = append(lines, fmt.Sprintf("\n%q", row))
		}
		if r.CommandTag.Update() || r.CommandTag.Delete() { // in no order
			slices.Sort(lines)
		}
		b.WriteString(strings.Join(lines, ""))
		if r.Err == nil {
			fmt.Fprintf(&b, "\n%s\n", r.CommandTag)
		}
	}
	b.WriteString(fault(err))
	return b.String()
}

// fault tells an error with its fields. The schemas of a pair are called the same.
func fault(err error) string {
	pe := pgError(err)
	switch {
	case err == nil:
		return ""
	case pe == nil:
		return err.Error()
	}
	schema := strings.NewReplacer("fx", "SCHEMA", "plain", "SCHEMA")
	return fmt.Sprintf("%s %s (%s; %s; %s) table %s.%s column %s constraint %s position %d", pe.Code, schema.Replace(pe.Message), pe.Detail,
		pe.Hint, pe.Where, schema.Replace(pe.SchemaName), pe.TableName, pe.ColumnName, pe.ConstraintName, pe.Position)
}

// contents are all rows of the pair's tables.
const contents = "SELECT * FROM item; SELECT * FROM other"

// run runs a statement in both sessions and compares answers and tables.
func (p *pair) run(t *testing.T, sql string) {
	t.Helper()
	want, got := answer(t, p.plain, sql), answer(t, p.foreign, sql)
	if got != want {
		t.Errorf("%s\nforeign: %s\n  plain: %s", sql, got, want)
	}
	p.compare(t, sql)
}

func (p *pair) compare(t *testing.T, after string) {
	t.Helper()
	if p.plain.PgConn().TxStatus() == 'E' {
		return
	}
	if want, got := unordered(answer(t, p.plain, contents)), unordered(answer(t, p.foreign, contents)); got != want {
		t.Fatalf("tables after %s\nforeign: %s\n  plain: %s", after, got, want)
	}
}

// TestWrites runs DML of all forms.
func TestWrites(t *testing.T) {
	_, p := newPair(t)
	for _, sql := range []string{
		"INSERT INTO item (id, name, price) VALUES (1, 'one', 1.5)",
		"INSERT INTO item (id, price, tags, made, data) VALUES (2, 2.25, '{a,\"b c\",NULL}', '2024-03-01 12:00+02', '{\"a\": [1, 2]}'), (3, NULL, '{}', NULL, 'null') RETURNING *",
		"INSERT INTO item SELECT id + 10, label, id FROM home RETURNING id, doubled, price + 1 AS more, 'x', NULL",
		"INSERT INTO item (name, id) VALUES (DEFAULT, 4) RETURNING name, name",
		"INSERT INTO item (id, name) SELECT id + 100, name FROM item WHERE id < 3 RETURNING item.id, item",
		"INSERT INTO item AS i (id) VALUES (5) RETURNING i.id, i.*, (SELECT count(*) FROM home), (SELECT count(*) FROM item)",
		"WITH w AS (SELECT 6 AS id, 'six' AS name) INSERT INTO item (id, name) SELECT * FROM w RETURNING id, (SELECT name FROM w)",
		"WITH RECURSIVE r AS (SELECT 20 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 25) INSERT INTO item (id) SELECT n FROM r",
		"INSERT INTO item (id) VALUES (7) RETURNING (id, name), ROW(id), ARRAY[ROW(1)]",
		"INSERT INTO item (id, doubled) VALUES (8, DEFAULT)",
		"INSERT INTO item (id, doubled) VALUES (8, 1)",
		"INSERT INTO other DEFAULT VALUES RETURNING *",
		"INSERT INTO item DEFAULT VALUES",
		"INSERT INTO item (id, price) VALUES (9, -1)",
		"INSERT INTO item (id, price) VALUES (9, 1), (NULL, 1)",
		"INSERT INTO item (id, name) VALUES (9, 'a name that is much too long')",
		"INSERT INTO item (id, price) VALUES (9, 123456789.5)",
		"INSERT INTO item (id, nope) VALUES (9, 1)",
		"INSERT INTO item (id) VALUES ('x')",
		"INSERT INTO item (id) SELECT 1 / (id - 3) FROM home",
		"INSERT INTO item (id) VALUES (9) ON CONFLICT DO NOTHING",
		"INSERT INTO item (id) VALUES (9) ON CONFLICT (id) DO NOTHING",
		"INSERT INTO item (id) VALUES (9) ON CONFLICT (id) DO UPDATE SET name = 'x'",
		"INSERT INTO item (id) OVERRIDING SYSTEM VALUE VALUES (10)",
		"INSERT INTO item (id) SELECT id FROM item WHERE false",
		"INSERT INTO other SELECT g, NULLIF('row ' || g, 'row 7') FROM generate_series(1, 1000) g",
		"UPDATE item SET name = 'first', price = 7 WHERE id = 1",
		"UPDATE item SET price = price + 1, tags = array_append(tags, 'new') WHERE price > 2 RETURNING id, price, doubled, tags",
		"UPDATE item AS i SET name = DEFAULT, (price, ok) = (SELECT h.id, h.id > 2 FROM home h WHERE h.id = i.id) WHERE i.id BETWEEN 1 AND 5 RETURNING *",
		"UPDATE item SET name = home.label FROM home WHERE home.id = item.id RETURNING item.*, home.label",
		"UPDATE item SET name = h.label FROM home h JOIN other o ON o.id = h.id WHERE h.id = item.id RETURNING *",
		"UPDATE item SET ok = false FROM generate_series(1, 3) g WHERE item.id = 1 RETURNING id",
		"UPDATE item SET name = o.name FROM item o WHERE o.id = item.id + 1 AND item.id = 1 RETURNING item.name",
		"WITH w AS (SELECT max(id) AS top FROM home) UPDATE item SET price = top FROM w WHERE id = 2 RETURNING price, (SELECT top FROM w)",
		"UPDATE fx.item SET ok = NOT fx.item.ok WHERE fx.item.id = 3 RETURNING fx.item.ok",
		"UPDATE item SET id = NULL WHERE id = 1",
		"UPDATE item SET price = -1 WHERE id = 1",
		"UPDATE item SET doubled = 1",
		"UPDATE item SET doubled = DEFAULT WHERE id = 2",
		"UPDATE item SET name = repeat('x', 30) WHERE id = 2",
		"UPDATE item SET name = 'x' WHERE 1 / (id - 1) > 0",
		"UPDATE item SET name = 'nobody' WHERE id = 12345 RETURNING *",
		"UPDATE item SET data['b'] = '5', tags[2] = 'second' WHERE id = 2 RETURNING data, tags",
		"UPDATE ONLY item SET name = upper(name) WHERE name LIKE 'home%' RETURNING item",
		"DELETE FROM item WHERE id = 1 RETURNING *",
		"DELETE FROM item USING home WHERE home.id + 10 = item.id RETURNING item.id, home.label",
		"DELETE FROM item AS i USING generate_series(1, 3) g WHERE i.id = 3 RETURNING i.id, to_jsonb(i)->>'id'",
		"DELETE FROM item WHERE NOT EXISTS (SELECT FROM home WHERE home.id = item.id) RETURNING id",
		"DELETE FROM other WHERE id > 10",
		"WITH w AS (SELECT 2 AS id) DELETE FROM other USING w WHERE w.id = other.id RETURNING other",
		"DELETE FROM item WHERE nope = 1",
		"DELETE FROM other",
		"TRUNCATE item",
		"TRUNCATE TABLE ONLY item RESTART IDENTITY CASCADE",
	} {
		if strings.Contains(sql, "fx.") { // the same by qualified name
			want, got := answer(t, p.plain, strings.ReplaceAll(sql, "fx.", "plain.")), answer(t, p.foreign, sql)
			if got != want {
				t.Errorf("%s\nforeign: %s\n  plain: %s", sql, got, want)
			}
			p.compare(t, sql)
			continue
		}
		p.run(t, sql)
	}
}

// TestWriteBlocks runs DML inside transaction blocks, explicit and implicit ones, step by step.
func TestWriteBlocks(t *testing.T) {
	_, p := newPair(t)
	for _, block := range [][]string{
		{"BEGIN", "INSERT INTO item (id) VALUES (1), (2)", "SELECT id FROM item ORDER BY id", "COMMIT"},
		{"BEGIN", "INSERT INTO item (id) VALUES (3)", "UPDATE item SET name = 'own' WHERE id = 3", "DELETE FROM item WHERE id = 1",
			"SELECT count(*) FROM item", "SELECT i.id, h.label FROM item i JOIN home h USING (id)", "ROLLBACK"},
		{"BEGIN", "INSERT INTO item (id) VALUES (3) RETURNING id", "INSERT INTO other SELECT id, name FROM item", "UPDATE other SET label = 'o' RETURNING *",
			"SELECT item.id, label FROM item JOIN other USING (id) ORDER BY 1", "COMMIT"},
		{"BEGIN", "INSERT INTO item (id) VALUES (4)", "SELECT 1 / (id - 4) FROM item", "SELECT 1", "COMMIT"},
		{"BEGIN", "INSERT INTO item (id) VALUES (4)", "INSERT INTO item (id, price) VALUES (5, -1)", "ROLLBACK"},
		{"BEGIN", "INSERT INTO item (id) VALUES (4)", "SELECT nope", "COMMIT", "SELECT 1"},
		{"BEGIN; INSERT INTO item (id) VALUES (5); COMMIT"},
		{"BEGIN; INSERT INTO item (id) VALUES (6); ROLLBACK"},
		{"BEGIN; INSERT INTO item (id) VALUES (6); ROLLBACK; INSERT INTO item (id) VALUES (7)"},
		{"BEGIN; ROLLBACK; INSERT INTO item (id) VALUES (8)"},
		{"BEGIN; COMMIT; INSERT INTO item (id) VALUES (9); SELECT id FROM item WHERE id > 7 ORDER BY id"},
		{"BEGIN; INSERT INTO item (id) VALUES (10)", "SELECT count(*) FROM item", "END"},
		{"INSERT INTO item (id) VALUES (11); INSERT INTO item (id) VALUES (12)"},
		{"INSERT INTO item (id) VALUES (13); SELECT 1 / 0"},
		{"INSERT INTO item (id) VALUES (13); INSERT INTO item (id) VALUES (NULL)"},
		{"INSERT INTO item (id) VALUES (13); nonsense"},
		{"TRUNCATE other; INSERT INTO other VALUES (1, 'again') RETURNING *; SELECT * FROM other"},
		{"START TRANSACTION READ ONLY", "INSERT INTO item (id) VALUES (14)", "ROLLBACK"},
		{"START TRANSACTION READ ONLY", "UPDATE item SET id = 14", "ROLLBACK"},
		{"START TRANSACTION READ ONLY", "DELETE FROM item", "ROLLBACK"},
		{"START TRANSACTION READ ONLY", "TRUNCATE item", "ROLLBACK"},
		{"BEGIN", "TRUNCATE item", "SELECT count(*) FROM item", "ABORT"},
		{"BEGIN", "DELETE FROM item WHERE id < 7 RETURNING id", "INSERT INTO item (id) SELECT id + 100 FROM item RETURNING id", "COMMIT AND CHAIN", "INSERT INTO item (id) VALUES (1)", "ROLLBACK"},
		{"PREPARE ins (int, text) AS INSERT INTO item (id, name) VALUES ($1, $2) RETURNING id, name", "EXECUTE ins (20, 'twenty')", "BEGIN", "EXECUTE ins (21, NULL)", "COMMIT", "DEALLOCATE ins"},
		{"SET datestyle = 'German, DMY'; SET timezone = 'America/New_York'; SET intervalstyle = 'iso_8601'; SET extra_float_digits = -5",
			"INSERT INTO item (id, made) VALUES (30, '01.02.2024 13:00'), (31, '1850-01-01 00:00:00+00'), (32, 'infinity') RETURNING made", "RESET ALL", "SET search_path = SCHEMA, public"},
	} {
		for _, sql := range block {
			want := answer(t, p.plain, strings.ReplaceAll(sql, "SCHEMA", "plain"))
			if got := answer(t, p.foreign, strings.ReplaceAll(sql, "SCHEMA", "fx")); got != want {
				t.Errorf("%s in %q\nforeign: %s\n  plain: %s", sql, block, got, want)
			}
			if want, got := p.plain.PgConn().TxStatus(), p.foreign.PgConn().TxStatus(); got != want {
				t.Errorf("after %s in %q: foreign %c, plain %c", sql, block, got, want)
			}
		}
		p.compare(t, fmt.Sprint(block))
	}
}

// TestWriteRefusals checks what a foreign table does not take, that it says so before anything has changed, and that a
// hint says what to do.
func TestWriteRefusals(t *testing.T) {
	w, p := newPair(t)
	conn := p.foreign
	duckExec(t, w.dir+"/second.duckdb", "CREATE TABLE far (id INTEGER)")
	exec(t, w.through, "CREATE SERVER second FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+w.dir+"/second.duckdb', read_only 'false')",
		"CREATE FOREIGN TABLE fx.far (id int) SERVER second",
		"CREATE SERVER sealed FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+w.dir+"/sealed.duckdb')",
		"CREATE FOREIGN TABLE fx.sealed (id int) SERVER sealed", "CREATE VIEW fx.view AS SELECT id, name FROM fx.item",
		"CREATE FOREIGN TABLE fx.triggered (id int) SERVER lake OPTIONS (table_name 'other')",
		"CREATE FUNCTION fx.noop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
		"CREATE TRIGGER noop BEFORE INSERT ON fx.triggered FOR EACH ROW EXECUTE FUNCTION fx.noop()",
		"CREATE TABLE parted (id int) PARTITION BY LIST (id)", "CREATE FOREIGN TABLE fx.part PARTITION OF parted FOR VALUES IN (1) SERVER lake OPTIONS (table_name 'other')")
	duckExec(t, w.dir+"/sealed.duckdb", "CREATE TABLE sealed (id INTEGER)")
	for _, block := range [][]string{
		{"INSERT INTO sealed VALUES (1)"},
		{"UPDATE sealed SET id = 1"},
		{"TRUNCATE sealed"},
		{"INSERT INTO view VALUES (1, 'x')"},
		{"INSERT INTO triggered VALUES (1)"},
		{"INSERT INTO part VALUES (2)"},
		{"MERGE INTO item USING home ON home.id = item.id WHEN MATCHED THEN DELETE"},
		{"WITH w AS (INSERT INTO item (id) VALUES (1) RETURNING id) SELECT * FROM w"},
		{"WITH w AS (DELETE FROM home RETURNING id) INSERT INTO item (id) SELECT id FROM w"},
		{"WITH w AS (DELETE FROM item RETURNING id) INSERT INTO home SELECT id, 'x' FROM w"},
		{"TRUNCATE item, home"},
		{"TRUNCATE item, other"},
		{"BEGIN", "INSERT INTO item (id) VALUES (1)", "INSERT INTO far VALUES (1)"},
		{"BEGIN", "INSERT INTO home VALUES (100, 'x')", "INSERT INTO item (id) VALUES (1)"},
		{"BEGIN", "SELECT * FROM item JOIN home USING (id)", "UPDATE home SET label = 'x'", "INSERT INTO item (id) VALUES (1)"},
		{"BEGIN", "INSERT INTO item (id) VALUES (1)", "INSERT INTO home VALUES (100, 'x')", "COMMIT"},
		{"INSERT INTO item (id) VALUES (1); INSERT INTO home VALUES (100, 'x')"},
		{"BEGIN", "CREATE TABLE more (a int)", "INSERT INTO item (id) VALUES (1)"},
		{"BEGIN", "INSERT INTO item (id) VALUES (1)", "PREPARE TRANSACTION 'x'"},
		{"BEGIN", "DECLARE c CURSOR FOR SELECT * FROM item", "DELETE FROM item WHERE CURRENT OF c"},
		{"SET sluice.route = 'remote'", "BEGIN", "INSERT INTO item (id) VALUES (1)", "SELECT * FROM item"},
	} {
		for i, sql := range block {
			_, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
			if i < len(block)-1 && err != nil {
				t.Errorf("%s in %q: %v", sql, block, err)
			} else if pe := pgError(err); i == len(block)-1 && (pe == nil || pe.Code != "0A000" || pe.Hint+pe.Detail == "") {
				t.Errorf("%s in %q: %v", sql, block, err)
			}
		}
		exec1(t, conn, "ROLLBACK; RESET sluice.route; SET search_path = fx, public")
		p.compare(t, fmt.Sprint(block))
		want(t, conn, "SELECT count(*), max(id), min(label) FROM home", "5|5|home 1")
	}
}

// TestWriteCopy loads rows by COPY in all forms, with the errors that plain tables give.
func TestWriteCopy(t *testing.T) {
	w, p := newPair(t)
	file := filepath.Join(os.TempDir(), filepath.Base(w.dir)+"-sluice-copy.csv")
	if err := os.WriteFile(file, []byte("1000,from a file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(file) })
	for _, c := range []struct{ sql, data string }{
		{"COPY item (id, name, price) FROM STDIN", "1\tone\t1.5\n2\t\\N\t\\N\n\\.\n"},
		{"COPY item (id, name) FROM STDIN WITH (FORMAT csv, HEADER, NULL 'nil', DELIMITER ';')", "id;name\n3;nil\n4;\"a;b\"\n"},
		{"COPY item (id, tags, data, made, ok) FROM STDIN CSV", "5,\"{a,b}\",\"{\"\"x\"\": 1}\",2024-01-01 00:00+00,f\n"},
		{"COPY other FROM STDIN WHERE id > 2", "1\ta\n2\tb\n3\tc\n"},
		{"COPY other FROM STDIN", ""},
		{"COPY item (id, name) FROM STDIN", "6\tok\n\\N\tno id\n"},
		{"COPY item (id, price) FROM STDIN", "6\t1\n7\t-1\n"},
		{"COPY item (id, price) FROM STDIN", "6\t1\n7\tx\n8\t2\n"},
		{"COPY item (id) FROM STDIN", "6\t7\n"},
		{"COPY item (id, doubled) FROM STDIN", "6\t7\n"},
		{"COPY item (id, nope) FROM STDIN", "6\t7\n"},
		{"COPY item FROM STDIN WITH (FORMAT nope)", ""},
		{"copy /* a comment */ \"other\" -- and another\n (id) from stdin", "77\n"},
		{"COPY item FROM STDIN WITH (FORMAT csv, DELIMITER 'xx')", ""},
		{"COPY other (label) FROM STDIN", "by label\n"},
		{"COPY other FROM '" + file + "' CSV", ""},
		{"COPY other FROM '" + file + ".missing' CSV", ""},
		{"COPY other FROM PROGRAM 'echo 2000,x' CSV", ""},
		{"BEGIN; COPY other FROM STDIN; COMMIT", "7\tin a block\n"},
		{"BEGIN; COPY other FROM STDIN; ROLLBACK", "8\trolled back\n"},
	} {
		var got [2]string
		for i, conn := range []*pgx.Conn{p.plain, p.foreign} {
			if !strings.Contains(strings.ToUpper(c.sql), "STDIN") {
				got[i] = answer(t, conn, c.sql)
				continue
			}
			tag, err := conn.PgConn().CopyFrom(timed(t), strings.NewReader(c.data), c.sql)
			got[i] = tag.String() + " " + fault(err) + string(conn.PgConn().TxStatus())
		}
		if got[0] != got[1] {
			t.Errorf("%s\nforeign: %s\n  plain: %s", c.sql, got[1], got[0])
		}
		p.compare(t, c.sql)
	}
}
