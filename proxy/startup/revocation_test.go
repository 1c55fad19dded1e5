package startup_test

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/proxy/startup"
)

// revoked is the serial number that every list names.
const revoked = 13

// authorities are a root and some below it, and their revocation lists.
type authorities struct {
	root, middle, revoked, unlisted, late tls.Certificate
	lists                                 []byte // PEM
}

func newAuthorities() authorities {
	a := authorities{root: certificate(x509.ECDSAWithSHA256)}
	below := func(name string, serial int64) tls.Certificate {
		c, err := sign(a.root, &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		})
		if err != nil {
			panic(err)
		}
		return c
	}
	a.middle, a.revoked, a.unlisted, a.late = below("middle", 3), below("revoked", revoked), below("unlisted", 4), below("late", 5)
	for _, c := range []tls.Certificate{a.root, a.middle, a.revoked} {
		a.lists = append(a.lists, crl(c, time.Now().Add(-time.Minute), nil)...)
	}
	a.lists = append(a.lists, crl(a.late, time.Now().Add(-time.Hour), nil)...)
	return a
}

// crl makes the revocation list of an authority, for half an hour.
func crl(authority tls.Certificate, from time.Time, extensions []pkix.Extension) []byte {
	issuer, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(1), ThisUpdate: from, NextUpdate: from.Add(30 * time.Minute), ExtraExtensions: extensions,
		RevokedCertificateEntries: []x509.RevocationListEntry{{SerialNumber: big.NewInt(revoked), RevocationTime: from}},
	}, issuer, authority.PrivateKey.(crypto.Signer))
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
}

// Certificates are refused by revocation lists as home refuses them by the same ones.
func TestRevoked(t *testing.T) {
	h := home()
	a := started.clients
	lists, err := startup.ParseCRLs(a.lists)
	if err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, withTLS(ecdsaCert()), withVerifier, withClientCert(a.root, startup.CertVerifyFull, nil), func(cfg *startup.Config) {
		asked := cfg.ClientCert()
		asked.CRLs = lists
		cfg.ClientCert = func() *startup.ClientCert { return asked }
	})
	for _, c := range []struct {
		name      string
		authority tls.Certificate
		serial    int64
		taken     bool
	}{
		{"the root's", a.root, 2, true},
		{"the root's, revoked", a.root, revoked, false},
		{"another's", a.middle, 2, true},
		{"another's, revoked", a.middle, revoked, false},
		{"a revoked authority's", a.revoked, 2, false},
		{"without a list", a.unlisted, 2, false},
		{"with a list of the past", a.late, 2, false},
	} {
		cert, err := sign(c.authority, &x509.Certificate{
			SerialNumber: big.NewInt(c.serial), Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			t.Fatal(err)
		}
		url := p.url("alice", "wonderland", "scram", "sslmode=require"+files(t, cert))
		for where, url := range map[string]string{"home": strings.Replace(url, p.Addr().String(), h.Addr(), 1), "the proxy": url} {
			_, err := connect(t, url)
			var e *pgconn.PgError
			if (err == nil) != c.taken || errors.As(err, &e) {
				t.Errorf("%s at %s: %v", c.name, where, err)
			}
		}
	}
	if _, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=require")); err == nil {
		t.Error("lists take the place of a certificate")
	}
}

func TestParseCRLs(t *testing.T) {
	root := certificate(x509.ECDSAWithSHA256)
	delta := []pkix.Extension{{Id: []int{2, 5, 29, 27}, Critical: true, Value: []byte{2, 1, 1}}}
	good := crl(root, time.Now(), nil)
	for want, text := range map[string][]byte{
		"no revocation list": certPEM(root),
		"2.5.29.27":          crl(root, time.Now(), delta),
		"x509":               pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: []byte("junk")}),
	} {
		if _, err := startup.ParseCRLs(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if lists, err := startup.ParseCRLs(append(certPEM(root), append(good, good...)...)); err != nil || len(lists) != 2 {
		t.Errorf("%d lists, %v", len(lists), err)
	}
}
