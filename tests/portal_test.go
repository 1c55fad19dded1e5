package tests

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// numbers is a DuckDB table of n rows, and the statement that declares it.
func numbers(n int) (duck, declare string) {
	return fmt.Sprintf("CREATE TABLE numbers AS SELECT i::INTEGER AS i, 'row ' || i AS t FROM range(%d) r(i)", n),
		"CREATE FOREIGN TABLE numbers (i int, t text) SERVER lake"
}

// TestPortalLimits fetches a portal in steps of every awkward size: the parts are the whole, and each Execute but the
// last is suspended.
func TestPortalLimits(t *testing.T) {
	const n = 5005
	duck, declare := numbers(n)
	w := newWorld(t, duck)
	exec(t, w.through, declare)
	for _, query := range []string{"SELECT i FROM numbers ORDER BY i", "SELECT i FROM numbers ORDER BY -(-i), t"} {
		for _, limit := range []uint32{1, 2, 7, 999, 1000, 1001, n - 1, n, n + 1} {
			t.Run(fmt.Sprintf("%d %s", limit, query), func(t *testing.T) {
				checkSteps(t, connect(t, w.through), query, limit, n)
			})
		}
	}
}

func checkSteps(t *testing.T, conn *pgx.Conn, query string, limit uint32, n int) {
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: query})
	front.Send(&pgproto3.Bind{})
	front.Send(&pgproto3.Describe{ObjectType: 'P'})
	var got []string
	for step := uint32(0); ; step++ {
		front.Send(&pgproto3.Execute{MaxRows: limit})
		front.Send(&pgproto3.Flush{})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		rows, end := readStep(t, front)
		got = append(got, rows...)
		if tag, ok := end.(*pgproto3.CommandComplete); ok {
			if want := fmt.Sprintf("SELECT %d", len(rows)); string(tag.CommandTag) != want {
				t.Errorf("the last step's tag is %s, want %s", tag.CommandTag, want)
			}
			break
		}
		if len(rows) != int(limit) {
			t.Fatalf("step %d had %d rows and was suspended", step, len(rows))
		}
	}
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	if m, err := front.Receive(); err != nil {
		t.Fatal(err)
	} else if _, ok := m.(*pgproto3.ReadyForQuery); !ok {
		t.Fatalf("after Sync came %T", m)
	}
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprint(i)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the steps make %d rows that are not the whole of %d", len(got), n)
	}
}

// readStep reads the answer to one Execute.
func readStep(t *testing.T, front *pgproto3.Frontend) (rows []string, end pgproto3.BackendMessage) {
	for {
		m, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			rows = append(rows, string(m.Values[0]))
		case *pgproto3.CommandComplete, *pgproto3.PortalSuspended:
			return rows, m
		case *pgproto3.ErrorResponse:
			t.Fatalf("%s %s", m.Code, m.Message)
		}
	}
}

// TestManyParameters binds as many parameters as the protocol can count (W-25).
func TestManyParameters(t *testing.T) {
	duck, declare := numbers(3)
	w := newWorld(t, duck)
	exec(t, w.through, declare)
	conn := connect(t, w.through)
	for from, n := range map[string]int{"": 65535, " FROM numbers WHERE i = 0": 8000} { // planning ours takes longer
		sql := []byte("SELECT (array[")
		params := make([][]byte, n)
		for i := range params {
			if i > 0 {
				sql = append(sql, ',')
			}
			sql = fmt.Appendf(sql, "$%d::int", i+1)
			params[i] = []byte("7")
		}
		sql = fmt.Appendf(sql, "])[%d]%s", n, from)
		r := conn.PgConn().ExecParams(timed(t), string(sql), params, nil, nil, nil).Read()
		if r.Err != nil {
			t.Fatalf("with %q: %v", from, r.Err)
		}
		if len(r.Rows) != 1 || string(r.Rows[0][0]) != "7" {
			t.Errorf("with %q: got %q", from, r.Rows)
		}
	}
}

// TestPortalsAlternate keeps many portals open at once in one session and reads them in turn.
func TestPortalsAlternate(t *testing.T) {
	duck, declare := numbers(4000)
	w := newWorld(t, duck)
	exec(t, w.through, declare)
	conn := connect(t, w.through)
	want(t, conn, "BEGIN", "BEGIN")
	const cursors = 8
	for i := range cursors {
		want(t, conn, fmt.Sprintf("DECLARE c%d CURSOR FOR SELECT i FROM numbers WHERE i %% %d = %d ORDER BY i", i, cursors, i), "DECLARE CURSOR")
	}
	for row := range 100 {
		for i := range cursors {
			want(t, conn, fmt.Sprintf("FETCH c%d", i), fmt.Sprint(row*cursors+i))
		}
	}
	want(t, conn, "COMMIT", "COMMIT")
}
