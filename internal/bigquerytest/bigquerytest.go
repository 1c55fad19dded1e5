// Package bigquerytest runs bqemulator, an emulator of BigQuery from PyPI that others have written: what it answers is not made by
// those who read it. It has both APIs, and no logins.
package bigquerytest

import (
	"bytes"
	_ "embed" // the requirements
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicedb/sluice/internal/registry"
)

// Project is one that the emulator has.
const Project = "emulated"

//go:embed requirements.txt
var requirements []byte

// Emulator is one that runs.
type Emulator struct {
	URL     string // of its REST API, with results in tables
	Address string // of its Storage Read API
	own     string // URL of the REST API as it is
}

// Start runs an emulator until the test ends, which is skipped where none is to be had.
func Start(tb testing.TB) *Emulator {
	tb.Helper()
	registry.Need(tb)
	python, err := registry.Python("bqemulator", requirements)
	if err != nil {
		tb.Skipf("no bqemulator: %v", err)
	}
	home := filepath.Join(filepath.Dir(python), "..", "home") // where its DuckDB looks for extensions, which come from PyPI too
	if err := extend(python, home); err != nil {
		tb.Skipf("no extension for bqemulator's DuckDB: %v", err)
	}
	web, err := registry.FreePort()
	rows, err2 := registry.FreePort()
	if err = errors.Join(err, err2); err != nil {
		tb.Fatal(err)
	}
	log := registry.Daemon(tb, []string{"HOME=" + home}, python, "-m", "bqemulator", "start", "--rest-port", web, "--grpc-port", rows, "--project", Project, "--log-level", "warning")
	e := &Emulator{own: "http://127.0.0.1:" + web, Address: "127.0.0.1:" + rows}
	for end := time.Now().Add(startTimeout); ; time.Sleep(100 * time.Millisecond) { // it tells nobody that it is ready
		if _, err = e.post("/queries", map[string]any{"query": "SELECT 1", "useLegacySql": false}); err == nil {
			e.materialize(tb)
			return e
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(log)
			tb.Fatalf("bqemulator does not answer: %v\n%s", err, said)
		}
	}
}

// startTimeout bounds the start on a busy machine.
const startTimeout = 2 * time.Minute

// extend puts the extension where DuckDB looks for it, once.
func extend(python, home string) error {
	done := filepath.Join(home, "extended")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if _, err := registry.Run(home, "env", "HOME="+home, python, "-c", "import duckdb_extensions as d; d.import_extension('spatial')"); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

func (e *Emulator) post(path string, body any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	resp, err := http.Post(e.own+"/bigquery/v2/projects/"+Project+path, "application/json", bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var a struct {
		Errors []struct{ Message string } `json:"errors"`
	}
	if err := json.Unmarshal(said, &a); err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d: %s", resp.StatusCode, said)
	}
	if len(a.Errors) > 0 {
		return "", errors.New(a.Errors[0].Message)
	}
	return string(said), nil
}

// Dataset makes a dataset, and tables of it from their descriptions as the REST API has them.
func (e *Emulator) Dataset(tb testing.TB, name string, tables ...map[string]any) {
	tb.Helper()
	if _, err := e.post("/datasets", map[string]any{"datasetReference": map[string]string{"projectId": Project, "datasetId": name}}); err != nil {
		tb.Fatal(err)
	}
	for _, t := range tables {
		if _, err := e.post("/datasets/"+name+"/tables", t); err != nil {
			tb.Fatal(err)
		}
	}
}

// Exec runs statements.
func (e *Emulator) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := e.post("/queries", map[string]any{"query": sql, "useLegacySql": false}); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}
