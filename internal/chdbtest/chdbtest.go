// Package chdbtest runs a current ClickHouse: chdb from PyPI, which is ClickHouse as a library, behind an endpoint that speaks the
// HTTP interface. The endpoint reads requests and writes answers; all that statements and blocks are is chdb's.
package chdbtest

import (
	_ "embed" // the endpoint and its requirements
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/internal/registry"
)

//go:embed requirements.txt
var requirements []byte

//go:embed endpoint.py
var endpoint []byte

// The one user that there is.
const (
	User     = "analyst"
	Password = "secret"
)

// Server is an endpoint that runs.
type Server struct{ Host, Port string }

// Start runs an endpoint until the test ends, which is skipped where none is to be had.
func Start(tb testing.TB) *Server {
	tb.Helper()
	registry.Need(tb)
	python, err := registry.Python("chdb", requirements)
	if err != nil {
		tb.Skipf("no chdb: %v", err)
	}
	dir := tb.TempDir()
	script := filepath.Join(dir, "endpoint.py")
	if err := os.WriteFile(script, endpoint, 0o644); err != nil {
		tb.Fatal(err)
	}
	s := &Server{Host: "127.0.0.1"}
	if s.Port, err = registry.FreePort(); err != nil {
		tb.Fatal(err)
	}
	log := registry.Daemon(tb, nil, python, script, s.Port, filepath.Join(dir, "data"), User, Password)
	for end := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) { // it tells nobody that it is ready
		if _, err = s.ask("SELECT 1"); err == nil {
			return s
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(log)
			tb.Fatalf("chdb does not answer: %v\n%s", err, said)
		}
	}
}

// startTimeout bounds the start on a busy machine.
const startTimeout = 2 * time.Minute

// Run runs statements, each on its own.
func (s *Server) Run(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := s.ask(sql); err != nil {
			tb.Fatalf("%.200s: %v", sql, err)
		}
	}
}

// Running says how many statements of Sluice the server runs.
func (s *Server) Running(tb testing.TB) int {
	tb.Helper()
	answer, err := s.ask("SELECT query FROM system.processes WHERE startsWith(query, '/* sluice-')")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Count(answer, "\n")
}

// ask returns what the server answers to a statement, as tabs between values.
func (s *Server) ask(sql string) (string, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+net.JoinHostPort(s.Host, s.Port)+"/", strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	req.Header.Set("X-ClickHouse-User", User)
	req.Header.Set("X-ClickHouse-Key", Password)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = errors.New(strings.TrimSpace(string(body)))
	}
	return string(body), err
}
