package postgres

import (
	"context"
	"maps"
	"net"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// TestFaults breaks the network within an answer.
func TestFaults(t *testing.T) {
	s := server(t, nil)
	enginetest.Faults(t, conformance(nil), net.JoinHostPort(s.Options["host"], s.Options["port"]), func(ctx context.Context, address string) (engines.Engine, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		moved := s
		moved.Options = maps.Clone(s.Options)
		moved.Options["host"], moved.Options["port"] = host, port
		return Wrapper{}.Open(ctx, moved)
	})
}
