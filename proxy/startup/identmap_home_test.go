package startup_test

import (
	"crypto/x509"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/proxy/startup"
)

// idents is home's pg_ident.conf, and the map of the proxy as well.
const idents = `
# a comment
sluice "Alice Liddell" alice       # behind a line
sluice bob alice
sluice bob bob
sluice "a, b" commas
sluice "a#b" hash
sluice "with ""quotes""" w
sluice a"b c"d middle
sluice in\
two alice
sluice /^(.*)@wonder$ \1
sluice /^(.*)@twice$ \1_\1
sluice /@suffix$ alice
sluice /^(first)|second$ x\1
sluice second xsecond
sluice second x
sluice "/^quoted-(.*)$" "\1"
sluice /^[A-Z]+$ upper
sluice "/^(\w+)-(\d{2,3})$" \1
other mallory alice
`

// laterIdents has what Postgres knows since version 16.
const laterIdents = `
sluice root all
sluice quoted "all"
sluice /^all-(.*)$ \1
sluice team /^team_
`

// The map of certificates gives the roles that home's pg_ident.conf gives.
func TestIdentMapAtHome(t *testing.T) {
	home()
	version, err := asSuperuser(t.Context(), "SELECT current_setting('server_version_num')::int / 10000 WHERE $1 = ''", "")
	if err != nil {
		t.Fatal(err)
	}
	cases := [][2]string{
		{"Alice Liddell", "alice"}, {"Alice Liddell", "Alice Liddell"}, {"alice", "alice"}, {"bob", "alice"}, {"bob", "bob"},
		{"bob", "carol"}, {"BOB", "bob"}, {"a, b", "commas"}, {"a", "commas"}, {"a#b", "hash"}, {`with "quotes"`, "w"},
		{"ab cd", "middle"}, {"intwo", "alice"}, {"hatter@wonder", "hatter"}, {"hatter@wonder", "alice"},
		{"hatter@wonder.org", "hatter"}, {"@wonder", "alice"}, {"x@twice", `x_\1`}, {"x@twice", "x_x"}, {"anyone@suffix", "alice"},
		{"anyone@suffix", "anyone"}, {"first", "xfirst"}, {"second", "x"}, {"second", "xsecond"}, {"quoted-alice", "alice"},
		{"ABC", "upper"}, {"abc", "upper"}, {"carol-12", "carol"}, {"carol-1", "carol"}, {"mallory", "alice"},
	}
	text := idents
	if version[0] >= "16" {
		text += laterIdents
		cases = append(cases, [][2]string{
			{"root", "anybody"}, {"quoted", "all"}, {"quoted", "bob"}, {"all-all", "all"}, {"all-all", "bob"},
			{"team", "team_a"}, {"team", "a_team_"},
		}...)
	}
	m, err := startup.ParseIdentMap(text, "sluice")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if got, want := m.Maps(c[0], c[1]), homeMaps(t, c[0], c[1]); got != want {
			t.Errorf("%q as %q: %v, at home %v", c[0], c[1], got, want)
		}
	}
}

// homeMaps reports whether home takes a certificate for a name as one for a role, which need not exist.
func homeMaps(t *testing.T, name, role string) bool {
	t.Helper()
	config, err := pgconn.ParseConfig("postgres://" + home().Addr() + "/ident?sslmode=require" + files(t, issue(t, started.clients.root, name, x509.ExtKeyUsageClientAuth)))
	if err != nil {
		t.Fatal(err)
	}
	config.User = role
	c, err := pgconn.ConnectConfig(t.Context(), config)
	var e *pgconn.PgError
	switch {
	case err == nil:
		_ = c.Close(t.Context())
		return true
	case !errors.As(err, &e):
		t.Fatal(err)
	case e.Message == `role "`+role+`" does not exist`:
		return true
	case e.Message != `certificate authentication failed for user "`+role+`"`:
		t.Errorf("%s as %s: %v", name, role, e)
	}
	return false
}
