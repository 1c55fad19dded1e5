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
	"os/exec"
	"path/filepath"
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
	python, err := install()
	if err != nil {
		tb.Skipf("no fakesnow: %v", err)
	}
	s := &Server{Host: "127.0.0.1"}
	if s.Port, err = freePort(); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `"$0" -m fakesnow -s -p "$1" >log 2>&1 & read -r _; kill -9 $!`, python, s.Port)
	cmd.Dir = tb.TempDir()
	life, err := cmd.StdinPipe() // which ends with this process
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = life.Close()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) { // it tells nobody that it is ready
		if err = s.login(); err == nil {
			return s
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(filepath.Join(cmd.Dir, "log"))
			tb.Fatalf("fakesnow does not answer: %v\n%s", err, said)
		}
	}
}

// startTimeout bounds the start on a busy machine.
const startTimeout = 2 * time.Minute

// install makes a Python environment that has what the requirements say.
func install() (python string, err error) {
	dir, unlock, err := registry.Cache("fakesnow")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	env, list := filepath.Join(dir, "env"), filepath.Join(dir, "requirements.txt")
	python = filepath.Join(env, "bin", "python")
	if have, err := os.ReadFile(list); err == nil && bytes.Equal(have, requirements) {
		return python, nil
	}
	if err := errors.Join(os.RemoveAll(env), os.RemoveAll(list)); err != nil {
		return "", err
	}
	if _, err := registry.Run(dir, "python3", "-m", "venv", env); err != nil {
		return "", err
	}
	wanted := filepath.Join(dir, "wanted.txt")
	if err := os.WriteFile(wanted, requirements, 0o644); err != nil {
		return "", err
	}
	if _, err := registry.Run(dir, python, "-m", "pip", "install", "--quiet", "--requirement", wanted); err != nil {
		return "", err
	}
	return python, os.Rename(wanted, list)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

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
