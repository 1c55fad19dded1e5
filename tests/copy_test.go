package tests

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestCopyOut streams COPY (query) TO STDOUT in each format: the bytes are those of a plain table's COPY.
func TestCopyOut(t *testing.T) {
	const source = "SELECT i::INTEGER AS i, CASE WHEN i % 7 <> 0 THEN 'text\t' || i END AS t, (i / 8.0)::DECIMAL(12,3) AS n, TIMESTAMP '2024-01-01' + to_seconds(i) AS ts FROM range(100000) r(i)"
	w := newWorld(t, "CREATE TABLE many AS "+source)
	exec(t, w.through, "CREATE FOREIGN TABLE many (i int, t text, n numeric(12,3), ts timestamp) SERVER lake",
		"CREATE TABLE plain AS SELECT g AS i, CASE WHEN g % 7 <> 0 THEN E'text\\t' || g END AS t, (g / 8.0)::numeric(12,3) AS n, timestamp '2024-01-01' + g * interval '1 second' AS ts FROM generate_series(0, 99999) g")
	through, direct := connect(t, w.through), connect(t, w.direct)
	for _, form := range []string{"", "(FORMAT csv, HEADER)", "(FORMAT binary)", "(DELIMITER ';', NULL '-')"} {
		for _, query := range []string{"SELECT * FROM %s ORDER BY i", "SELECT t, sum(n) FROM %s GROUP BY t ORDER BY max(i)", "SELECT i, md5(t) FROM %s WHERE i %% 10 = 0 ORDER BY i"} {
			var sums [2][32]byte
			var tags [2]string
			for i, name := range []string{"plain", "many"} {
				conn := []io.Writer{sha256.New(), sha256.New()}[i]
				pg := direct.PgConn()
				if i == 1 {
					pg = through.PgConn()
				}
				tag, err := pg.CopyTo(timed(t), conn, fmt.Sprintf("COPY ("+query+") TO STDOUT %s", name, form))
				if err != nil {
					t.Fatalf("%s %s of %s: %v", query, form, name, err)
				}
				copy(sums[i][:], conn.(interface{ Sum([]byte) []byte }).Sum(nil))
				tags[i] = tag.String()
			}
			if sums[0] != sums[1] || tags[0] != tags[1] {
				t.Errorf("%s %s differs: %v", query, form, tags)
			}
		}
	}
}

// TestCopyIn loads rows into a foreign table, and none when the last is bad (K-10, M-08).
func TestCopyIn(t *testing.T) {
	w := newWorld(t, "CREATE TABLE sink (i INTEGER, t VARCHAR)")
	exec(t, w.through, "DROP SERVER lake", w.server("lake", ", read_only 'false'"), "CREATE FOREIGN TABLE sink (i int, t text) SERVER lake")
	conn := connect(t, w.through)
	var b bytes.Buffer
	for i := range 100000 {
		fmt.Fprintf(&b, "%d\trow \\t %d\n", i, i)
	}
	tag, err := conn.PgConn().CopyFrom(timed(t), bytes.NewReader(b.Bytes()), "COPY sink FROM STDIN")
	if err != nil || tag.String() != "COPY 100000" {
		t.Fatalf("COPY: %v %v", tag, err)
	}
	want(t, conn, "SELECT count(*), sum(i), count(DISTINCT t), min(t) FROM sink", "100000|4999950000|100000|row \t 0")
	b.WriteString("x\tbad\n")
	if _, err := conn.PgConn().CopyFrom(timed(t), bytes.NewReader(b.Bytes()), "COPY sink FROM STDIN"); sqlState(err) != "22P02" {
		t.Errorf("COPY with a bad row at the end: %v", err)
	}
	want(t, conn, "SELECT count(*) FROM sink", "100000")
	if _, err := conn.PgConn().CopyFrom(timed(t), io.MultiReader(strings.NewReader("1\ta\n"), failing{}), "COPY sink FROM STDIN"); err == nil {
		t.Error("COPY that the client gives up has no error")
	}
	want(t, conn, "SELECT count(*) FROM sink", "100000")
	want(t, conn, "BEGIN; TRUNCATE sink; ROLLBACK", "BEGIN\nTRUNCATE TABLE\nROLLBACK")
	want(t, conn, "SELECT count(*) FROM sink", "100000")
}

// failing is a reader that fails at once.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("the source is gone") }

// TestDriver uses pgx as programs do: prepared statements, binary forms, batches, CopyFrom.
func TestDriver(t *testing.T) {
	duck, declare := numbers(5000)
	w := newWorld(t, duck)
	exec(t, w.through, declare, "CREATE TABLE sink (i int, t text)")
	conn := connect(t, w.through)
	for range 3 { // the statement cache is used from the second time on
		var i int
		var s string
		if err := conn.QueryRow(timed(t), "SELECT i, t FROM numbers WHERE i = $1", 42).Scan(&i, &s); err != nil || i != 42 || s != "row 42" {
			t.Errorf("got %d %q, %v", i, s, err)
		}
	}
	rows, err := conn.Query(timed(t), "SELECT i FROM numbers WHERE i = ANY ($1) ORDER BY i", []int{5, 3, 4999, 9999})
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for rows.Next() {
		var i int32
		if err := rows.Scan(&i); err != nil {
			t.Fatal(err)
		}
		got = append(got, i)
	}
	if rows.Err() != nil || fmt.Sprint(got) != "[3 5 4999]" {
		t.Errorf("got %v, %v", got, rows.Err())
	}
	tag, err := conn.Exec(timed(t), "INSERT INTO sink SELECT i, t FROM numbers WHERE i < $1", 100)
	if err != nil || tag.String() != "INSERT 0 100" {
		t.Errorf("INSERT SELECT: %v, %v", tag, err)
	}
}
