package tests

import "testing"

// TestFederationServer names servers that cannot join tables of others, or may not be used: then statements over foreign tables do not run.
func TestFederationServer(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)")
	exec(t, w.through, "IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO public", "DROP ROLE IF EXISTS federation_reader", "CREATE ROLE federation_reader", "GRANT SELECT ON t TO federation_reader")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY federation_reader CASCADE", "DROP ROLE federation_reader") })
	conn := connect(t, w.through)
	for _, c := range [][2]string{
		{"SET sluice.federation_server = 'nowhere'", "SET"}, {"SELECT a FROM t", "42704"}, {"EXPLAIN SELECT a FROM t", "42704"}, {"SELECT 1", "1"},
		{"SET sluice.federation_server = 'lake'", "SET"}, {"SELECT a FROM t", "22023"}, {"INSERT INTO t VALUES (2)", "22023"},
		{"SET ROLE federation_reader", "SET"}, {"SELECT a FROM t", "42501"},
		{"SET sluice.federation_server = ''", "SET"}, {"SELECT a FROM t", "1"}, {"RESET ROLE", "RESET"}, {"RESET sluice.federation_server", "RESET"}, {"SELECT a FROM t", "1"},
	} {
		want(t, conn, c[0], c[1])
	}
}
