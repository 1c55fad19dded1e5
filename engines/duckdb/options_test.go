package duckdb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

func TestServerOptions(t *testing.T) {
	for _, tc := range []struct {
		options map[string]string
		want    string
	}{
		{nil, "HV00B"},
		{map[string]string{"database": "a.duckdb", "directory": "d"}, "HV00D"},
		{map[string]string{"directory": "d", "read_only": "false"}, "HV00D"},
		{map[string]string{"database": "a.duckdb", "read_only": "maybe"}, "HV00D"},
		{map[string]string{"database": "a.duckdb", "read_only": "false"}, ""},
		{map[string]string{"directory": "d"}, ""},
	} {
		err := Wrapper{}.Check(engines.ServerObject, tc.options)
		if err == nil && tc.want == "" {
			continue
		}
		if code(err) != tc.want {
			t.Errorf("%v: %v", tc.options, err)
		}
	}
}

func TestTableOptions(t *testing.T) {
	for _, tc := range []struct {
		options map[string]string
		want    string
	}{
		{nil, ""},
		{map[string]string{"schema_name": "main", "table_name": "t"}, ""},
		{map[string]string{"file": "a.parquet"}, ""},
		{map[string]string{"file": "a.csv.gz", "header": "true"}, ""},
		{map[string]string{"file": "a.parquet", "glob": "*.csv"}, "HV00D"},
		{map[string]string{"file": "a.parquet", "table_name": "t"}, "HV00D"},
		{map[string]string{"file": "a.dat"}, "HV00B"},
		{map[string]string{"file": "a.dat", "format": "csv"}, ""},
		{map[string]string{"format": "csv"}, "HV00D"},
	} {
		err := Wrapper{}.Check(engines.TableObject, tc.options)
		if err == nil && tc.want == "" {
			continue
		}
		if code(err) != tc.want {
			t.Errorf("%v: %v", tc.options, err)
		}
	}
}

// What each option's own check lets through.
func TestOptionValues(t *testing.T) {
	for _, tc := range []struct {
		kind         engines.ObjectKind
		option       string
		good, refuse []string
	}{
		{engines.ServerObject, "database", []string{"/data/a.duckdb", "a"}, []string{"", ":memory:", "s3://b/a.duckdb", "a\x00b"}},
		{engines.ServerObject, "memory_limit", []string{"500MB", "1.5 GiB", "4gb"}, []string{"", "80%", "-1GB", "lots"}},
		{engines.ServerObject, "threads", []string{"1", "64"}, []string{"0", "-1", "x", "100000"}},
		{engines.ServerObject, "read_only", []string{"true", "off"}, []string{"maybe"}},
		{engines.TableObject, "file", []string{"a.csv", "2024/a.csv", "..a.csv"}, []string{"", "/etc/passwd", "../a.csv", "a/../../b.csv", "~/a.csv", "a/..", `..\a`}},
		{engines.TableObject, "glob", []string{"*.csv", "2024/**/*.parquet"}, []string{"../*.csv", "/*", "https://x/*.csv"}},
		{engines.TableObject, "format", []string{"csv", "parquet", "json"}, []string{"xlsx", ""}},
	} {
		var check func(string) error
		for _, o := range (Wrapper{}).Options(tc.kind) {
			if o.Name == tc.option {
				check = o.Check
			}
		}
		for _, v := range tc.good {
			if err := check(v); err != nil {
				t.Errorf("%s %q: %v", tc.option, v, err)
			}
		}
		for _, v := range tc.refuse {
			if err := check(v); err == nil {
				t.Errorf("%s accepts %q", tc.option, v)
			}
		}
	}
}

// Every option has a line of help that reads like the others.
func TestOptionDocs(t *testing.T) {
	for _, kind := range []engines.ObjectKind{engines.ServerObject, engines.TableObject, engines.ColumnObject} {
		for _, o := range (Wrapper{}).Options(kind) {
			if o.Doc == "" || strings.HasSuffix(o.Doc, ".") || strings.Contains(o.Doc, "\n") {
				t.Errorf("%s: %q", o.Name, o.Doc)
			}
		}
	}
	if n := len(Wrapper{}.Options(engines.MappingObject)); n != 0 {
		t.Errorf("%d options of user mappings", n)
	}
}

// A server reaches what its options name and nothing else.
func TestLockdown(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.csv")
	write(t, outside, []byte("a\n1\n"))
	write(t, filepath.Join(dir, "in.csv"), []byte("a\n1\n"))
	path := filepath.Join(t.TempDir(), "db.duckdb")
	build(t, path, "CREATE TABLE t(a INTEGER)")
	for name, e := range map[string]engines.Engine{
		"directory": server(t, map[string]string{"directory": dir}),
		"database":  server(t, map[string]string{"database": path}),
		"writable":  database(t, map[string]string{"read_only": "false"}),
	} {
		for _, sql := range []string{
			"SELECT * FROM read_csv('" + outside + "')",
			"SELECT * FROM '" + outside + "'",
			"SELECT * FROM read_text('" + outside + "')",
			"SELECT * FROM read_text('/etc/passwd')",
			"SELECT * FROM read_csv('" + dir + "/../*/secret.csv')",
			"SELECT * FROM glob('/etc/*')",
			"SELECT * FROM read_parquet('https://example.com/a.parquet')",
		} {
			s, err := e.Open(t.Context(), engines.Query{SQL: sql})
			if err == nil {
				rows, drained := drain(s)
				s.Close()
				if err = drained; err == nil {
					t.Errorf("%s: %s gives %v", name, sql, rows)
					continue
				}
			}
			if code(err) != "42501" {
				t.Errorf("%s: %s: %v", name, sql, err)
			}
		}
	}
	e := server(t, map[string]string{"directory": dir})
	if _, rows := read(t, e, "SELECT a FROM read_csv('"+dir+"/in.csv')"); len(rows) != 1 {
		t.Error(rows)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Error("something was left in the directory:", entries, err)
	}
}

// A relative directory is the one it was when the server was opened, for DuckDB as for the lock.
func TestRelativeDirectory(t *testing.T) {
	parent := t.TempDir()
	if err := os.Mkdir(filepath.Join(parent, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(parent, "data", "in.csv"), []byte("a\n1\n"))
	write(t, filepath.Join(parent, "out.csv"), []byte("a\n1\n"))
	t.Chdir(parent)
	e := server(t, map[string]string{"directory": "data"})
	if _, rows := read(t, e, "SELECT a FROM read_csv('data/in.csv')"); len(rows) != 1 {
		t.Error(rows)
	}
	for _, file := range []string{"out.csv", "data/../out.csv", "database/out.csv"} {
		if _, err := e.Open(t.Context(), engines.Query{SQL: "SELECT a FROM read_csv('" + file + "')"}); code(err) != "42501" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A statement larger than its memory spills into temp_directory with the configuration locked.
func TestSpill(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "spill")
	e := database(t, map[string]string{"memory_limit": "60MB", "threads": "1", "temp_directory": temp})
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT i, md5(i::VARCHAR) AS h FROM range(1500000) t(i) ORDER BY h"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Stat(temp); err != nil {
		t.Error("nothing was spilled:", err)
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOutOfMemory(t *testing.T) {
	e := database(t, map[string]string{"memory_limit": "20MB", "threads": "1", "max_temp_directory_size": "1MB"})
	_, err := e.Open(t.Context(), engines.Query{SQL: "SELECT i, md5(i::VARCHAR) AS h FROM range(3000000) t(i) ORDER BY h"})
	if code(err) != "53200" {
		t.Error(err)
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
