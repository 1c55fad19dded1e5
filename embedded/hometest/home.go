package hometest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/embedded"
)

// startTimeout bounds the making of a cluster on a busy machine.
const startTimeout = 2 * time.Minute

var shared struct {
	sync.Mutex
	home *embedded.Home
	dir  string
	err  error
	ends []func() error
}

// AtEnd has something else end with the tests.
func AtEnd(end func() error) {
	shared.Lock()
	defer shared.Unlock()
	shared.ends = append(shared.ends, end)
}

// databases numbers the databases of this process.
var databases atomic.Int64

// Start returns the home of this test process, which the first call starts without fsync in a temporary directory.
func Start(tb testing.TB) *embedded.Home {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.home == nil && shared.err == nil {
		shared.home, shared.err = start()
	}
	if shared.err != nil {
		tb.Fatalf("no home Postgres for tests: %v", shared.err)
	}
	return shared.home
}

// start runs a cluster that nobody wants to keep.
func start() (*embedded.Home, error) {
	dir, err := os.MkdirTemp("", "sluice-home-")
	if err != nil {
		return nil, err
	}
	shared.dir = dir
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return embedded.Start(ctx, dir, embedded.Options{Settings: map[string]string{
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off",
	}})
}

// Database makes an empty database for one test, dropped when the test ends, and returns its URL.
func Database(tb testing.TB, home *embedded.Home) (url string) {
	tb.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	if err := execute(home, "CREATE DATABASE "+name); err != nil {
		tb.Fatalf("cannot make a database for the test: %v", err)
	}
	tb.Cleanup(func() {
		if err := drop(home, name); err != nil {
			tb.Errorf("cannot drop the test's database: %v", err)
		}
	})
	return home.URL(name)
}

// drop drops a database. Postgres gives sessions that it ends five seconds to do so, which may not do on a busy machine.
func drop(home *embedded.Home, name string) (err error) {
	for range 5 {
		err = execute(home, "DROP DATABASE "+name+" WITH (FORCE)")
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "55006" {
			return err
		}
	}
	return err
}

func execute(home *embedded.Home, sql string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, home.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// Main runs the tests of a package, ends the home that they started, fails if goroutines are left, and exits.
func Main(m *testing.M, opts ...goleak.Option) { goleak.VerifyTestMain(stopping{m}, opts...) }

// stopping is a test run with the end of its home.
type stopping struct{ m *testing.M }

// Run runs the tests and returns the exit code.
func (s stopping) Run() int {
	code := s.m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot end what the tests have started:", err)
		return max(code, 1)
	}
	return code
}

func stop() error {
	shared.Lock()
	defer shared.Unlock()
	var err error
	if shared.home != nil {
		err = shared.home.Stop()
	}
	if shared.dir != "" {
		err = errors.Join(err, os.RemoveAll(shared.dir))
	}
	for _, end := range shared.ends {
		err = errors.Join(err, end())
	}
	return err
}
