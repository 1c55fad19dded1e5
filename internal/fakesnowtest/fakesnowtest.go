// Package fakesnowtest runs fakesnow, an emulator of Snowflake from PyPI that others have written: what it answers is not made by those
// who read it. It has Arrow, and neither parts in storage nor logins.
package fakesnowtest

import (
	"bytes"
	_ "embed" // the requirements
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/sluicedb/sluice/internal/registry"
)

// Database is one that the server has.
const Database = "EMULATED"

//go:embed requirements.txt
var requirements []byte

// Server is an emulator that runs. It takes any user and password.
type Server struct {
	Host, Port string
	token      string
}

// Start runs an emulator until the test ends, which is skipped where none is to be had.
func Start(tb testing.TB) *Server {
	tb.Helper()
	registry.Need(tb)
	python, err := registry.Python("fakesnow", requirements)
	if err != nil {
		tb.Skipf("no fakesnow: %v", err)
	}
	s := &Server{Host: "127.0.0.1"}
	if s.Port, err = registry.FreePort(); err != nil {
		tb.Fatal(err)
	}
	log := registry.Daemon(tb, nil, python, "-m", "fakesnow", "-s", "-p", s.Port)
	for end := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) { // it tells nobody that it is ready
		if err = s.login(); err == nil {
			return s
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(log)
			tb.Fatalf("fakesnow does not answer: %v\n%s", err, said)
		}
	}
}

// startTimeout bounds the start on a busy machine.
const startTimeout = 2 * time.Minute

type answer struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Data    struct {
		Token string `json:"token"`
	} `json:"data"`
}

func (s *Server) post(path string, body any) (a answer, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return a, err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+net.JoinHostPort(s.Host, s.Port)+path, bytes.NewReader(text))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", fmt.Sprintf("Snowflake Token=%q", s.token))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if err = json.NewDecoder(resp.Body).Decode(&a); err == nil && !a.Success {
		err = errors.New(a.Message)
	}
	return a, err
}

func (s *Server) login() error {
	a, err := s.post("/session/v1/login-request?databaseName="+Database+"&schemaName=PUBLIC", map[string]any{"data": map[string]any{"SESSION_PARAMETERS": map[string]any{}}})
	s.token = a.Data.Token
	return err
}

// Exec runs statements.
func (s *Server) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := s.post("/queries/v1/query-request", map[string]any{"sqlText": sql}); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}
