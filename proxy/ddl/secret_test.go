package ddl_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/proxy/ddl"
)

func TestSecret(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	t.Setenv("CH_PASSWORD", "from env")
	t.Setenv("EMPTY", "")
	t.Setenv("SLUICE_HOME", "not yours")
	t.Setenv("PGPASSWORD", "not yours")
	gone := "file:" + filepath.Join(dir, "gone")
	big := file("big", strings.Repeat("x", 65<<10))
	for _, c := range []struct{ value, want, says string }{
		{"plain", "plain", ""},
		{"", "", ""},
		{"env:CH_PASSWORD", "from env", ""},
		{"env:EMPTY", "", ""},
		{file("one", "secret\n"), "secret", ""},
		{file("two", "secret\n\n"), "secret\n", ""},
		{file("crlf", "secret\r\n"), "secret", ""},
		{file("none", " secret "), " secret ", ""},
		{"env:NO_SUCH", "", `ERROR 22023: cannot resolve "env:NO_SUCH": the proxy has no such environment variable`},
		{"env:", "", `ERROR 22023: "env:" names no environment variable`},
		{"env:SLUICE_HOME", "", `ERROR 22023: "env:SLUICE_HOME" is not allowed: the variable configures the proxy itself`},
		{"env:PGPASSWORD", "", `ERROR 22023: "env:PGPASSWORD" is not allowed: the variable configures the proxy itself`},
		{"file:rel", "", `ERROR 22023: "file:rel" does not name a file by its absolute path`},
		{gone, "", `ERROR 58P01: cannot resolve "` + gone + `": no such file or directory`},
		{"file:" + dir, "", `ERROR 22023: cannot resolve "file:` + dir + `": not a file of at most 65536 bytes`},
		{big, "", `ERROR 22023: cannot resolve "` + big + `": not a file of at most 65536 bytes`},
	} {
		got, err := ddl.Secret(c.value)
		says, _, _ := strings.Cut(say(nil, err), "\n")
		if got != c.want || says != c.says {
			t.Errorf("%s: %q, %q", c.value, got, says)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Setenv("CH_PASSWORD", "p")
	got, err := ddl.Secrets(map[string]string{"password": "env:CH_PASSWORD", "database": "file:/data/x.duckdb", "user": "env:U"})
	want := map[string]string{"password": "p", "database": "file:/data/x.duckdb", "user": "env:U"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := ddl.Secrets(map[string]string{"api_key": "env:NO_SUCH"}); err == nil {
		t.Error("an unresolved reference is no error")
	}
}
