package tests

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestDocument asks for results at the very limits of what is delivered inline, by rows and by bytes, of home and of an engine.
func TestDocument(t *testing.T) {
	w := handleWorld(t)
	conn := connect(t, w.through)
	for query, first := range map[string]string{
		"SELECT a, NULL::text AS n FROM plain WHERE a <= 10 ORDER BY a DESC": `{"a": 10, "n": null}`,
		"SELECT id, name FROM item WHERE id < 10 ORDER BY id DESC":           `{"id": 9, "name": "n2"}`,
	} {
		call := func(limits string) string {
			return "SELECT \"inline\", body -> 0, body IS NULL, handle_id IS NULL, row_count FROM sluice.document('" + query + "'" + limits + ")"
		}
		inline, handle := "t|"+first+"|f|t|10", "f|NULL|t|f|10"
		want(t, conn, call(""), inline)
		want(t, conn, call(", 10"), inline)
		want(t, conn, call(", 9"), handle)
		bytes, err := strconv.Atoi(rows(t, conn, "SELECT octet_length(body::text) FROM sluice.document('"+query+"')"))
		if err != nil {
			t.Fatal(err)
		}
		want(t, conn, call(fmt.Sprintf(", inline_bytes => %d", bytes)), inline)
		want(t, conn, call(fmt.Sprintf(", inline_bytes => %d", bytes-1)), handle)
		want(t, conn, "SET sluice.inline_rows = 9", "SET")
		want(t, conn, call(""), handle)
		want(t, conn, "RESET sluice.inline_rows; SELECT count(*) FROM sluice.ctas_handles WHERE row_count = 10 AND expires_at > now() + '55 minutes'; SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "RESET\n3\n3")
		var got []int
		if err := conn.QueryRow(timed(t), "SELECT array(SELECT (e ->> 0)::int FROM jsonb_array_elements(jsonb_path_query_array(body, '$[*].*[0] ? (@.type() == \"number\")')) e) FROM sluice.document($1, $2)",
			query, 100).Scan(&got); err != nil || len(got) != 10 {
			t.Errorf("%v: %v", got, err)
		}
	}
	for sql, answer := range map[string]string{
		"SELECT body, row_count FROM sluice.document('SELECT 1 AS a WHERE false', 0, 2)":                     "[]|0",
		"SELECT body, handle_id IS NOT NULL FROM sluice.document('SELECT 1 AS a WHERE false', 0, 1)":         "NULL|t",
		"SELECT * FROM sluice.document('SELECT 1 AS a', -1)":                                                 "22023",
		"SELECT * FROM sluice.document('SELECT 1 AS a', 1, -1)":                                              "22023",
		"SELECT * FROM sluice.document('SELECT 1 AS a', 1, 67108865)":                                        "22023",
		"SELECT count(*) FROM sluice.document('SELECT 1 AS a', 1, 67108864)":                                 "1",
		"SELECT * FROM sluice.document(NULL)":                                                                "22004",
		"SELECT * FROM sluice.document('SELECT 1, 2')":                                                       "42701",
		"SELECT * FROM sluice.document('SELECT 1/(id-3) AS a FROM item')":                                    "22012",
		"SELECT sluice.document('SELECT 1 AS a')":                                                            "0A000",
		"CREATE SEQUENCE s; SELECT body FROM sluice.document('SELECT nextval(''s'') AS a'); DROP SEQUENCE s": "CREATE SEQUENCE\n[{\"a\": 1}]\nDROP SEQUENCE",
	} {
		want(t, conn, sql, answer)
	}
	want(t, conn, "SELECT count(*) FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace AND relkind = 'r'", "1")
}

// TestDocumentMakesNoTable watches what home runs: a result that is inline makes no table, and one that is not is undone before it is read again.
func TestDocumentMakesNoTable(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i::INTEGER AS id, 'n' || i % 7 AS name, i / 7.0 AS f, TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS at FROM range(5000) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text, f float8, at timestamp) SERVER lake", "CREATE TABLE log (a int)", "CREATE SEQUENCE made",
		"CREATE FUNCTION note(a int) RETURNS int LANGUAGE sql AS 'INSERT INTO log VALUES (a) RETURNING a'")
	exec(t, w.direct, "CREATE FUNCTION made() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''public.made'') FROM pg_event_trigger_ddl_commands() WHERE schema_name = ''sluice_handle''; END'", "CREATE EVENT TRIGGER made ON ddl_command_end EXECUTE FUNCTION made()")
	conn := connect(t, w.through)
	const tables = "SELECT is_called FROM made"
	for _, query := range []string{"SELECT g AS a FROM generate_series(1, 20) g", "SELECT * FROM item WHERE id < 20", "SELECT name, count(*), max(f) AS s FROM item GROUP BY name ORDER BY name", "SELECT 1 AS a WHERE false", "SELECT id FROM item WHERE id < 0"} {
		body := rows(t, conn, "SELECT coalesce(jsonb_agg(to_jsonb(q)), '[]') FROM ("+query+") q")
		want(t, conn, "SELECT body, handle_id FROM sluice.document('"+query+"')", body+"|NULL")
		want(t, conn, tables, "f")
	}
	want(t, conn, "SELECT row_count FROM sluice.document('SELECT * FROM item WHERE id / (id + 1) < 0')", "0")
	want(t, conn, "SET DateStyle = 'SQL, DMY'; SET extra_float_digits = 0; SELECT body ->> 0 FROM sluice.document('SELECT * FROM item WHERE id = 1'); RESET ALL", "SET\nSET\n"+`{"f": 0.142857142857143, "at": "2024-01-01T01:00:00", "id": 1, "name": "n1"}`+"\nRESET")
	exec1(t, conn, "SELECT pg_catalog.setval('made', 1, false)")
	want(t, conn, `SELECT "inline", row_count FROM sluice.document('SELECT note(g) AS a FROM generate_series(1, 30) g', 30)`, "t|30")
	want(t, conn, tables, "f")
	want(t, conn, `SELECT "inline", row_count FROM sluice.document('SELECT note(g) AS a FROM generate_series(1, 30) g', 29)`, "f|30")
	want(t, conn, "SELECT count(*) FROM log", "60") // each row once
	want(t, conn, tables, "t")
	for _, limits := range []string{"10", "2000", "4999", "5000, 100", "5000, 300000"} {
		want(t, conn, `SELECT "inline", row_count FROM sluice.document('SELECT * FROM item', `+limits+")", "f|5000")
		want(t, conn, "SELECT count(*), count(DISTINCT id), sum(f)::numeric(20, 4), max(at) FROM "+rows(t, conn, "SELECT relation FROM sluice.ctas_handles ORDER BY created_at DESC LIMIT 1"),
			rows(t, conn, "SELECT count(*), count(DISTINCT id), sum(f)::numeric(20, 4), max(at) FROM item"))
	}
	want(t, conn, "SELECT * FROM sluice.document('SELECT id, id FROM item')", "42701")
	want(t, conn, "SELECT body FROM sluice.document('WITH w AS (INSERT INTO log VALUES (7) RETURNING a) SELECT a FROM w')", `[{"a": 7}]`)
	want(t, conn, "SELECT row_count FROM sluice.document('SELECT FROM generate_series(1, 3)')", "3")
}

// TestDocumentOfParameters asks for documents by statements with parameters, in both formats.
func TestDocumentOfParameters(t *testing.T) {
	w := handleWorld(t)
	conn := connect(t, w.through)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		for limit, inline := range map[int32]bool{3: true, 2: false} {
			var is bool
			var body []map[string]int
			var more, n int64
			err := conn.QueryRow(timed(t), `SELECT "inline", coalesce(body, '[]'), row_count, $3::bigint FROM sluice.document($1, $2::int)`, mode, "SELECT id FROM item WHERE id < 3", limit, int64(7)).Scan(&is, &body, &n, &more)
			if err != nil || is != inline || is && (len(body) != 3 || body[2]["id"] != 2) || n != 3 || more != 7 {
				t.Errorf("%v: limit %d: %v %v %d %d: %v", mode, limit, is, body, n, more, err)
			}
		}
	}
}
