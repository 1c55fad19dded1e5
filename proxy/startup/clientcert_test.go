package startup_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/proxy/startup"
)

// issue makes a client's certificate for a name, signed by an authority.
func issue(t *testing.T, authority tls.Certificate, name string, usage x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	c, err := sign(authority, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sign makes a certificate with a new key, valid now. One of an authority's that has an authority goes with that.
func sign(authority tls.Certificate, template *x509.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	parent, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return tls.Certificate{}, err
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), authority.PrivateKey)
	chain := [][]byte{der}
	if !bytes.Equal(parent.RawIssuer, parent.RawSubject) {
		chain = append(chain, authority.Certificate...)
	}
	return tls.Certificate{Certificate: chain, PrivateKey: key}, err
}

// withClientCert asks for certificates signed by an authority, and lets nobody in whom home does not ask.
func withClientCert(authority tls.Certificate, demand startup.CertDemand, m *startup.IdentMap) option {
	cas := x509.NewCertPool()
	cas.AppendCertsFromPEM(certPEM(authority))
	return func(cfg *startup.Config) {
		cfg.ClientCert = func() *startup.ClientCert { return &startup.ClientCert{CAs: cas, Demand: demand, Map: m} }
		cfg.Admit = func(net.Addr) bool { return false }
	}
}

// files writes a certificate for libpq and returns what names it in a URL.
func files(t *testing.T, c tls.Certificate) string {
	dir := t.TempDir()
	for name, text := range map[string][]byte{"crt": certPEM(c), "key": keyPEM(c)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return "&sslcert=" + filepath.Join(dir, "crt") + "&sslkey=" + filepath.Join(dir, "key")
}

func TestClientCert(t *testing.T) {
	authority, stranger := certificate(x509.ECDSAWithSHA256), certificate(x509.ECDSAWithSHA256)
	ident, err := startup.ParseIdentMap("sluice hatter alice", "sluice")
	if err != nil {
		t.Fatal(err)
	}
	alice := files(t, issue(t, authority, "alice", x509.ExtKeyUsageClientAuth))
	hatter := files(t, issue(t, authority, "hatter", x509.ExtKeyUsageClientAuth))
	server := files(t, issue(t, authority, "alice", x509.ExtKeyUsageServerAuth))
	forged := files(t, issue(t, stranger, "alice", x509.ExtKeyUsageClientAuth))
	zero := files(t, issue(t, authority, "alice\x00.evil", x509.ExtKeyUsageClientAuth))
	const needs, none, failed = "connection requires a valid client certificate", "the home server asks for no password of user \"alice\", which does for local clients only", "certificate authentication failed for user \"alice\""
	const tlsError = "tls"
	for _, c := range []struct {
		name     string
		demand   startup.CertDemand
		ident    *startup.IdentMap
		database string // trust: home asks for nothing; scram: for a password
		settings string
		fails    string
	}{
		{"optional, shown", startup.CertOptional, nil, "trust", "sslmode=require" + alice, ""},
		{"optional, not shown", startup.CertOptional, nil, "trust", "sslmode=require", none},
		{"optional, another's", startup.CertOptional, nil, "trust", "sslmode=require" + hatter, none},
		{"optional, password", startup.CertOptional, nil, "scram", "sslmode=require", ""},
		{"optional, in clear", startup.CertOptional, nil, "scram", "sslmode=disable", ""},
		{"optional, forged", startup.CertOptional, nil, "scram", "sslmode=require" + forged, tlsError},
		{"optional, a server's", startup.CertOptional, nil, "scram", "sslmode=require" + server, tlsError},
		{"mapped", startup.CertOptional, ident, "trust", "sslmode=require" + hatter, ""},
		{"mapped, not listed", startup.CertOptional, ident, "trust", "sslmode=require" + alice, none},
		{"verify-ca, shown", startup.CertVerifyCA, nil, "scram", "sslmode=require&channel_binding=require" + hatter, ""},
		{"verify-ca, another's does not admit", startup.CertVerifyCA, nil, "trust", "sslmode=require" + hatter, none},
		{"verify-ca, not shown", startup.CertVerifyCA, nil, "scram", "sslmode=require", needs},
		{"verify-ca, in clear", startup.CertVerifyCA, nil, "scram", "sslmode=disable", needs},
		{"verify-full, shown", startup.CertVerifyFull, nil, "scram", "sslmode=require" + alice, ""},
		{"verify-full, direct", startup.CertVerifyFull, nil, "trust", "sslmode=require&sslnegotiation=direct" + alice, ""},
		{"verify-full, mapped", startup.CertVerifyFull, ident, "trust", "sslmode=require" + hatter, ""},
		{"verify-full, another's", startup.CertVerifyFull, nil, "scram", "sslmode=require" + hatter, failed},
		{"verify-full, a name that goes on", startup.CertVerifyFull, nil, "scram", "sslmode=require" + zero, failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startProxy(t, withTLS(ecdsaCert()), withVerifier, withClientCert(authority, c.demand, c.ident))
			got, err := connect(t, p.url("alice", "wonderland", c.database, c.settings))
			var e *pgconn.PgError
			switch {
			case c.fails == "" && (err != nil || got != "alice@"+c.database):
				t.Errorf("logged in as %q: %v", got, err)
			case c.fails == tlsError && (err == nil || errors.As(err, &e)):
				t.Errorf("err = %v, want one of TLS", err)
			case c.fails != "" && c.fails != tlsError && (!errors.As(err, &e) || e.Severity != "FATAL" || e.Code != "28000" || e.Message != c.fails):
				t.Errorf("err = %v, want %s", err, c.fails)
			}
		})
	}
}
