package clickhouse

import (
	"context"
	"strconv"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
	"github.com/sluicedb/sluice/internal/clickhousetest"
)

// overCurrent runs a test on the server of a current ClickHouse, over each protocol.
func overCurrent(t *testing.T, test func(t *testing.T, s engines.Server), statements ...string) {
	s := clickhousetest.Current(t)
	s.Run(t, statements...)
	for protocol, port := range map[string]string{overNative: s.Port, overHTTP: s.HTTP} {
		t.Run(protocol, func(t *testing.T) {
			test(t, engines.Server{
				Name: "events", Options: map[string]string{"host": s.Host, "port": port, "protocol": protocol},
				Mapping: map[string]string{"user": "analyst", "password": "secret"},
			})
		})
	}
}

// TestRealConformance is TestConformance on a current ClickHouse.
func TestRealConformance(t *testing.T) {
	overCurrent(t, func(t *testing.T, s engines.Server) {
		remote := clickhousetest.Current(t)
		enginetest.Run(t, conformance(func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, s) },
			func() int { return remote.Running(t) }))
	})
}

// TestPausesAreBorne has the server wait for who reads no rows, longer than it does by itself, where a statement may say so.
func TestPausesAreBorne(t *testing.T) { checkPauses(t, server(t)) }

func TestRealPausesAreBorne(t *testing.T) {
	overCurrent(t, func(t *testing.T, s engines.Server) {
		if s.Options["protocol"] != overHTTP {
			checkPauses(t, s)
		}
	})
}

func checkPauses(t *testing.T, s engines.Server) {
	got, err := open(t, s).texts(t.Context(), "SELECT value FROM system.settings WHERE name = 'send_timeout'")
	if want := strconv.Itoa(mostPause); err != nil || len(got) != 1 || got[0][0] != want {
		t.Errorf("it waits for %v: %v", got, err)
	}
}

// TestRealProtocols runs the tests of an old server's protocols on a current one. That of connecting is not among them: clickhouse-local
// ends where what greets it does not speak its protocol.
func TestRealProtocols(t *testing.T) {
	for name, check := range map[string]func(t *testing.T, s engines.Server){
		"reader": checkReader, "reconnect": checkReconnect, "broken": checkBroken, "limit": checkServerLimit,
		"faults": checkFaults, "slow bytes": checkSlowBytes, "stall": checkStall, "TLS": checkTLS, "tag": checkTag, "types": checkTypes,
	} {
		t.Run(name, func(t *testing.T) { overCurrent(t, check) })
	}
}
