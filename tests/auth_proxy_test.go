package tests

import (
	"context"
	"log/slog"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// proxyConfig is what a proxy in front of home needs, changed by change.
func proxyConfig(t testing.TB, home *embedded.Home, change func(*proxy.Config)) proxy.Config {
	config, err := pgconn.ParseConfig(home.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	c := proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}}}
	change(&c)
	return c
}

// serveProxy runs a proxy with settings of its own for the length of a test and returns its address.
func serveProxy(t testing.TB, c proxy.Config) string {
	_, addr := runProxy(t, c)
	return addr
}

// runProxy serves a proxy until the test ends.
func runProxy(t testing.TB, c proxy.Config) (server *proxy.Server, addr string) {
	c.Logger = slog.New(slog.NewTextHandler(logTo(t), nil))
	server, err := proxy.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(context.Background(), listener) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != nil {
			t.Errorf("the proxy ended with %v", err)
		}
	})
	return server, listener.Addr().String()
}
