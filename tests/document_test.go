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
