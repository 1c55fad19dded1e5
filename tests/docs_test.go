package tests

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/demo"
	"github.com/sluicedb/sluice/embedded/hometest"
)

var docsWrite = flag.Bool("docs.write", false, "write what psql prints into the tours of the pages")

// TestDocs types the tours that the pages show into psql, and compares what it prints.
func TestDocs(t *testing.T) {
	t.Run("README", func(t *testing.T) {
		t.Chdir("..") // where the page's paths are
		home := hometest.Start(t)
		u := parsed(t, hometest.Database(t, home))
		walk(t, proxyURL(startProxy(t, home), strings.TrimPrefix(u.Path, "/")), "README.md", "## Five minutes")
	})
	for _, page := range []string{"governance", "activity", "manifest"} {
		t.Run(page, func(t *testing.T) {
			walk(t, demoURL(t), filepath.Join("..", "docs", page+".md"), "## Try it")
		})
	}
	t.Run("clickhouse", func(t *testing.T) {
		through := clickHouseURL(t, "DROP DATABASE IF EXISTS web", "CREATE DATABASE web",
			"CREATE TABLE web.hits (id UInt64, day Date, url String, ms Nullable(Int32), tags Array(String)) ENGINE = MergeTree ORDER BY (day, id)",
			`INSERT INTO web.hits SELECT number, toDate('2026-01-01') + number % 3, concat('/page', toString(number % 4)), if(number % 5 = 0, NULL, toInt32(number)), ['a', toString(number)]
FROM system.numbers LIMIT 1000`)
		walk(t, through, filepath.Join("..", "docs", "clickhouse.md"), "## Try it")
	})
	t.Run("handles", func(t *testing.T) {
		home := hometest.Start(t)
		through := proxyURL(startProxy(t, home), strings.TrimPrefix(parsed(t, hometest.Database(t, home)).Path, "/"))
		t.Chdir("..") // where the page's paths are
		walk(t, through, filepath.Join("docs", "handles.md"), "## Try it")
	})
	for _, page := range []string{"statistics", "pages"} {
		t.Run(page, func(t *testing.T) {
			home := hometest.Start(t)
			through := proxyURL(startProxy(t, home), strings.TrimPrefix(parsed(t, hometest.Database(t, home)).Path, "/"))
			exec(t, through, "CREATE EXTENSION sluice")
			walk(t, through, filepath.Join("..", "docs", page+".md"), "## Try it")
		})
	}
}

// demoURL makes the demo's database and returns its address through a proxy.
func demoURL(t *testing.T) string {
	t.Helper()
	home := hometest.Start(t)
	through := proxyURL(startProxy(t, home), "postgres")
	if err := demo.Prepare(t.Context(), demo.Config{HomeURL: home.URL("postgres"), ProxyURL: through, Dir: t.TempDir(), Out: t.Output()}); err != nil {
		t.Fatal(err)
	}
	u := parsed(t, through)
	u.Path = demo.Database
	t.Cleanup(func() {
		exec(t, home.URL("postgres"), "DROP DATABASE demo WITH (FORCE)", "DROP ROLE IF EXISTS analyst")
	})
	return u.String()
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// typed is what a page says to type, and what it shows of the answer: nothing where the next block is of another kind.
var typed = regexp.MustCompile("(?m)^```sql\n((?s:.*?))^```\n(?:```\n((?s:.*?))^```\n)?")

// walk types the blocks of a section in turn in one psql.
func walk(t *testing.T, address, page, section string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, section)
	}
	rest = untilHeading(rest)
	blocks := typed.FindAllStringSubmatch(rest, -1)
	if len(blocks) < 3 {
		t.Fatalf("%s shows %d blocks under %q", page, len(blocks), section)
	}
	var script strings.Builder
	for i, b := range blocks {
		fmt.Fprintf(&script, "%s\\echo end of block %d\n", b[1], i)
	}
	cmd := osexec.CommandContext(timed(t), "psql", "-X", "-q", "-P", "pager=off", address)
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Env = append(cmd.Environ(), "PGOPTIONS=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	left := string(out)
	for i, b := range blocks {
		var got string
		if got, left, found = strings.Cut(left, fmt.Sprintf("end of block %d\n", i)); !found {
			t.Fatalf("psql ended in block %d:\n%s", i, out)
		}
		got = plainText(got)
		if *docsWrite && b[2] != "" {
			shown := "```sql\n" + b[1] + "```\n```\n"
			text = []byte(strings.Replace(string(text), shown+b[2], shown+got, 1))
		} else if got != plainText(b[2]) {
			t.Errorf("%s says to type\n%sand shows\n%spsql prints\n%s", page, b[1], b[2], got)
		}
	}
	if *docsWrite {
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// untilHeading returns the lines up to the next heading of a section, which one within a block is none of.
func untilHeading(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if fenced = fenced != strings.HasPrefix(line, "```"); !fenced && strings.HasPrefix(line, "## ") {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// plainText is without blanks at the ends of lines, and without empty lines at its own.
func plainText(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if text := strings.TrimRight(b.String(), "\n"); text != "" {
		return text + "\n"
	}
	return ""
}
