package proxy

import (
	"context"
	"errors"
	"net"
	"testing"

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
