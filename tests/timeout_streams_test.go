package tests

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// streamCount counts the streams and write transactions that are open, or about to be, at the engines of a proxy.
type streamCount struct{ open, opened atomic.Int64 }

// newCountedWorld is newWorld with a proxy whose engines are counted.
func newCountedWorld(t *testing.T, duck ...string) (*world, *streamCount) {
	t.Helper()
	n := &streamCount{}
	w := &world{home: hometest.Start(t), dir: t.TempDir()}
	w.direct = hometest.Database(t, w.home)
	u, err := url.Parse(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	w.database = strings.TrimPrefix(u.Path, "/")
	w.addr = serveProxy(t, proxyConfig(t, w.home, func(c *proxy.Config) {
		c.Wrappers = []engines.Wrapper{countedWrapper{duckdb.Wrapper{}, n}}
		c.KeepAlive = time.Second
	}))
	w.through = proxyURL(w.addr, w.database)
	w.file = filepath.Join(w.dir, "lake.duckdb")
	duckExec(t, w.file, duck...)
	exec(t, w.through, "CREATE EXTENSION sluice", w.server("lake", ""))
	return w, n
}

// await waits until just n streams are open.
func (c *streamCount) await(t *testing.T, n int64) {
	t.Helper()
	for deadline := time.Now().Add(patience); c.open.Load() != n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams are open, want %d", c.open.Load(), n)
		}
		time.Sleep(5 * time.Millisecond) // nothing signals it
	}
}

// awaitOpened waits until at least n streams were opened since the beginning.
func (c *streamCount) awaitOpened(t *testing.T, n int64) {
	t.Helper()
	for deadline := time.Now().Add(patience); c.opened.Load() < n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams were opened, want %d", c.opened.Load(), n)
		}
		time.Sleep(5 * time.Millisecond) // nothing signals it
	}
}

func (c *streamCount) begin() (end func()) {
	c.open.Add(1)
	c.opened.Add(1)
	var once atomic.Bool
	return func() {
		if once.CompareAndSwap(false, true) {
			c.open.Add(-1)
		}
	}
}

type countedWrapper struct {
	engines.Wrapper
	count *streamCount
}

func (w countedWrapper) Open(ctx context.Context, s engines.Server) (engines.Engine, error) {
	e, err := w.Wrapper.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	return countedEngine{e, w.count}, nil
}

type countedEngine struct {
	engines.Engine
	count *streamCount
}

func (e countedEngine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	end := e.count.begin() // an engine may do most of the work here
	s, err := e.Engine.Open(ctx, q)
	if err != nil {
		end()
		return nil, err
	}
	return countedStream{s, end}, nil
}

func (e countedEngine) Begin(ctx context.Context) (engines.Tx, error) {
	end := e.count.begin()
	tx, err := e.Engine.Begin(ctx)
	if err != nil {
		end()
		return nil, err
	}
	return countedTx{tx, end}, nil
}

type countedStream struct {
	engines.Stream
	end func()
}

func (s countedStream) Close() error {
	defer s.end()
	return s.Stream.Close()
}

type countedTx struct {
	engines.Tx
	end func()
}

func (x countedTx) Commit(ctx context.Context) error {
	err := x.Tx.Commit(ctx)
	if err == nil {
		x.end()
	}
	return err
}

func (x countedTx) Rollback() error {
	defer x.end()
	return x.Tx.Rollback()
}
