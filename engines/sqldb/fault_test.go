package sqldb

import (
	"context"
	"net"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// TestMariaDBFaults breaks the network within an answer.
func TestMariaDBFaults(t *testing.T) {
	s := maria(t)
	h := mariaConformance(nil)
	enginetest.Faults(t, h, net.JoinHostPort(s.Options["host"], s.Options["port"]), func(ctx context.Context, address string) (engines.Engine, error) {
		return Wrapper{}.Open(ctx, moved(t, s, address))
	})
}

// moved is a server at another address.
func moved(t *testing.T, s engines.Server, address string) engines.Server {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]string{"host": host, "port": port}
	for _, name := range []string{"driver", "database"} {
		options[name] = s.Options[name]
	}
	return engines.Server{Name: s.Name, Options: options, Mapping: s.Mapping}
}
