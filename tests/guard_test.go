package tests

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestOneSession lets a session whose statements need a server many times over go on where one session at a time may use it, and
// others wait for it.
func TestOneSession(t *testing.T) {
	conn, _, _ := remoteTables(t, ", updatable 'true', max_sessions '1', queue_timeout '1'", "CREATE TABLE r AS SELECT i, i % 7 AS k FROM generate_series(1, 1000) i")
	for _, route := range []string{"federated", "home_join", ""} {
		want(t, conn, "SET sluice.route = '"+route+"'", "SET")
		want(t, conn, "SELECT count(*), sum(a.i + b.k + c.i) FROM r a JOIN r b USING (i) JOIN r c USING (i)", "1000|1004003")
		want(t, conn, "SELECT count(*) FROM r WHERE i IN (SELECT max(i) FROM r GROUP BY k)", "7")
	}
	for _, c := range [][2]string{
		{"BEGIN", "BEGIN"},
		{"DECLARE c CURSOR FOR SELECT i FROM r ORDER BY i", "DECLARE CURSOR"},
		{"FETCH 2 FROM c", "1\n2"},
		{"SELECT count(*) FROM r", "1000"},
		{"CLOSE c", "CLOSE CURSOR"},
		{"INSERT INTO r SELECT i + 1000, 0 FROM r WHERE i <= 10", "INSERT 0 10"},
		{"SELECT count(*) FROM r", "1010"},
		{"UPDATE r SET k = 9 WHERE i IN (SELECT i FROM r WHERE i > 1005)", "UPDATE 5"},
	} {
		want(t, conn, c[0], c[1])
	}
	other := connected(t, conn.Config().ConnString())
	want(t, other, "SELECT count(*) FROM r", "53300")
	want(t, other, "SET statement_timeout = 100", "SET")
	want(t, other, "SELECT count(*) FROM r", "57014")
	want(t, other, "SET statement_timeout = 0", "SET")
	want(t, conn, "COMMIT", "COMMIT")
	want(t, other, "SELECT count(*), max(k) FROM r", "1010|9")
}

// TestAlterServer holds for the next statement of each session, as do changes of user mappings.
func TestAlterServer(t *testing.T) {
	conn, _, address := remoteTables(t, "", "CREATE TABLE r (i int)", "CREATE ROLE alter_nobody LOGIN")
	t.Cleanup(func() { exec(t, address, "DROP ROLE alter_nobody") })
	other := connected(t, conn.Config().ConnString())
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"", "0"},
		{"ALTER SERVER other OPTIONS (SET port '1')", "08001"},
		{"ALTER SERVER other OPTIONS (SET port '" + u.Port() + "')", "0"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER other OPTIONS (SET user 'alter_nobody')", "42501"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER other OPTIONS (SET user 'no such role')", "28000"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER other OPTIONS (SET user 'postgres')", "0"},
		{"ALTER SERVER other OPTIONS (ADD max_sessions '-1')", "22023"},
		{"ALTER SERVER other OPTIONS (ADD queue_timeout '0')", "22023"},
		{"ALTER SERVER other OPTIONS (ADD max_failures 'x')", "22023"},
	} {
		if strings.HasPrefix(c[1], "22") {
			want(t, conn, c[0], c[1])
			continue
		}
		if c[0] != "" {
			exec1(t, conn, c[0])
		}
		for _, session := range []*pgx.Conn{conn, other} {
			want(t, session, "SELECT count(*) FROM r", c[1])
		}
	}
}

// TestRotatedPassword logs in with a new password once its file has changed, with nothing else to be done.
func TestRotatedPassword(t *testing.T) {
	cluster := hometest.Start(t)
	home, other := hometest.Database(t, cluster), hometest.Database(t, cluster)
	role := fmt.Sprintf("rotating_%d", os.Getpid())
	exec(t, other, "CREATE ROLE "+role+" LOGIN PASSWORD 'one'", "CREATE TABLE r AS SELECT 1 AS i", "GRANT SELECT ON r TO "+role)
	t.Cleanup(func() { exec(t, cluster.URL("postgres"), "DROP ROLE "+role) })
	t.Cleanup(func() { exec(t, other, "DROP OWNED BY "+role) })
	askPassword(t, other, role)

	u, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "password")
	set := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set("one")
	through := postgresProxy(t, home)
	exec(t, through, fmt.Sprintf("CREATE SERVER other FOREIGN DATA WRAPPER sluice_postgres OPTIONS (host '127.0.0.1', port '%s', dbname '%s')", u.Port(), u.Path[1:]),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER other OPTIONS (user '%s', password 'file:%s')", role, file),
		"CREATE FOREIGN TABLE r (i int) SERVER other OPTIONS (schema_name 'public')")
	conn := connected(t, through)
	disconnect := "SELECT count(pg_terminate_backend(pid, 5000)) > 0 FROM pg_stat_activity WHERE usename = '" + role + "'"
	direct := connected(t, other)
	want(t, conn, "SELECT i FROM r", "1")
	for _, password := range []string{"two", "three"} {
		exec1(t, direct, "ALTER ROLE "+role+" PASSWORD '"+password+"'")
		want(t, direct, disconnect, "t")
		if password == "two" { // it has changed there, and here not yet
			want(t, conn, "SELECT i FROM r", "28P01")
		}
		set(password)
		want(t, conn, "SELECT i FROM r", "1")
	}
}

// askPassword has the cluster of a database ask a role for its password until the test ends.
func askPassword(t *testing.T, address, role string) {
	t.Helper()
	conn := connected(t, address)
	const lines = "SELECT pg_catalog.regexp_split_to_table(pg_catalog.rtrim(pg_catalog.replace(pg_catalog.pg_read_file(current_setting('hba_file')), E'\\t', ' '), E'\\n'), E'\\n')"
	file := rows(t, conn, "SHOW hba_file")
	before := rows(t, conn, lines)
	set := func(url, query string) {
		exec(t, url, "COPY ("+query+") TO '"+file+"'", "SELECT pg_reload_conf()")
	}
	rule := "host all " + role + " all scram-sha-256"
	set(address, "SELECT '"+rule+"' UNION ALL VALUES ('"+strings.ReplaceAll(strings.ReplaceAll(before, "'", "''"), "\n", "'), ('")+"')")
	becomes(t, conn, "SELECT count(*) FROM pg_hba_file_rules WHERE user_name = '{"+role+"}' AND error IS NULL", "1")
	t.Cleanup(func() {
		set(hometest.Start(t).URL("postgres"), "VALUES ('"+strings.ReplaceAll(strings.ReplaceAll(before, "'", "''"), "\n", "'), ('")+"')")
	})
}
