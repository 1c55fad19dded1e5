// Package sparktest runs Apache Spark, from PyPI, behind as much of Databricks' Statement Execution API as Sluice asks for: what it
// answers is computed by the engine that warehouses of Databricks are made of, with ANSI mode and a session in UTC as they have.
//
// The one rule: where PyPI or a Java that Spark runs on is missing, tests that need it are skipped, and say why.
package sparktest

import (
	"bytes"
	_ "embed" // the program and what it needs
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/internal/registry"
)

var (
	//go:embed requirements.txt
	requirements []byte
	//go:embed warehouse.py
	program []byte
)

// What the warehouse accepts, and its only catalog.
const (
	Token     = "spark-token"
	Warehouse = "spark-warehouse"
	Catalog   = "spark_catalog"
)

// Server is a warehouse that runs.
type Server struct{ URL string }

// Start runs a warehouse until the test ends, which is skipped where none is to be had.
func Start(tb testing.TB) *Server {
	tb.Helper()
	registry.Need(tb)
	if _, err := exec.LookPath("java"); err != nil {
		tb.Skip("no Spark: there is no java on this machine (Debian package openjdk-17-jre-headless)")
	}
	python, err := registry.Python("spark", requirements)
	if err != nil {
		tb.Skipf("no Spark: %v", err)
	}
	port, err := registry.FreePort()
	script := filepath.Join(tb.TempDir(), "warehouse.py")
	if err = errors.Join(err, os.WriteFile(script, program, 0o600)); err != nil {
		tb.Fatal(err)
	}
	log := registry.Daemon(tb, []string{"PYTHONUNBUFFERED=1"}, python, script, port)
	s := &Server{URL: "http://127.0.0.1:" + port}
	for end := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) { // it tells nobody that it is ready
		if err = s.run("SELECT 1"); err == nil {
			return s
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(log)
			tb.Fatalf("Spark does not answer: %v\n%s", err, said)
		}
	}
}

// startTimeout bounds the start on a busy machine.
const startTimeout = 2 * time.Minute

// Exec runs statements.
func (s *Server) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if err := s.run(sql); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}

func (s *Server) run(sql string) error {
	text, err := json.Marshal(map[string]string{"warehouse_id": Warehouse, "statement": sql})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, s.URL+"/api/2.0/sql/statements", bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+Token)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var a struct {
		Status struct {
			State string
			Error struct{ Message string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return err
	}
	if a.Status.State != "SUCCEEDED" {
		message, _, _ := strings.Cut(a.Status.Error.Message, "\n== SQL")
		return fmt.Errorf("%s: %s", resp.Status, message)
	}
	return nil
}
