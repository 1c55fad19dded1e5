package trinotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// page is an answer of the server's.
type page struct {
	NextURI string  `json:"nextUri"`
	Data    [][]any `json:"data"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// ask runs a statement to its end and returns its rows.
func (s *Server) ask(sql string) (rows [][]any, err error) {
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	method, url, body := http.MethodPost, "http://"+s.Address()+"/v1/statement", sql
	for url != "" {
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("X-Trino-User", "test")
		req.Header.Set("X-Trino-Time-Zone", "UTC")
		req.Header.Set("X-Trino-Client-Capabilities", "PARAMETRIC_DATETIME") // else times are rounded to milliseconds
		p, err := send(&client, req)
		if err != nil {
			return nil, err
		}
		rows = append(rows, p.Data...)
		method, url, body = http.MethodGet, p.NextURI, ""
	}
	return rows, nil
}

func send(client *http.Client, req *http.Request) (*page, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	var p page
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
		return nil, err
	}
	if p.Error != nil {
		return nil, errors.New(p.Error.Message)
	}
	return &p, nil
}

// ready says why the server does not run statements yet.
func (s *Server) ready() error {
	_, err := s.ask("SELECT 1")
	return err
}

// Run runs statements, each on its own.
func (s *Server) Run(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		s.Ask(tb, sql)
	}
}

// Ask returns the rows of a statement, its values as JSON has them.
func (s *Server) Ask(tb testing.TB, sql string) [][]any {
	tb.Helper()
	rows, err := s.ask(sql)
	if err != nil {
		tb.Fatalf("%.200s: %v", sql, err)
	}
	return rows
}

// Running says how many statements of Sluice the server runs.
func (s *Server) Running(tb testing.TB) int {
	tb.Helper()
	rows := s.Ask(tb, `SELECT count(*) FROM system.runtime.queries WHERE source = 'sluice' AND state NOT IN ('FINISHED', 'FAILED', 'FINISHING')`)
	return int(rows[0][0].(float64))
}

// Postgres makes a database of a Postgres a catalog, until the test ends. The url is the driver's, such as
// jdbc:postgresql://127.0.0.1:5432/home.
func (s *Server) Postgres(tb testing.TB, catalog, url, user, password string) {
	tb.Helper()
	text := func(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }
	s.Run(tb, fmt.Sprintf(`CREATE CATALOG %s USING postgresql WITH ("connection-url" = %s, "connection-user" = %s, "connection-password" = %s)`,
		catalog, text(url), text(user), text(password)))
	tb.Cleanup(func() {
		if _, err := s.ask("DROP CATALOG " + catalog); err != nil {
			tb.Error(err)
		}
	})
}
