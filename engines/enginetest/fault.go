package enginetest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/certify"
)

// fault is what a network does to an answer once so many bytes of it have passed.
type fault int

const (
	reset     fault = iota // the connection is gone
	halfClose              // the server's side ends, as if it had said all
	silent                 // nothing comes any more
	slow                   // a byte comes at a time
)

// cut is a network between an engine and its server that does one thing to answers beyond so many bytes.
type cut struct {
	listener net.Listener
	server   string
	fault    fault
	after    int64
	stop     context.CancelFunc
	ctx      context.Context
	wg       sync.WaitGroup
}

func newCut(t *testing.T, server string, f fault, after int64) *cut {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cut{listener: l, server: server, fault: f, after: after}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.relay(conn.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		c.stop()
		_ = l.Close()
		c.wg.Wait()
	})
	return c
}

func (c *cut) relay(client *net.TCPConn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	end := context.AfterFunc(c.ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})
	defer end()
	c.wg.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	if n, _ := io.CopyN(client, server, c.after); n < c.after {
		return
	}
	switch c.fault {
	case reset:
		_ = client.SetLinger(0)
	case halfClose:
		_ = client.CloseWrite()
		<-c.ctx.Done()
	case silent:
		<-c.ctx.Done()
	case slow:
		for i := 0; i < 200; i++ {
			if _, err := io.CopyN(client, server, 1); err != nil {
				return
			}
			time.Sleep(time.Millisecond) // which is what makes it slow
		}
		_, _ = io.Copy(client, server)
	}
}

// Faults breaks the network within an answer. open opens the engine by another address than its server's own.
func Faults(t *testing.T, h Harness, server string, open func(ctx context.Context, address string) (engines.Engine, error)) {
	const after, rows = 200_000, 100_000
	for name, c := range map[string]struct {
		fault fault
		code  string // of the error, empty for none
	}{"reset": {reset, "08006"}, "half-close": {halfClose, "08006"}, "stall": {silent, "57014"}, "slow": {slow, ""}} {
		t.Run(name, func(t *testing.T) {
			network := newCut(t, server, c.fault, after)
			ctx, cancel := context.WithTimeout(t.Context(), h.WithDefaults().Patience)
			defer cancel()
			if c.fault == silent { // until somebody has had enough
				ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
			}
			e, err := open(ctx, network.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var read int64
			err = certify.OnStream(ctx, e, h.Rows(rows, 64), func(ctx context.Context, s engines.Stream) (err error) {
				read, err = certify.Drain(ctx, s)
				return err
			})
			switch {
			case c.code == "" && (err != nil || read != rows):
				t.Errorf("%d rows of %d: %v", read, rows, err)
			case c.code != "" && (err == nil || certify.CodeOf(err) != c.code || read == rows):
				t.Errorf("%d rows, and then %v (%s), want %s", read, err, certify.CodeOf(err), c.code)
			}
		})
	}
}
