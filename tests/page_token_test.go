package tests

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestPageTokens gives tokens to what they were not made for.
func TestPageTokens(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT range AS id, 'n' || range AS name, range % 3 AS r FROM range(20)")
	exec(t, w.direct, "DROP ROLE IF EXISTS page_reader", "CREATE ROLE page_reader LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY page_reader", "DROP ROLE page_reader") })
	exec(t, w.through, "CREATE FOREIGN TABLE t (id bigint OPTIONS (key 'true'), name text, r bigint) SERVER lake", "GRANT SELECT ON t TO page_reader",
		"CREATE TABLE h AS SELECT i AS id, 'n' || i AS name FROM generate_series(0, 19) i", "ALTER TABLE h ADD PRIMARY KEY (id)", "GRANT SELECT ON h TO page_reader")
	conn := connect(t, w.through)
	reader := connect(t, strings.Replace(w.through, "postgres://postgres@", "postgres://page_reader@", 1))
	for _, table := range []string{"t", "h"} {
		call := func(query, token string) string {
			return "SELECT id FROM sluice.page('" + query + "', 2, '" + token + "')"
		}
		query := "SELECT id FROM " + table + " ORDER BY id"
		first := func(c *pgx.Conn) string {
			return rows(t, c, "SELECT page_token FROM sluice.page('"+query+"', 2) OFFSET 1")
		}
		token := first(conn)
		want(t, conn, call(query, token), "2\n3")
		exec(t, w.direct, "SELECT sluice.rotate_page_key()")
		want(t, conn, call(query, token), "2\n3") // of the older key
		for wrong, message := range map[string]string{
			call(query, token[:len(token)-1]):                    "damaged",
			call(query, token[:20]+"A"+token[21:]):               "damaged",
			call(query, "no token"):                              "damaged",
			call(query, ""):                                      "damaged",
			call(query+" DESC", token):                           "another query",
			call("SELECT id FROM "+table+"  ORDER BY id", token): "another query",
			call(query, "Ag"+token[2:]):                          "this version does not know",
		} {
			if e := refusal(t, conn, wrong); e == nil || e.Code != "22023" || !strings.Contains(e.Message, message) || e.Hint == "" {
				t.Errorf("%s: %v", wrong, e)
			}
		}
		if e := refusal(t, reader, call(query, token)); e == nil || e.Code != "22023" || !strings.Contains(e.Message, "another role") {
			t.Errorf("another role: %v", e)
		}
		want(t, reader, call(query, first(reader)), "2\n3")
		want(t, conn, "SET ROLE page_reader; "+call(query, first(reader))+"; RESET ROLE", "SET\n2\n3\nRESET")
		exec(t, w.through, "SELECT sluice.set_column_mask('t', 'name', 'left(name, 1)')")
		if e := refusal(t, conn, call(query, token)); e == nil || e.Code != "22023" || !strings.Contains(e.Message, "older than the policies") {
			t.Errorf("another policy: %v", e)
		}
		exec(t, w.through, "SELECT sluice.drop_column_mask('t', 'name')")
		want(t, conn, call(query, token), "2\n3")
		exec(t, w.direct, "SELECT sluice.rotate_page_key(forget => true)")
		if e := refusal(t, conn, call(query, token)); e == nil || e.Code != "22023" || !strings.Contains(e.Message, "forgotten") {
			t.Errorf("a key that was forgotten: %v", e)
		}
	}
	// What a role may not see is in no token.
	exec(t, w.through, "SELECT sluice.set_column_mask('t', 'name', '''secret''::text')")
	want(t, reader, "SELECT convert_from(substring(decode(rpad(translate(page_token, '-_', '+/'), (length(page_token) + 3) / 4 * 4, '='), 'base64') FROM 24 FOR 14), 'UTF8') FROM sluice.page('SELECT id, name FROM t ORDER BY name, id DESC', 1)", `["secret","19"`)
	want(t, reader, "SELECT id FROM sluice.page('SELECT id, name FROM t ORDER BY name', 20)", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19")
	exec(t, w.through, "SELECT sluice.set_column_mask('t', 'id', 'NULL')")
	want(t, reader, "SELECT * FROM sluice.page('SELECT id, name FROM t ORDER BY id', 7)", "22023")
	want(t, reader, "SELECT sluice.page_tokens(decode('00112233445566770000000a0011223344556677', 'hex'), '{1}')", "42501")
	want(t, reader, "SELECT * FROM sluice.page_key", "42501")
	want(t, reader, "SELECT sluice.rotate_page_key()", "42501")
}

// refusal runs a statement and returns the error that it ends with, nil for none.
func refusal(t *testing.T, conn *pgx.Conn, sql string) *pgconn.PgError {
	t.Helper()
	_, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
	return pgError(err)
}
