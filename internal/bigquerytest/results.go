package bigquerytest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// results is the dataset that results are in.
const results = "results_of_jobs"

// materialize stands before the emulator and has each job write its result into a table, as the service does and the emulator does
// not: its Storage Read API reads tables alone.
func (e *Emulator) materialize(tb testing.TB) {
	tb.Helper()
	e.Dataset(tb, results)
	to, err := url.Parse(e.own)
	if err != nil {
		tb.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(to)
	before := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/jobs") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			body = intoTable(body)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		behind.ServeHTTP(w, r)
	}))
	tb.Cleanup(before.Close)
	e.URL = before.URL
}

// intoTable makes a job of a SELECT one that makes a table of it.
func intoTable(order []byte) []byte {
	var job map[string]any
	if json.Unmarshal(order, &job) != nil {
		return order
	}
	reference, _ := job["jobReference"].(map[string]any)
	configuration, _ := job["configuration"].(map[string]any)
	query, _ := configuration["query"].(map[string]any)
	id, _ := reference["jobId"].(string)
	text, _ := query["query"].(string)
	if id == "" || text == "" || configuration["dryRun"] == true {
		return order
	}
	query["query"] = "CREATE TABLE `" + Project + "`.`" + results + "`.`" + strings.ReplaceAll(id, "-", "_") + "` AS " + text
	changed, err := json.Marshal(job)
	if err != nil {
		return order
	}
	return changed
}
