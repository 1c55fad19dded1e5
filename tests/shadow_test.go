package tests

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestShadows has functions and operators of the user's stand before those of pg_catalog: they are what statements over
// foreign tables mean, too.
func TestShadows(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i::INTEGER AS id, 'n' || i AS name FROM range(3) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake")
	conn, other := connect(t, w.through), connect(t, w.direct)
	const length, equal, between, in = "SELECT sum(length(name)) FROM item", "SELECT count(*) FROM item WHERE id = 1",
		"SELECT count(*) FROM item WHERE id BETWEEN 1 AND 2", "SELECT count(*) FROM item WHERE id IN (SELECT id FROM item)"
	force := func(route string) { want(t, conn, "SET sluice.route = "+route, "SET") }
	force("remote")
	for sql, answer := range map[string]string{length: "6", equal: "1", between: "2", in: "3"} {
		want(t, conn, sql, answer)
	}
	want(t, other, "CREATE FUNCTION public.length(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 100'", "CREATE FUNCTION")
	want(t, conn, length, "0A000")
	want(t, conn, "SELECT sum(pg_catalog.length(name)) FROM item", "6")
	force("''")
	want(t, conn, length, "6") // pg_catalog comes first
	want(t, conn, "SET search_path = public, pg_catalog; "+length+"; RESET search_path", "SET\n300\nRESET")
	exec(t, w.direct, "CREATE FUNCTION public.never(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false'",
		"CREATE OPERATOR public.= (FUNCTION = public.never, LEFTARG = int, RIGHTARG = int)", "CREATE OPERATOR public.>= (FUNCTION = public.never, LEFTARG = int, RIGHTARG = int)")
	for sql, answer := range map[string]string{equal: "1", between: "2", in: "3"} {
		want(t, conn, sql, answer)
		want(t, conn, "SET search_path = public, pg_catalog; "+sql+"; RESET search_path", "SET\n0\nRESET")
		want(t, conn, "SET sluice.route = remote; "+sql, "0A000")
		force("''")
	}
}

// TestNothingPrepared looks for statements of the proxy's own in a database without the extension, where no view leaves
// them out.
func TestNothingPrepared(t *testing.T) {
	home := hometest.Start(t)
	u, err := url.Parse(hometest.Database(t, home))
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, proxyURL(startProxy(t, home), strings.TrimPrefix(u.Path, "/")))
	want(t, conn, "PREPARE own AS SELECT 1", "PREPARE")
	want(t, conn, "SELECT name FROM pg_prepared_statements", "own")
}
