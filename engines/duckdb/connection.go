package duckdb

import (
	"context"
	"strings"
	"sync"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/pgerr"
)

// connection is one DuckDB connection. It runs one statement at a time: the next one ends the stream of the last.
type connection struct {
	handle   bindings.Connection
	instance *instance // set where the connection holds a reference to give back

	// mu keeps an interrupt from reaching a connection that is gone. It is never held while a statement runs.
	mu sync.Mutex
}

// connect makes a connection that holds no reference on the instance.
func (in *instance) connect() (*connection, error) {
	c := &connection{}
	if bindings.Connect(in.db, &c.handle) == bindings.StateError {
		return nil, pgerr.New(pgerr.FdwUnableToConnect, "could not connect to DuckDB")
	}
	return c, nil
}

// noReadAhead makes DuckDB keep no more than a chunk for each thread ahead of the reader. Its own limit of about a
// megabyte leaves out what strings hold outside their vectors, so that with wide rows it lets gigabytes pile up. The
// setting is one of a connection, and the only one that the locked configuration lets through. It costs no throughput.
// Trap: DuckDB takes parts of it, and hangs when a part comes out as 0 bytes.
const noReadAhead = "SET streaming_buffer_size = '16KB'"

// keepIdle is how many connections of an instance wait to be used again.
const keepIdle = 8

// open returns a connection that is set up for streams and takes over the caller's reference.
func (in *instance) open() (*connection, error) {
	in.slot.mu.Lock()
	var c *connection
	if n := len(in.idle); n > 0 {
		c, in.idle = in.idle[n-1], in.idle[:n-1]
	}
	in.slot.mu.Unlock()
	if c != nil {
		c.instance = in
		return c, nil
	}
	c, err := in.connect()
	if err == nil {
		if _, err = c.exec(context.Background(), noReadAhead); err != nil {
			c.disconnect()
		}
	}
	if err != nil {
		in.release()
		return nil, err
	}
	c.instance = in
	return c, nil
}

// reuse gives back a connection on which nothing runs and nothing was interrupted. Once it is among the idle ones it is
// whoever's takes it, so nothing of it is read after that.
func (c *connection) reuse() {
	in := c.instance
	in.slot.mu.Lock()
	room := len(in.idle) < keepIdle
	if room {
		c.instance = nil
		in.idle = append(in.idle, c)
	}
	in.slot.mu.Unlock()
	if !room {
		c.disconnect()
		return
	}
	in.release()
}

func (c *connection) disconnect() {
	c.mu.Lock()
	bindings.Disconnect(&c.handle)
	c.mu.Unlock()
	if c.instance != nil {
		c.instance.release()
		c.instance = nil
	}
}

func (c *connection) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handle.Ptr != nil {
		bindings.Interrupt(c.handle)
	}
}

// interruptEvery is how often an interrupt is repeated until the statement gives in: one that arrives just before a
// statement starts is lost.
const interruptEvery = 5 * time.Millisecond

// watch interrupts the connection when ctx ends. The function it returns stops the watch, and returns only when no
// interrupt can come any more.
func (c *connection) watch(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	done, finished := make(chan struct{}), make(chan struct{})
	disarm := context.AfterFunc(ctx, func() {
		defer close(finished)
		c.interruptUntil(done)
	})
	return func() {
		if !disarm() {
			close(done)
			<-finished
		}
	}
}

func (c *connection) interruptUntil(done <-chan struct{}) {
	ticker := time.NewTicker(interruptEvery)
	defer ticker.Stop()
	for {
		c.interrupt()
		select {
		case <-done:
			return
		case <-ticker.C:
		}
	}
}

// exec runs a statement to its end, throwing rows away, and returns the number of rows it changed.
func (c *connection) exec(ctx context.Context, sql string, args ...*string) (int64, error) {
	cur, err := c.execute(ctx, sql, args, anyStatement)
	if err != nil {
		return 0, err
	}
	defer cur.close()
	changed := cur.rowsChanged()
	for {
		chunk, err := cur.fetch(ctx)
		if err != nil {
			return 0, err
		}
		if chunk.Ptr == nil {
			return changed, nil
		}
		bindings.DestroyDataChunk(&chunk)
	}
}

// texts runs a catalog query, whose columns must all be VARCHAR, and returns its rows; nil is NULL. It is for bounded
// results only.
func (c *connection) texts(ctx context.Context, sql string, args ...*string) ([][]*string, error) {
	cur, err := c.execute(ctx, sql, args, anyStatement)
	if err != nil {
		return nil, err
	}
	defer cur.close()
	var rows [][]*string
	for {
		chunk, err := cur.fetch(ctx)
		if err != nil || chunk.Ptr == nil {
			return rows, err
		}
		rows = appendTexts(rows, chunk)
		bindings.DestroyDataChunk(&chunk)
	}
}

func appendTexts(rows [][]*string, chunk bindings.DataChunk) [][]*string {
	n, width := int(bindings.DataChunkGetSize(chunk)), int(bindings.DataChunkGetColumnCount(chunk))
	first := len(rows)
	for range n {
		rows = append(rows, make([]*string, width))
	}
	for j := range width {
		v := vectorOf(bindings.DataChunkGetVector(chunk, bindings.IdxT(j)), n)
		values := slice[stringT](v.data, n)
		for i := range n {
			if v.isValid(i) {
				s := string(values[i].bytes())
				rows[first+i][j] = &s
			}
		}
	}
	return rows
}

// literal quotes s as a string literal.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// ident quotes s as an identifier.
func ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
