package tests

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// cancelGate holds back connections to home that are opened while it is closed, until open is closed.
type cancelGate struct {
	closed        atomic.Bool
	arrived, open chan struct{}
}

func (g *cancelGate) into(c *proxy.Config) {
	dial := c.Home.DialFunc
	c.Home.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if g.closed.Load() {
			g.arrived <- struct{}{}
			<-g.open
		}
		return dial(ctx, network, address)
	}
}

// countedInto makes a proxy count its streams.
func countedInto(n *streamCount) func(*proxy.Config) {
	return func(c *proxy.Config) { c.Wrappers = []engines.Wrapper{countedWrapper{duckdb.Wrapper{}, n}} }
}

// selfSigned makes a certificate for a proxy.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
