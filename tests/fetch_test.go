package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// fetchOn fetches more rows of the portal that suspend has left, each few with a Sync, until enough says so or the
// session ends. It returns the error that ended the session.
func fetchOn(t *testing.T, front *pgproto3.Frontend, enough func(steps int) bool) *pgproto3.ErrorResponse {
	t.Helper()
	for steps := 0; !enough(steps); steps++ {
		front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 3})
		front.Send(&pgproto3.Sync{})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		kinds := ""
		for kinds == "" || kinds[len(kinds)-1] != 'Z' {
			m, err := front.Receive()
			if err != nil {
				t.Fatalf("%v after %s", err, kinds)
			}
			if e, ok := m.(*pgproto3.ErrorResponse); ok {
				return e
			}
			if z, ok := m.(*pgproto3.ReadyForQuery); ok && z.TxStatus != 'T' {
				t.Fatalf("step %d ends in state %c", steps, z.TxStatus)
			}
			kinds += kindOf(m)
		}
		if kinds != "DDDsZ" {
			t.Fatalf("step %d: %s", steps, kinds)
		}
	}
	return nil
}

// TestFetchesAreNoIdleness fetches in small parts for longer than a session may be idle in its transaction, and then no
// more: home ends the session then, and not before.
func TestFetchesAreNoIdleness(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless)
	front := suspend(t, connect(t, w.through), "SET idle_in_transaction_session_timeout = '1s'; BEGIN")
	until := time.Now().Add(2500 * time.Millisecond)
	if e := fetchOn(t, front, func(int) bool { return time.Now().After(until) }); e != nil {
		t.Fatalf("home ended a session that was at work: %s %s", e.Code, e.Message)
	}
	m, err := front.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != "25P03" || e.Severity != "FATAL" {
		t.Errorf("got %+v", m)
	}
	streams.await(t, 0)
}

// TestFetchesEnd ends sessions, from outside, that fetch in small parts all the time.
func TestFetchesEnd(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless)
	admin := connect(t, w.direct)
	for name, c := range map[string]struct{ begin, code string }{
		"pg_terminate_backend": {"SET application_name = ''; BEGIN", "57P01"},
		"transaction_timeout":  {"SET transaction_timeout = '1s'; BEGIN", "25P04"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "transaction_timeout" && majorOf(t, w.home) < "17" {
				t.Skip("transaction_timeout came with Postgres 17")
			}
			conn := connect(t, w.through)
			front := suspend(t, conn, c.begin)
			deadline := time.Now().Add(patience)
			e := fetchOn(t, front, func(steps int) bool {
				if steps == 200 && c.code == "57P01" {
					want(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d)", conn.PgConn().PID()), "t")
				}
				return time.Now().After(deadline)
			})
			if e == nil || e.Code != c.code || e.Severity != "FATAL" {
				t.Errorf("the fetches end with %+v", e)
			}
			streams.await(t, 0)
		})
	}
}
