package tests

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestHandlesUnderStress makes handles of rows that go on and on, at each place that takes some, and has that end in each way that it
// can: nothing is left of it, there or here.
func TestHandlesUnderStress(t *testing.T) {
	for name, place := range handlePlaces {
		t.Run(name, func(t *testing.T) { stressHandles(t, place(t)) })
	}
}

// TestRealTrinoHandlesUnderStress is the same of Trino.
func TestRealTrinoHandlesUnderStress(t *testing.T) { stressHandles(t, trinoPlace(t)) }

// homeRows are rows of home that a server takes a second or more for; flowing is 1 once so many of them have gone that it was sent some.
const (
	homeRows = "TABLE wide"
	flowing  = "SELECT count(*) FROM sluice.stat_progress WHERE database = current_database() AND what = 'write' AND done > 2000"
)

// stress is a place under stress, and a proxy that makes handles there.
type stress struct {
	*handlePlace
	proxy  child
	url    string
	direct *pgx.Conn // around the proxy
	watch  *pgx.Conn
}

func stressHandles(t *testing.T, p *handlePlace) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	s := &stress{handlePlace: p, direct: connect(t, direct)}
	s.enter(t, home.URL("postgres"))
	exec(t, s.url, append([]string{"CREATE EXTENSION sluice", "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a",
		"CREATE TABLE wide AS SELECT i, repeat('x', 4000) AS x FROM generate_series(1, 60000) i"}, p.declare...)...)
	s.watch = connect(t, s.url)
	t.Run("memory", s.bounded)
	for name, query := range map[string]string{"home": homeRows, "filled": p.fill} {
		if query == "" {
			continue
		}
		t.Run("cancelled/"+name, func(t *testing.T) { s.cancelled(t, query) })
		t.Run("timed out/"+name, func(t *testing.T) { s.timedOut(t, query) })
		t.Run("left/"+name, func(t *testing.T) { s.left(t, query) })
	}
	t.Run("down", s.broken)
	t.Run("killed", func(t *testing.T) { s.killed(t, home.URL("postgres")) })
}

// enter starts a proxy.
func (s *stress) enter(t *testing.T, home string) {
	s.proxy = startChild(t, home)
	s.url = proxyURL(s.proxy.addr, s.direct.Config().Database)
}

// bounded makes a handle of many rows of home, and measures the proxy.
func (s *stress) bounded(t *testing.T) {
	conn := connect(t, s.url)
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE plain', server => 'keep', name => 'small')", "100")
	s.proxy.resetPeak(t)
	_, before := s.proxy.memory(t)
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT * FROM wide WHERE i <= 20000', server => 'keep', name => 'large')", "20000")
	peak, _ := s.proxy.memory(t)
	t.Logf("at rest %d MiB, peak %d MiB", before, peak)
	if peak-before > growth {
		t.Errorf("the proxy grew from %d to %d MiB", before, peak)
	}
	want(t, conn, "SELECT count(*), sum(i), min(length(x)) FROM sluice_handle.large", "20000|200010000|4000")
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "2")
	s.over(t, "0")
}

// make makes a handle of a query on a connection of its own.
func (s *stress) make(t *testing.T, conn *pgx.Conn, query string) chan error {
	done := make(chan error, 1)
	go func() {
		done <- drain(context.Background(), conn, "SELECT * FROM sluice.materialize('"+query+"', server => 'keep')")
	}()
	if query == homeRows {
		becomes(t, s.watch, flowing, "1")
	} else {
		until(t, "the server computes", func() (bool, string) { n := s.running(t, s.watch); return n != "0", n })
	}
	return done
}

// over waits until as many tables as should be are left at the server and nothing runs there, and looks at home.
func (s *stress) over(t *testing.T, tables string) {
	t.Helper()
	until(t, "nothing runs at the server", func() (bool, string) { n := s.running(t, s.watch); return n == "0", n })
	until(t, tables+" tables are left", func() (bool, string) { n := s.tables(t, s.watch); return n == tables, n })
	becomes(t, s.direct, "SELECT (SELECT count(*) FROM sluice.ctas_handle), (SELECT count(*) FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace)", tables+"|"+tables)
}

func (s *stress) cancelled(t *testing.T, query string) {
	conn := connect(t, s.url)
	if err := cancelUntil(t, conn, s.make(t, conn, query), 0); sqlState(err) != "57014" {
		t.Errorf("it ended with %v", err)
	}
	s.over(t, "0")
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE plain', server => 'keep', name => 'next')", "100")
	want(t, conn, "DROP FOREIGN TABLE sluice_handle.next", "DROP FOREIGN TABLE")
}

func (s *stress) timedOut(t *testing.T, query string) {
	conn := connect(t, s.url)
	want(t, conn, "SET statement_timeout = '300ms'", "SET")
	err := drain(timed(t), conn, "SELECT * FROM sluice.materialize('"+query+"', server => 'keep')")
	if pe := pgError(err); pe == nil || pe.Code != "57014" || pe.Message != "canceling statement due to statement timeout" {
		t.Errorf("it ended with %v", err)
	}
	s.over(t, "0")
	want(t, conn, "SELECT 1", "1")
}

// left has the client go without a word.
func (s *stress) left(t *testing.T, query string) {
	conn := connect(t, s.url)
	done := s.make(t, conn, query)
	if err := conn.PgConn().Conn().Close(); err != nil {
		t.Fatal(err)
	}
	<-done
	s.over(t, "0")
}

// broken has the server be out of reach: the statement fails, and what is left there goes once it is back.
func (s *stress) broken(t *testing.T) {
	conn := connect(t, s.url)
	done := s.make(t, conn, homeRows)
	s.down()
	err := <-done
	s.up()
	if pe := pgError(err); pe == nil || pe.Severity != "ERROR" || pe.Code[:2] == "XX" {
		t.Errorf("it ended with %v", err)
	} else {
		t.Logf("%s: %s (%s) %s", pe.Code, pe.Message, pe.Detail, pe.Hint)
	}
	s.over(t, "0")
	want(t, conn, "SELECT 1", "1")
	becomes(t, conn, "SELECT row_count FROM sluice.materialize('TABLE plain', server => 'keep', name => 'again')", "100")
	want(t, conn, "DROP FOREIGN TABLE sluice_handle.again", "DROP FOREIGN TABLE")
}

// killed kills the proxy: the next one drops what is left.
func (s *stress) killed(t *testing.T, home string) {
	conn := connect(t, s.url)
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE plain', server => 'keep', name => 'whole')", "100")
	done := s.make(t, conn, homeRows)
	s.proxy.kill(t)
	<-done
	s.enter(t, home)
	s.watch = connect(t, s.url)
	s.over(t, "1")
	want(t, s.watch, "SELECT count(*), sum(a) FROM sluice_handle.whole", "100|5050")
}
