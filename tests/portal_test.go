package tests

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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

// TestManyParameters binds as many parameters as the protocol can count (W-25): at home, shipped to the engine, and in a
// statement that home computes. One that cannot be read is named by its number.
func TestManyParameters(t *testing.T) {
	duck, declare := numbers(3)
	w := newWorld(t, duck)
	exec(t, w.through, declare, "CREATE TABLE plain AS SELECT generate_series(0, 2) AS i")
	plain, foreign := connect(t, w.direct), connect(t, w.through)
	const n = 65535
	var list strings.Builder
	params := make([][]byte, n)
	for i := range params {
		if i > 0 {
			list.WriteString(",")
		}
		fmt.Fprintf(&list, "$%d", i+1)
		params[i] = []byte("1")
	}
	ask := func(conn *pgx.Conn, sql string, params [][]byte) string {
		r := conn.PgConn().ExecParams(timed(t), sql, params, nil, nil, nil).Read()
		var pe *pgconn.PgError
		if errors.As(r.Err, &pe) {
			return pe.Code + " " + pe.Message + " " + pe.Where
		}
		return fmt.Sprintf("%q %v", r.Rows, r.Err)
	}
	bad := slices.Clone(params)
	bad[n-2] = []byte("x")
	for _, sql := range []string{"SELECT (array[%])[65535]::int FROM TABLE WHERE i = 0", "SELECT count(*) FROM TABLE WHERE i IN (%)", "SELECT count(DISTINCT chr(i + 65)) FROM TABLE WHERE i IN (%)"} {
		sql = strings.Replace(sql, "%", strings.Replace(list.String(), "$1", "$1::int", 1), 1)
		for _, params := range [][][]byte{params, bad} {
			a, b := ask(plain, strings.Replace(sql, "TABLE", "plain", 1), params), ask(foreign, strings.Replace(sql, "TABLE", "numbers", 1), params)
			if c := ask(foreign, strings.Replace(sql, "TABLE", "plain", 1), params); a != b || a != c {
				t.Errorf("%.40s\nplain:   %s\nforeign: %s\nthrough: %s", sql, a, b, c)
			}
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

// TestPortalSteps reads one portal by Execute with limits of any size, by FETCH and past rows by MOVE, mixed: no row comes
// twice and none is left out, though rows are written before they are asked for.
func TestPortalSteps(t *testing.T) {
	const n = 20_000
	duck, declare := numbers(n)
	w := newWorld(t, duck)
	exec(t, w.through, declare)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			conn := connect(t, w.through)
			want(t, conn, "BEGIN", "BEGIN")
			front := conn.PgConn().Frontend()
			front.Send(&pgproto3.Parse{Query: "SELECT i FROM numbers ORDER BY i"})
			front.Send(&pgproto3.Bind{DestinationPortal: "p"})
			for at := 0; at < n; {
				step := 1 + random.IntN(1<<(1+random.IntN(11)))
				rows := min(step, n-at)
				switch random.IntN(8) {
				case 0:
					front.Send(&pgproto3.Query{String: fmt.Sprintf("FETCH %d FROM p", step)})
				case 1:
					front.Send(&pgproto3.Query{String: fmt.Sprintf("MOVE %d FROM p", step)})
					at, rows = at+rows, 0
				default:
					front.Send(&pgproto3.Execute{Portal: "p", MaxRows: uint32(step)})
					front.Send(&pgproto3.Sync{})
				}
				if err := front.Flush(); err != nil {
					t.Fatal(err)
				}
				got := readToReady(t, front)
				if len(got) != rows {
					t.Fatalf("seed %d: %d rows behind row %d, want %d", seed, len(got), at, rows)
				}
				for _, row := range got {
					if row != fmt.Sprint(at) {
						t.Fatalf("seed %d: row %s where %d is next", seed, row, at)
					}
					at++
				}
			}
		})
	}
}

// readToReady reads the first values of all rows up to ReadyForQuery.
func readToReady(t *testing.T, front *pgproto3.Frontend) (rows []string) {
	t.Helper()
	for {
		m, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			rows = append(rows, string(m.Values[0]))
		case *pgproto3.ErrorResponse:
			t.Fatalf("%s %s", m.Code, m.Message)
		case *pgproto3.ReadyForQuery:
			return rows
		}
	}
}

// TestPortalErrorWaits has a row that cannot be written right behind the ones that are asked for: its error comes with the
// Execute that wants it, behind the rows before it.
func TestPortalErrorWaits(t *testing.T) {
	w := newWorld(t, "CREATE TABLE wide AS SELECT CASE i WHEN 7 THEN DATE '5880000-01-01' ELSE DATE '2000-01-01' END AS v FROM range(100) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE wide (v date) SERVER lake")
	conn := connect(t, w.through)
	want(t, conn, "BEGIN", "BEGIN")
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT v FROM wide"})
	front.Send(&pgproto3.Bind{DestinationPortal: "p"})
	for i, want := range []string{"12DDDDDsZ", "DDEZ"} {
		front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 5})
		front.Send(&pgproto3.Sync{})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		kinds := ""
		for !strings.HasSuffix(kinds, "Z") {
			m, err := front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := m.(*pgproto3.ErrorResponse); ok && e.Code != "22008" {
				t.Errorf("%s %s", e.Code, e.Message)
			}
			kinds += kindOf(m)
		}
		if kinds != want {
			t.Errorf("step %d: %s, want %s", i, kinds, want)
		}
	}
}
