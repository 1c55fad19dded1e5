package duckdb

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
)

func TestSQLSTATE(t *testing.T) {
	e := database(t, nil, "CREATE TABLE t(a INTEGER)")
	for _, tc := range []struct{ sql, code, message string }{
		{"SELECT * FROM nope", "42P01", "Table with name nope does not exist!"},
		{"SELECT * FROM s.nope", "42P01", ""},
		{"SELECT nope FROM t", "42703", `Referenced column "nope" not found in FROM clause!`},
		{"SELECT t.nope FROM t", "42703", ""},
		{"SELECT nofn(1)", "42883", ""},
		{"SELEKT", "42601", `syntax error at or near "SELEKT"`},
		{"SELECT 'a'::INTEGER", "22P02", "Could not convert string 'a' to INT32"},
		{"SELECT '300'::TINYINT", "22003", ""},
		{"SELECT 300::TINYINT", "22003", ""},
		{"SELECT '99999999999999999999'::BIGINT", "22003", ""},
		{"SELECT 9223372036854775807 + 1", "22003", "bigint out of range"},
		{"SELECT 100::DECIMAL(3,2)", "22003", ""},
		{"SELECT DATE '2024-13-01'", "22008", ""},
		{"SELECT 'soon'::DATE", "22007", ""},
		{"SELECT 'soon'::TIMESTAMP", "22007", ""},
		{"SELECT 'soon'::TIMESTAMPTZ", "22007", ""},
		{"SELECT 'soon'::INTERVAL", "22007", ""},
		{"SELECT 'x'::BOOLEAN", "22P02", ""},
		{"SELECT 'x'::UUID", "22P02", ""},
		{"SELECT error('Division by zero!')", "22012", "Division by zero!"},
		{"SELECT sqrt(-1)", "2201F", ""},
		{"SELECT ln(0)", "2201E", ""},
		{"SELECT error('boom')", "HV000", "boom"},
	} {
		s, err := e.Open(t.Context(), engines.Query{SQL: tc.sql})
		if err == nil {
			_, err = drain(s)
			s.Close()
		}
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != tc.code || tc.message != "" && pe.Message != tc.message {
			t.Errorf("%s: %v", tc.sql, err)
			continue
		}
		if strings.Contains(pe.Message, "LINE") || strings.Contains(pe.Message, "Did you") || strings.Contains(pe.Message, "Error:") {
			t.Errorf("%s: trailer in %q", tc.sql, pe.Message)
		}
		if !strings.Contains(pe.Where, "lake") {
			t.Errorf("%s: the error does not name the server: %q", tc.sql, pe.Where)
		}
	}
}

func TestMissingFiles(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for _, options := range []map[string]string{{"database": gone}, {"database": gone, "read_only": "false"}, {"directory": gone}} {
		e := server(t, options)
		err := e.Ping(t.Context())
		if code(err) != "58P01" || !strings.Contains(err.Error(), gone) {
			t.Errorf("%v: %v", options, err)
		}
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("a missing database was created")
	}
	dir := t.TempDir()
	e := server(t, map[string]string{"directory": dir})
	_, err := e.Open(t.Context(), engines.Query{SQL: "SELECT * FROM read_parquet('" + dir + "/a.parquet')"})
	if code(err) != "58P01" || !strings.Contains(err.Error(), "a.parquet") {
		t.Error(err)
	}
	if err := server(t, map[string]string{"database": dir}).Ping(t.Context()); code(err) != "HV00N" {
		t.Error(err)
	}
}

// A file that vanishes while the instance is open is noticed, and one that comes back is read anew.
func TestFileVanishesAndComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.duckdb")
	build(t, path, "CREATE TABLE t AS SELECT 1 AS a FROM range(5000)")
	e := server(t, map[string]string{"database": path})
	old, err := e.Open(t.Context(), engines.Query{SQL: "SELECT a FROM t"})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := e.Ping(t.Context()); code(err) != "58P01" {
		t.Error(err)
	}
	build(t, path, "CREATE TABLE t AS SELECT 2 AS a")
	if _, rows := read(t, e, "SELECT a FROM t"); rows[0][0] != "2" {
		t.Error(rows)
	}
	if rows, err := drain(old); err != nil || len(rows) != 5000 || rows[0][0] != "1" {
		t.Errorf("the stream of the old file: %d rows, %v", len(rows), err)
	}
}

func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	whole, cut := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "cut.parquet")
	build(t, "", "COPY (SELECT i, md5(i::VARCHAR) s FROM range(50000) t(i)) TO '"+whole+"'")
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	write(t, cut, data[:len(data)/2])
	write(t, filepath.Join(dir, "empty.parquet"), nil)
	e := server(t, map[string]string{"directory": dir})
	for _, file := range []string{"cut.parquet", "empty.parquet"} {
		_, err := e.Open(t.Context(), engines.Query{SQL: "SELECT * FROM read_parquet('" + filepath.Join(dir, file) + "')"})
		if code(err) != "58030" || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
	// Damage in the middle is found only when it is read.
	for i := len(data) / 4; i < len(data)/2; i++ {
		data[i] ^= 0x5a
	}
	write(t, cut, data)
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT * FROM read_parquet('" + cut + "')"})
	if err == nil {
		_, err = drain(s)
		s.Close()
	}
	if err == nil {
		t.Error("a damaged file was read")
	}
	bad := filepath.Join(dir, "bad.duckdb")
	write(t, bad, []byte(strings.Repeat("not a database ", 1000)))
	if err := server(t, map[string]string{"database": bad}).Ping(t.Context()); code(err) != "58030" || !strings.Contains(err.Error(), bad) {
		t.Error(err)
	}
}

// lockEnv tells a child process which database to hold open for writing.
const lockEnv = "SLUICE_TEST_LOCK"

func TestLockedByAnotherProcess(t *testing.T) {
	if path := os.Getenv(lockEnv); path != "" {
		holdLock(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "a.duckdb")
	build(t, path, "CREATE TABLE t(a INTEGER)")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockedByAnotherProcess$")
	cmd.Env = append(os.Environ(), lockEnv+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 6)
	if _, err := out.Read(ready); err != nil {
		t.Fatal(err)
	}
	e := server(t, map[string]string{"database": path})
	err = e.Ping(t.Context())
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "55006" || pe.Hint == "" || !strings.Contains(pe.Message, path) {
		t.Errorf("%+v", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Error("the engine does not recover:", err)
	}
}

// holdLock keeps the database open for writing until stdin ends.
func holdLock(t *testing.T, path string) {
	e := server(t, map[string]string{"database": path, "read_only": "false"})
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("ready\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// Servers on one file share an instance when their options agree.
func TestTwoServersOnOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.duckdb")
	build(t, path, "CREATE TABLE t(a INTEGER)")
	a := server(t, map[string]string{"database": path})
	b := server(t, map[string]string{"database": path})
	c := server(t, map[string]string{"database": path, "read_only": "false"})
	for _, e := range []engines.Engine{a, b} {
		if err := e.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if a.(*Engine).current != b.(*Engine).current {
		t.Error("two instances of one file")
	}
	if err := c.Ping(t.Context()); code(err) != "55006" {
		t.Error(err)
	}
	a.Close()
	b.Close()
	if err := c.Ping(t.Context()); err != nil {
		t.Error("the file stays open:", err)
	}
}
