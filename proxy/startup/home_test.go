package startup_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/embedded"
)

// started is a Postgres that asks for another proof on each database, and what ends it.
var started struct {
	sync.Once
	home *embedded.Home
	stop func() error
	err  error

	clients authorities // of clients' certificates
}

// home returns the Postgres of the tests, which it starts on first use: fuzz workers need none.
func home() *embedded.Home {
	started.Do(func() { started.home, started.stop, started.err = startHome(context.Background()) })
	if started.err != nil {
		panic(started.err)
	}
	return started.home
}

const hba = `
local all         all                    trust
host  all         postgres 127.0.0.1/32  trust
hostssl ident     all      127.0.0.1/32  cert map=sluice
host  trust       all      127.0.0.1/32  trust
host  md5         all      127.0.0.1/32  md5
host  clear       all      127.0.0.1/32  password
hostssl   onlytls all      127.0.0.1/32  scram-sha-256
host      onlytls all      127.0.0.1/32  reject
hostnossl noplain all      127.0.0.1/32  reject
host  all         all      127.0.0.1/32  scram-sha-256
`

const setup = `
CREATE ROLE alice LOGIN PASSWORD 'wonderland';
CREATE ROLE crowded LOGIN PASSWORD 'wonderland' CONNECTION LIMIT 0;
CREATE ROLE locked LOGIN;
CREATE ROLE expired LOGIN PASSWORD 'wonderland' VALID UNTIL '2020-01-01';
CREATE ROLE slow LOGIN PASSWORD 'SCRAM-SHA-256$20000:c2FsdHNhbHRzYWx0c2FsdA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
SET password_encryption = md5;
CREATE ROLE old LOGIN PASSWORD 'rabbit';
`

func TestMain(m *testing.M) {
	status := m.Run()
	if started.stop != nil {
		if err := started.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func startHome(ctx context.Context) (*embedded.Home, func() error, error) {
	dir, err := os.MkdirTemp("", "sluice-startup-")
	if err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, nil, err
	}
	settings := map[string]string{"ssl": "on", "fsync": "off"}
	cert := certificate(x509.ECDSAWithSHA256)
	started.clients = newAuthorities()
	for name, text := range map[string][]byte{
		"hba_file": []byte(hba), "ident_file": []byte(idents + laterIdents), "ssl_ca_file": certPEM(started.clients.root),
		"ssl_crl_file": started.clients.lists, "ssl_cert_file": certPEM(cert), "ssl_key_file": keyPEM(cert),
	} {
		settings[name] = filepath.Join(dir, name)
		if err := writeFor("postgres", settings[name], text); err != nil {
			return nil, nil, err
		}
	}
	h, err := embedded.Start(ctx, filepath.Join(dir, "home"), embedded.Options{Settings: settings})
	if err != nil {
		return nil, nil, err
	}
	stop := func() error { return errors.Join(h.Stop(), os.RemoveAll(dir)) }
	for _, sql := range []string{setup, "CREATE DATABASE trust", "CREATE DATABASE md5", "CREATE DATABASE clear",
		"CREATE DATABASE onlytls", "CREATE DATABASE noplain", "CREATE DATABASE scram", "CREATE DATABASE ident"} {
		if _, err := runAt(ctx, h.URL("postgres"), sql); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
	}
	return h, stop, nil
}

// writeFor writes a file that belongs to a user, where this process may give files away.
func writeFor(name, path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	return os.Chown(path, uid, -1)
}

// asSuperuser runs SQL at home and returns the first column.
func asSuperuser(ctx context.Context, sql string, args ...string) ([]string, error) {
	return runAt(ctx, home().URL("postgres"), sql, args...)
}

func runAt(ctx context.Context, url, sql string, args ...string) ([]string, error) {
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	if len(args) == 0 {
		_, err := c.Exec(ctx, sql).ReadAll()
		return nil, err
	}
	values := [][]byte{}
	for _, a := range args {
		values = append(values, []byte(a))
	}
	res := c.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	var out []string
	for _, row := range res.Rows {
		out = append(out, string(row[0]))
	}
	return out, res.Err
}

// verifierOf is what sluice.get_auth will do: no superusers, and an empty verifier for roles that do not exist.
func verifierOf(ctx context.Context, role string) (string, bool, error) {
	rows, err := asSuperuser(ctx, `SELECT CASE WHEN rolsuper THEN 'no' WHEN rolvaliduntil < now() THEN '' ELSE coalesce(rolpassword, '') END FROM pg_authid WHERE rolname = $1`, role)
	if err != nil || len(rows) == 0 {
		return "", err == nil, err
	}
	return rows[0], rows[0] != "no", nil
}

// certificate makes a self-signed server certificate with a signature of the kind given.
func certificate(algorithm x509.SignatureAlgorithm) tls.Certificate {
	var key crypto.Signer
	var err error
	switch algorithm {
	case x509.PureEd25519:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case x509.SHA512WithRSA:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, SignatureAlgorithm: algorithm,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// certPEM is a certificate and those that lead to its authority.
func certPEM(c tls.Certificate) []byte {
	var text []byte
	for _, der := range c.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}

func keyPEM(c tls.Certificate) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
