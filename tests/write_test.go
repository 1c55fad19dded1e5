package tests

import (
	"fmt"
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
	return fmt.Sprintf("%s %s (%s) table %s.%s column %s constraint %s position %d", pe.Code, schema.Replace(pe.Message), pe.Detail,
		schema.Replace(pe.SchemaName), pe.TableName, pe.ColumnName, pe.ConstraintName, pe.Position)
}

// contents are all rows of the pair's tables.
const contents = "SELECT * FROM item ORDER BY id, name, price, made; SELECT * FROM other ORDER BY id, label"

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
	if want, got := answer(t, p.plain, contents), answer(t, p.foreign, contents); got != want {
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
