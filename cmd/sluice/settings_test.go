package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parse runs serve's flags through all sources without serving.
func parse(t *testing.T, file string, args ...string) (serveFlags, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "sluice.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	var f serveFlags
	cmd := f.command()
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	err := applySettings(cmd)
	return f, err
}

func TestSettingsOrder(t *testing.T) {
	const file = "home: from-file\nlog-level: from-file\ntls-mode: from-file\nlisten: [a:1, b:2]\ndrain: 5s\nmetrics:\n"
	t.Setenv("SLUICE_LOG_LEVEL", "from-env")
	t.Setenv("SLUICE_TLS_MODE", "from-env")
	f, err := parse(t, file, "--tls-mode", "from-flag")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]struct{ got, want string }{
		"home":      {f.home.url, "from-file"},
		"log-level": {f.log.level, "from-env"},
		"tls-mode":  {f.tls.mode, "from-flag"},
		"listen":    {strings.Join(f.listen, " "), "a:1 b:2"},
		"format":    {f.log.format, "text"},
		"metrics":   {f.metrics, ""},
	} {
		if value.got != value.want {
			t.Errorf("%s = %q, want %q", name, value.got, value.want)
		}
	}
	if f.drain != 5*time.Second {
		t.Errorf("drain = %s", f.drain)
	}
}

func TestSettingsFromEnvironmentList(t *testing.T) {
	t.Setenv("SLUICE_LISTEN", "a:1,/run/.s.PGSQL.2")
	f, err := parse(t, "")
	if err != nil || len(f.listen) != 2 || f.listen[1] != "/run/.s.PGSQL.2" {
		t.Errorf("listen = %q (%v)", f.listen, err)
	}
}

func TestSettingsRefused(t *testing.T) {
	for file, want := range map[string]string{
		"hom: x":                  `line 1: unknown key "hom"; the keys are drain, embedded, federation-memory, federation-temp, home, listen, log-format, log-level, login-limit,`,
		"config: x":               `unknown key "config"`,
		"home: {a: 1}":            `the value of "home" must be a single value`,
		"home: a\nhome: b":        "already defined",
		"- home":                  "cannot unmarshal",
		"drain: soon":             "config file, key drain: ",
		"home: a\n---\nlisten: b": "more than one document",
	} {
		if _, err := parse(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("file %q gives %v, want %q", file, err, want)
		}
	}
	t.Setenv("SLUICE_DRAIN", "soon")
	if _, err := parse(t, "drain: 1s"); err == nil || !strings.Contains(err.Error(), "environment variable SLUICE_DRAIN") {
		t.Errorf("a bad variable gives %v", err)
	}
	t.Setenv("SLUICE_CONFIG", filepath.Join(t.TempDir(), "none.yaml"))
	if _, err := parse(t, ""); err == nil || !strings.Contains(err.Error(), "cannot read the config file") {
		t.Errorf("a missing file gives %v", err)
	}
}

// TestExampleConfig keeps the example true: it is read as it stands, and names every key.
func TestExampleConfig(t *testing.T) {
	text, err := os.ReadFile("../../sluice.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse(t, string(text)); err != nil {
		t.Error(err)
	}
	for _, key := range configKeys() {
		if !strings.Contains(string(text), "\n"+key+":") && !strings.Contains(string(text), "\n# "+key+":") {
			t.Errorf("the example does not show %s", key)
		}
	}
}
