package tests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// pipeline sends messages in one write, and a Sync where the last is none, and tells what comes back up to ReadyForQuery.
func pipeline(t *testing.T, conn *pgx.Conn, messages ...pgproto3.FrontendMessage) string {
	t.Helper()
	front := conn.PgConn().Frontend()
	syncs := 0
	for _, m := range messages {
		front.Send(m)
		if _, ok := m.(*pgproto3.Sync); ok {
			syncs++
		}
	}
	if syncs == 0 {
		front.Send(&pgproto3.Sync{})
		syncs++
	}
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := conn.PgConn().Conn().SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.PgConn().Conn().SetReadDeadline(time.Time{}) }()
	var b strings.Builder
	for syncs > 0 {
		m, err := front.Receive()
		if err != nil {
			t.Fatalf("after %s: %v", b.String(), err)
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			fmt.Fprintf(&b, "D%q ", m.Values)
		case *pgproto3.CommandComplete:
			fmt.Fprintf(&b, "C(%s) ", m.CommandTag)
		case *pgproto3.ErrorResponse:
			b.WriteString("E(" + fault(pgconn.ErrorResponseToPgError(m)) + ") ")
		case *pgproto3.RowDescription:
			b.WriteString("T(")
			for _, f := range m.Fields {
				fmt.Fprintf(&b, "%s:%d:%d ", f.Name, min(f.DataTypeOID, 16384), f.Format)
			}
			b.WriteString(") ")
		case *pgproto3.ParameterDescription:
			fmt.Fprintf(&b, "t%v ", m.ParameterOIDs)
		case *pgproto3.ReadyForQuery:
			fmt.Fprintf(&b, "Z%c ", m.TxStatus)
			syncs--
		case *pgproto3.PortalSuspended, *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.CloseComplete:
			b.WriteString(kindOf(m) + " ")
		default:
			fmt.Fprintf(&b, "%T ", m)
		}
	}
	return b.String()
}

// statement is Parse, Bind and Execute of one statement by the unnamed names.
func statement(sql string, parameters ...string) []pgproto3.FrontendMessage {
	bind := &pgproto3.Bind{}
	for _, p := range parameters {
		bind.Parameters = append(bind.Parameters, []byte(p))
	}
	return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: sql}, bind, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}}
}

func messages(lists ...[]pgproto3.FrontendMessage) []pgproto3.FrontendMessage {
	var all []pgproto3.FrontendMessage
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func one(m ...pgproto3.FrontendMessage) []pgproto3.FrontendMessage { return m }

// TestWriteExtended runs DML by the extended protocol: the messages that come back are those of plain tables.
func TestWriteExtended(t *testing.T) {
	_, p := newPair(t)
	syncMessage := one(&pgproto3.Sync{})
	returning := "INSERT INTO other (id, label) SELECT g, $1 || g FROM generate_series(1, $2::int) g RETURNING id, label"
	for _, step := range []struct {
		name string
		list []pgproto3.FrontendMessage
	}{
		{"parameters", statement("INSERT INTO item (id, name, price, tags, made, ok) VALUES ($1, $2, $3, $4, $5, $6)", "1", "one", "1.50", "{a,b}", "2024-01-01 00:00:00+00", "t")},
		{"binary", one(&pgproto3.Parse{Query: "INSERT INTO item (id, ok) VALUES ($1, $2) RETURNING id, ok, made, name"},
			&pgproto3.Bind{ParameterFormatCodes: []int16{1}, Parameters: [][]byte{{0, 0, 0, 2}, {1}}, ResultFormatCodes: []int16{1, 1, 1, 0}},
			&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{})},
		{"describe", one(&pgproto3.Parse{Name: "ins", Query: returning}, &pgproto3.Describe{ObjectType: 'S', Name: "ins"})},
		{"limits", messages(one(&pgproto3.Bind{PreparedStatement: "ins", Parameters: [][]byte{[]byte("row "), []byte("7")}}),
			one(&pgproto3.Execute{MaxRows: 2}, &pgproto3.Execute{MaxRows: 5}, &pgproto3.Execute{}, &pgproto3.Execute{}))},
		{"limit and leave", one(&pgproto3.Bind{PreparedStatement: "ins", Parameters: [][]byte{[]byte("left "), []byte("7")}}, &pgproto3.Execute{MaxRows: 1})},
		{"none", one(&pgproto3.Bind{PreparedStatement: "ins", Parameters: [][]byte{nil, nil}}, &pgproto3.Execute{MaxRows: 1})},
		{"two portals", messages(statement("BEGIN"),
			one(&pgproto3.Bind{DestinationPortal: "a", PreparedStatement: "ins", Parameters: [][]byte{[]byte("a "), []byte("3")}},
				&pgproto3.Bind{DestinationPortal: "b", PreparedStatement: "ins", Parameters: [][]byte{[]byte("b "), []byte("3")}},
				&pgproto3.Execute{Portal: "a", MaxRows: 1}, &pgproto3.Execute{Portal: "b", MaxRows: 2}, &pgproto3.Execute{Portal: "a"}, &pgproto3.Execute{Portal: "b"},
				&pgproto3.Close{ObjectType: 'P', Name: "a"}), statement("SELECT count(*) FROM other"), statement("COMMIT"))},
		{"pipeline", messages(statement("INSERT INTO item (id) VALUES ($1)", "3"), statement("INSERT INTO item (id) VALUES ($1)", "4"), statement("SELECT count(*) FROM item"))},
		{"pipeline fails", messages(statement("INSERT INTO item (id) VALUES (5)"), statement("INSERT INTO item (id, price) VALUES (6, -1)"), statement("INSERT INTO item (id) VALUES (7)"))},
		{"fails at home", messages(statement("INSERT INTO item (id) VALUES (5)"), statement("SELECT 1 / 0"), statement("INSERT INTO item (id) VALUES (7)"))},
		{"group after", messages(statement("INSERT INTO item (id) VALUES (8)"), syncMessage, statement("SELECT 1 / 0"), syncMessage, statement("INSERT INTO item (id) VALUES (9)"), syncMessage)},
		{"block", messages(statement("BEGIN"), statement("INSERT INTO item (id) VALUES (10)"), syncMessage, statement("UPDATE item SET name = $1 WHERE id = 10", "ten"), statement("COMMIT"), syncMessage)},
		{"block fails", messages(statement("BEGIN"), statement("INSERT INTO item (id) VALUES (11)"), syncMessage, statement("SELECT 1 / 0"), syncMessage, statement("COMMIT"), syncMessage)},
		{"block rolls back", messages(statement("BEGIN"), statement("DELETE FROM item"), statement("ROLLBACK"), statement("SELECT count(*) FROM item"))},
		{"copy", one(&pgproto3.Parse{Query: "COPY other FROM STDIN"}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{},
			&pgproto3.CopyData{Data: []byte("50\tby copy\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})},
		{"copy fails", one(&pgproto3.Parse{Query: "COPY other FROM STDIN"}, &pgproto3.Bind{}, &pgproto3.Execute{},
			&pgproto3.CopyData{Data: []byte("x\tby copy\n")}, &pgproto3.CopyData{Data: []byte("51\tby copy\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})},
		{"copy given up", one(&pgproto3.Parse{Query: "COPY other FROM STDIN"}, &pgproto3.Bind{}, &pgproto3.Execute{},
			&pgproto3.CopyData{Data: []byte("51\tby copy\n")}, &pgproto3.CopyFail{Message: "no more"}, &pgproto3.Sync{})},
		{"truncate", messages(statement("TRUNCATE other"), statement("SELECT count(*) FROM other"))},
		{"bad parameter", messages(statement("INSERT INTO item (id) VALUES ($1)", "x"))},
		{"record", one(&pgproto3.Parse{Query: "INSERT INTO item (id) VALUES (12) RETURNING ROW(id, name), item"}, &pgproto3.Bind{}, &pgproto3.Execute{})},
	} {
		want, got := pipeline(t, p.plain, step.list...), pipeline(t, p.foreign, step.list...)
		if got != want {
			t.Errorf("%s\nforeign: %s\n  plain: %s", step.name, got, want)
		}
		p.compare(t, step.name)
	}
}

// TestWritePreparedCommit ends a block by statements that were prepared before it began to write, as drivers do: the
// foreign server takes part.
func TestWritePreparedCommit(t *testing.T) {
	_, p := newPair(t)
	var prepare []pgproto3.FrontendMessage
	for _, sql := range []string{"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "INSERT INTO item (id) VALUES ($1)"} {
		prepare = append(prepare, &pgproto3.Parse{Name: strings.Fields(sql)[0], Query: sql})
	}
	pipeline(t, p.foreign, prepare...)
	call := func(name string, parameters ...string) []pgproto3.FrontendMessage {
		bind := &pgproto3.Bind{PreparedStatement: name}
		for _, v := range parameters {
			bind.Parameters = append(bind.Parameters, []byte(v))
		}
		return one(bind, &pgproto3.Execute{})
	}
	for _, step := range []struct {
		list []pgproto3.FrontendMessage
		want string
	}{
		{messages(call("BEGIN"), call("INSERT", "1"), call("COMMIT")), "2 C(BEGIN) 2 C(INSERT 0 1) 2 C(COMMIT) ZI "},
		{messages(call("BEGIN"), call("INSERT", "2"), call("ROLLBACK")), "2 C(BEGIN) 2 C(INSERT 0 1) 2 C(ROLLBACK) ZI "},
		{messages(call("BEGIN"), call("COMMIT")), "2 C(BEGIN) 2 C(COMMIT) ZI "},
		{messages(call("BEGIN"), call("INSERT", "3")), "2 C(BEGIN) 2 C(INSERT 0 1) ZT "},
		{call("COMMIT"), "2 C(COMMIT) ZI "},
		{messages(call("BEGIN"), call("SAVEPOINT"), call("ROLLBACK")), "2 C(BEGIN) 2 C(SAVEPOINT) 2 C(ROLLBACK) ZI "},
	} {
		if got := pipeline(t, p.foreign, step.list...); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
	if got := pipeline(t, p.foreign, messages(call("BEGIN"), call("INSERT", "4"), call("SAVEPOINT"))...); got != "2 C(BEGIN) 2 C(INSERT 0 1) 2 C(SAVEPOINT) ZT " {
		t.Errorf("a savepoint in a writing transaction: %s", got)
	}
	want(t, p.foreign, "ROLLBACK; SELECT id FROM item ORDER BY id", "ROLLBACK\n1\n3")
}
