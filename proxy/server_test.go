package proxy

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/proxy/startup"
)

// TestSameProcessID registers sessions to which two servers have given one process ID: neither hides the other.
func TestSameProcessID(t *testing.T) {
	server, err := NewServer(Config{Home: &pgconn.Config{}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := &Session{login: &startup.Result{PID: 7}, database: "d"}, &Session{login: &startup.Result{PID: 7}, database: "d"}
	if !server.register(a) || !server.register(b) {
		t.Fatal("not registered")
	}
	if got := server.sessionsOf(7); !slices.Equal(got, []*Session{a, b}) {
		t.Errorf("both are there, got %v", got)
	}
	server.unregister(a)
	if got := server.sessionsOf(7); !slices.Equal(got, []*Session{b}) || !server.serves("d") {
		t.Errorf("one has left, got %v", got)
	}
	server.unregister(b)
	if got := server.sessionsOf(7); len(got) != 0 || len(server.sessions) != 0 || server.serves("d") {
		t.Errorf("both have left, got %v", got)
	}
}
