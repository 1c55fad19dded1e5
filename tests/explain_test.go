package tests

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestExplainFormats reads EXPLAIN in each format that programs read, and finds in it what the text says.
func TestExplainFormats(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	conn := connect(t, w.through)
	for sql, said := range map[string][]string{
		"SELECT name FROM item WHERE name <> 'a\"b'":                                   {"remote", "a\"b"},
		"SELECT reverse(name) FROM item JOIN h USING (id) WHERE item.id < 3":           {"home_join", "not proven equal", "Hash Join", " < 3"},
		"SELECT count(*) FROM item a, item b, h WHERE a.id < 2 AND reverse('x') = 'x'": {"home_join", " < 2"},
	} {
		for _, options := range []string{"", "ANALYZE, ", "VERBOSE, ", "ANALYZE, VERBOSE, "} {
			for format, read := range explainReaders {
				text := rows(t, conn, "EXPLAIN ("+options+"FORMAT "+format+") "+sql)
				got, err := read(text)
				if err != nil {
					t.Errorf("%s (%s): %v in\n%s", sql, options+format, err, text)
					continue
				}
				wanted := said
				if strings.HasPrefix(options, "ANALYZE") {
					wanted = append(wanted[:len(wanted):len(wanted)], "Execution")
				}
				for _, want := range wanted {
					if !strings.Contains(got, want) {
						t.Errorf("%s (%s): no %q in\n%s", sql, options+format, want, text)
					}
				}
			}
		}
	}
}

// explainReaders read a format and return all names and values of it.
var explainReaders = map[string]func(text string) (string, error){
	"TEXT": func(text string) (string, error) { return text, nil },
	"JSON": func(text string) (string, error) {
		var v []any
		err := json.Unmarshal([]byte(text), &v)
		return flat(v), err
	},
	"YAML": func(text string) (string, error) {
		var v []any
		err := yaml.Unmarshal([]byte(text), &v)
		return flat(v), err
	},
	"XML": func(text string) (string, error) {
		var b strings.Builder
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			switch token, err := d.Token(); token := token.(type) {
			case xml.StartElement:
				b.WriteString(token.Name.Local + "\n")
			case xml.CharData:
				b.WriteString(string(token) + "\n")
			default:
				if err == io.EOF {
					return b.String(), nil
				} else if err != nil {
					return "", err
				}
			}
		}
	},
}

// flat lists all names and texts of a document.
func flat(v any) string {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(flat(e))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for name, e := range v {
			b.WriteString(name + "\n" + flat(e))
		}
		return b.String()
	}
	return ""
}

// TestExplainWhy finds what home evaluates of a scan, and why, and what a run of it took.
func TestExplainWhy(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5000) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	conn := connect(t, w.through)
	text := rows(t, conn, "EXPLAIN SELECT * FROM item JOIN h USING (id) WHERE reverse(name) > 'a' AND item.id > 10 AND md5(h.id::text) > ''")
	for _, want := range []string{"\n        Filter: reverse(name) > 'a'\n", "\n        Not Shipped: reverse(name) > 'a': function reverse(text) ", "\n        Remote Filter: (CAST(\"id\" AS INTEGER) > 10)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	text = rows(t, conn, "EXPLAIN ANALYZE SELECT reverse(name) FROM item JOIN h USING (id) WHERE item.id > 10")
	if !regexp.MustCompile(`Foreign Scan on public.item  \(rows=1666\) \(actual time=\d+\.\d{3}\.\.\d+\.\d{3} rows=4989 bytes=\d{5,}\)`).MatchString(text) {
		t.Errorf("no rows and bytes of the scan in\n%s", text)
	}
}

// TestExplainLeavesOut has no estimates, times and sum where the options say so, in each format and on each route.
func TestExplainLeavesOut(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5000) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	conn := connect(t, w.through)
	for option, said := range map[string]*regexp.Regexp{
		"COSTS":   regexp.MustCompile(`\(rows=|Plan.Rows`),
		"TIMING":  regexp.MustCompile(`actual time=|Actual.Total.Time`),
		"SUMMARY": regexp.MustCompile(`Execution.Time`),
	} {
		for _, sql := range []string{"SELECT * FROM item", "SELECT reverse(name) FROM item JOIN h USING (id)"} {
			for format := range explainReaders {
				for value, is := range map[string]bool{"ON": true, "OFF": false} {
					text := rows(t, conn, fmt.Sprintf("EXPLAIN (ANALYZE, %s %s, FORMAT %s) %s", option, value, format, sql))
					if said.MatchString(text) != is || !strings.Contains(text, "Foreign Scan") {
						t.Errorf("%s %s, format %s:\n%s", option, value, format, text)
					}
				}
			}
		}
	}
	if text := rows(t, conn, "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) SELECT * FROM item"); !strings.HasPrefix(text, "Foreign Scan (actual rows=5000 bytes=") {
		t.Errorf("what is left is\n%s", text)
	}
}

// TestFullScan refuses statements that have a whole foreign table leave its server, where the session asks for that.
func TestFullScan(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	conn := connect(t, w.through)
	whole := []string{
		"SELECT * FROM item", "TABLE item", "SELECT name FROM item ORDER BY id", "SELECT count(*) FROM item JOIN h USING (id)",
		"SELECT id FROM item WHERE reverse(name) > ''", "SELECT count(*) FROM item WHERE reverse(name) > ''",
		"SELECT id FROM h WHERE EXISTS (SELECT FROM item WHERE item.id = h.id)",
	}
	part := []string{
		"SELECT * FROM item WHERE id = 1", "SELECT * FROM item LIMIT 1", "SELECT count(*) FROM item", "SELECT name, count(*) FROM item GROUP BY 1",
		"SELECT count(*) FROM item JOIN h USING (id) WHERE item.id < 3", "SELECT id FROM h", "EXPLAIN SELECT * FROM item",
	}
	for setting, refused := range map[string]bool{"error": true, "allow": false} {
		exec1(t, conn, "SET sluice.on_full_scan = "+setting)
		for _, sql := range whole {
			_, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
			if got := sqlState(err); refused && got != "54000" || !refused && err != nil {
				t.Errorf("%s under %s: %v", sql, setting, err)
			}
		}
		for _, sql := range part {
			exec1(t, conn, sql)
		}
	}
	exec1(t, conn, "SET sluice.on_full_scan = never")
	if _, err := conn.Exec(timed(t), "SELECT * FROM item"); sqlState(err) != "22023" {
		t.Errorf("a value that there is not: %v", err)
	}
}

// TestExplainRows has the rows that each engine knows of a table, and what conditions and limits are thought to leave over.
func TestExplainRows(t *testing.T) {
	_, through, _ := twins(t)
	other, admin := fixture(t)
	if _, err := admin.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	exec(t, through, append(otherServer(t, other, ""), "IMPORT FOREIGN SCHEMA plain FROM SERVER other INTO fo")...)
	conn := connect(t, through)
	for _, schema := range []string{"fx", "fp", "fo"} {
		for sql, want := range map[string]string{
			"SELECT k FROM {s}.series":                                      "Foreign Scan  (rows=3000)\n",
			"SELECT k FROM {s}.series LIMIT 20":                             "Foreign Scan  (rows=20)\n",
			"SELECT max(k) FROM {s}.series":                                 "Foreign Scan  (rows=1)\n",
			"SELECT h.shout(t) FROM {s}.series":                             "Foreign Scan on {s}.series  (rows=3000)\n",
			"SELECT h.shout(t) FROM {s}.series WHERE g = 5":                 "Foreign Scan on {s}.series  (rows=1000)\n",
			"SELECT m.mark, s.t FROM {s}.series s JOIN h.marks m USING (k)": "Foreign Scan on {s}.series  (rows=3000)\n",
		} {
			in := strings.NewReplacer("{s}", schema)
			if text := rows(t, conn, "EXPLAIN "+in.Replace(sql)); !strings.Contains(text, in.Replace(want)) {
				t.Errorf("no %q in EXPLAIN %s\n%s", in.Replace(want), in.Replace(sql), text)
			}
		}
	}
}

// TestExplainRowsAfterCancel has a statement time out while its table's size is asked for: the next one knows of the size.
func TestExplainRowsAfterCancel(t *testing.T) {
	home := hometest.Start(t)
	direct, other := hometest.Database(t, home), hometest.Database(t, home)
	exec(t, other, "CREATE SCHEMA plain", "CREATE TABLE plain.one AS SELECT 1 AS k", "CREATE TABLE plain.series AS SELECT generate_series(1, 3000) AS k", "ANALYZE")
	through := postgresProxy(t, direct)
	exec(t, through, append(otherServer(t, other, ""), "CREATE SCHEMA fo", "IMPORT FOREIGN SCHEMA plain FROM SERVER other INTO fo")...)
	conn := connect(t, through)
	if text := rows(t, conn, "EXPLAIN SELECT k FROM fo.one"); !strings.Contains(text, "Foreign Scan  (rows=") { // the server itself is known then
		t.Error(text)
	}
	busy, err := connect(t, other).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := busy.Exec(t.Context(), "LOCK TABLE pg_catalog.pg_class"); err != nil {
		t.Fatal(err)
	}
	want(t, conn, "SET statement_timeout = '300ms'", "SET")
	if err := drain(timed(t), conn, "EXPLAIN SELECT k FROM fo.series"); sqlState(err) != "57014" {
		t.Errorf("it ended with %v", err)
	}
	if err := busy.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, conn, "RESET statement_timeout", "RESET")
	if text := rows(t, conn, "EXPLAIN SELECT k FROM fo.series"); !strings.Contains(text, "(rows=3000)") {
		t.Error(text)
	}
}
