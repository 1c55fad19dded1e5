package proxy

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/sluicedb/sluice/proxy/startup"
)

// TestInterrupt cancels a session at each moment of a message's life.
func TestInterrupt(t *testing.T) {
	client, other := net.Pipe()
	defer client.Close()
	defer other.Close()
	s := &Session{ctx: t.Context(), home: newBackend(nil, nil, 'I'), login: &startup.Result{Client: client}}
	cause := errors.New("the cause")
	ended := func() error {
		r := s.begin()
		defer r.end()
		return context.Cause(r.ctx)
	}

	s.interrupt(cause)
	if s.setHandling(true); ended() != nil {
		t.Error("what came before the message has hit it")
	}
	s.interrupt(cause)
	if err := ended(); err != cause {
		t.Errorf("what came before the work began is lost: %v", err)
	}
	if err := ended(); err != nil {
		t.Errorf("it hit twice: %v", err)
	}
	r := s.begin()
	s.interrupt(cause)
	if err := context.Cause(r.ctx); err != cause {
		t.Errorf("what came during the work is lost: %v", err)
	}
	r.end()
	s.interrupt(cause)
	if missed := s.setHandling(false); missed != cause {
		t.Errorf("what came behind the work is lost: %v", missed)
	}
	s.interrupt(cause)
	if missed := s.setHandling(true); missed != nil {
		t.Errorf("what came between two messages is kept: %v", missed)
	}
}

// TestWatchAfterRest sees a client vanish during work that begins when nothing has been watched for a while.
func TestWatchAfterRest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is asked whether a client is there: see hungUp")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	other, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := &Session{ctx: t.Context(), client: client, home: newBackend(nil, nil, 'I'), login: &startup.Result{Client: client}}
	armed := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.armed
	}
	s.begin().end()
	for armed() {
		time.Sleep(watchInterval / 50) // nothing signals it
	}
	r := s.begin()
	defer r.end()
	other.Close()
	select {
	case <-r.ctx.Done():
	case <-time.After(40 * watchInterval):
	}
	if err := context.Cause(r.ctx); err != errClientGone {
		t.Errorf("work of a client that has gone ends by %v", err)
	}
}
