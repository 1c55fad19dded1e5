package main

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// runCheck runs the command and returns what it printed.
func runCheck(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := rootCommand()
	cmd.SetOut(&out)
	cmd.SetArgs(append([]string{"check"}, args...))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// exec runs statements in a database of home.
func exec(t *testing.T, url string, statements ...string) {
	t.Helper()
	within(t, url, func(conn *pgconn.PgConn) {
		for _, sql := range statements {
			if err := conn.Exec(t.Context(), sql).Close(); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	})
}

func within(t *testing.T, url string, f func(*pgconn.PgConn)) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	f(conn)
}

// install is what CREATE EXTENSION sluice does.
func install(t *testing.T, url string) {
	t.Helper()
	within(t, url, func(conn *pgconn.PgConn) {
		x := session{conn}
		for _, step := range []func() error{
			func() error { _, err := x.Exec(t.Context(), "BEGIN"); return err },
			func() error {
				_, _, err := catalog.Install(t.Context(), x, catalog.InstallOptions{})
				return err
			},
			func() error { _, err := x.Exec(t.Context(), "COMMIT"); return err },
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	home := hometest.Start(t)
	url := hometest.Database(t, home)
	out, err := runCheck(t, "--home", url)
	if !errors.Is(err, errSaid) || !strings.Contains(out, "FAIL  catalog: not installed in any database → ") {
		t.Errorf("without a catalog: %v\n%s", err, out)
	}

	install(t, url)
	exec(t, url, "CREATE SERVER good FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '/')")
	out, err = runCheck(t, "--home", url)
	want := `^ok    home 127\.0\.0\.1:\d+: PostgreSQL \d+.*, as postgres
ok    database test_\d+_\d+: catalog version 1, 1 server, 0 relations
ok    server test_\d+_\d+\.good \(sluice_duckdb\): answers
$`
	if err != nil || !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("with a server: %v\n%s", err, out)
	}

	out, err = runCheck(t, "--home", url, "--certify", "good")
	want = `(?s)good \(sluice_duckdb\), DuckDB v[^ ]+, row stream: certified: I2_Bounded.*arrow stream: certified: I2_Bounded`
	if err != nil || !regexp.MustCompile(want).MatchString(out) || strings.Contains(out, "answers") {
		t.Errorf("certified: %v\n%s", err, out)
	}
	if out, err = runCheck(t, "--home", url, "--certify", "none"); !errors.Is(err, errSaid) || !strings.Contains(out, "FAIL  server none: there is no such server") {
		t.Errorf("a server that is not there: %v\n%s", err, out)
	}

	exec(t, url, "CREATE SERVER bad FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '/no/such/place')",
		"CREATE SERVER down FOREIGN DATA WRAPPER sluice_postgres OPTIONS (host '127.0.0.1', port '1')",
		"CREATE USER MAPPING FOR PUBLIC SERVER down OPTIONS (user 'x', password 'y')",
		"CREATE FOREIGN DATA WRAPPER sluice_unheard_of", "CREATE SERVER other FOREIGN DATA WRAPPER sluice_unheard_of")
	out, err = runCheck(t, "--home", url)
	for _, want := range []string{
		`(?m)^FAIL  server \S+\.bad \(sluice_duckdb\): .*/no/such/place.* does not exist → .*ALTER SERVER`,
		`(?m)^FAIL  server \S+\.down \(sluice_postgres\): could not connect to server "down": .*connection refused → Look at `,
		`(?m)^FAIL  server \S+\.other \(sluice_unheard_of\): this binary has no such engine → `,
		`(?m)^ok    server \S+\.good`,
	} {
		if !errors.Is(err, errSaid) || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("want a line like %s, have %v\n%s", want, err, out)
		}
	}

	exec(t, url, "UPDATE sluice.schema_migrations SET version = 999")
	if out, err = runCheck(t, "--home", url); !errors.Is(err, errSaid) || !strings.Contains(out, "catalog has version 999, this binary 1 → use the newest binary") {
		t.Errorf("with a catalog from the future: %v\n%s", err, out)
	}
}

// TestCheckAccount runs with an account that is no superuser, before and behind the GRANTs that the command names.
func TestCheckAccount(t *testing.T) {
	home := hometest.Start(t)
	address := hometest.Database(t, home)
	install(t, address)
	exec(t, address, "CREATE ROLE check_proxy LOGIN", "CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '/')",
		"CREATE FOREIGN TABLE hashed (name text) SERVER lake", "SELECT sluice.set_column_mask('hashed', 'name', 'sluice.mask_hash(name)')",
		"CREATE TABLE counted (id int); SELECT sluice.track_statistics('counted')")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("check_proxy")
	out, err := runCheck(t, "--home", u.String())
	grants := regexp.MustCompile(`(?m)^FAIL .* → (GRANT .* TO check_proxy)$`).FindAllStringSubmatch(out, -1)
	if !errors.Is(err, errSaid) || len(grants) != 4 {
		t.Fatalf("check names %d grants, want 4: %v\n%s", len(grants), err, out)
	}
	for _, g := range grants {
		exec(t, address, g[1])
	}
	if out, err := runCheck(t, "--home", u.String()); err != nil {
		t.Errorf("with the privileges: %v\n%s", err, out)
	}
}

func TestCheckEmbeddedInUse(t *testing.T) {
	home := hometest.Start(t)
	url := hometest.Database(t, home)
	install(t, url)
	if out, err := runCheck(t, "--embedded", home.Dir()); err != nil || !strings.HasPrefix(out, "ok    home "+home.Addr()) {
		t.Errorf("a home that runs: %v\n%s", err, out)
	}
}

func TestCheckNoHome(t *testing.T) {
	for want, args := range map[string][]string{
		"connection refused": {"--home", "postgres://127.0.0.1:1/x"},
		"no home: give":      nil,
		"choose one":         {"--home", "postgres://127.0.0.1:1/x", "--embedded", "/x"},
	} {
		out, err := runCheck(t, args...)
		if !errors.Is(err, errSaid) || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 || strings.HasSuffix(out, "→ \n") {
			t.Errorf("check %v: %v\n%s", args, err, out)
		}
	}
}
