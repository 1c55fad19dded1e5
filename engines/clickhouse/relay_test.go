package clickhouse

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// relayed stands between an engine and its server: what the server sends goes through copy. Its port replaces the server's.
func relayed(t *testing.T, s engines.Server, listener net.Listener, copy func(dst net.Conn, src io.Reader)) engines.Server {
	t.Helper()
	address := net.JoinHostPort(s.Options["host"], s.Options["port"])
	s = elsewhere(s, listener)
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			remote, err := net.Dial("tcp", address)
			if err != nil {
				_ = client.Close()
				continue
			}
			both := func() { _, _ = client.Close(), remote.Close() }
			all.Go(func() { defer both(); _, _ = io.Copy(remote, client) })
			all.Go(func() { defer both(); copy(client, remote) })
		}
	})
	return s
}

// elsewhere is a server by another address.
func elsewhere(s engines.Server, listener net.Listener) engines.Server {
	s.Options = maps.Clone(s.Options)
	s.Options["host"], s.Options["port"], _ = net.SplitHostPort(listener.Addr().String())
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func through(dst net.Conn, src io.Reader) { _, _ = io.Copy(dst, src) }

const manyRows = "SELECT number, toString(number) AS s FROM system.numbers LIMIT 1000000"

// TestFaults has the network fail in the middle of rows: always an error, never an end.
func TestFaults(t *testing.T) {
	overEach(t, checkFaults)
}

func checkFaults(t *testing.T, base engines.Server) {
	for name, copy := range map[string]func(dst net.Conn, src io.Reader){
		"reset": func(dst net.Conn, src io.Reader) {
			_, _ = io.CopyN(dst, src, 1<<20)
			_ = dst.(*net.TCPConn).SetLinger(0)
		},
		"half-closed": func(dst net.Conn, src io.Reader) {
			_, _ = io.CopyN(dst, src, 1<<20)
			_ = dst.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, src)
		},
		"garbled": func(dst net.Conn, src io.Reader) {
			_, _ = io.CopyN(dst, src, 1<<20)
			for range 1000 {
				_, _ = dst.Write([]byte{0xff, 0x00, 0x7f})
			}
		},
	} {
		s := relayed(t, base, listen(t), copy)
		err := failure(t.Context(), open(t, s), manyRows)
		if c := code(err); c != "08006" && c != "08P01" && c != "54000" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNetwork breaks the network within an answer, as it is done to every engine.
func TestNetwork(t *testing.T) {
	overEach(t, func(t *testing.T, s engines.Server) {
		t.Parallel() // one of its faults is silence
		enginetest.Faults(t, conformance(nil, nil), net.JoinHostPort(s.Options["host"], s.Options["port"]), func(ctx context.Context, address string) (engines.Engine, error) {
			moved := engines.Server{Name: s.Name, Options: maps.Clone(s.Options), Mapping: s.Mapping}
			moved.Options["host"], moved.Options["port"], _ = net.SplitHostPort(address)
			return Wrapper{}.Open(ctx, moved)
		})
	})
}

// TestSlowBytes has bytes come one by one.
func TestSlowBytes(t *testing.T) {
	overEach(t, checkSlowBytes)
}

func checkSlowBytes(t *testing.T, s engines.Server) {
	s = relayed(t, s, listen(t), func(dst net.Conn, src io.Reader) {
		one := make([]byte, 1)
		for {
			if _, err := src.Read(one); err != nil {
				return
			}
			if _, err := dst.Write(one); err != nil {
				return
			}
		}
	})
	if err := failure(t.Context(), open(t, s), "SELECT toNullable(number), [toString(number)] FROM system.numbers LIMIT 1000"); err != io.EOF {
		t.Error(err)
	}
}

// TestStall has a server stop in the midst of a block: a cancel and Close end the wait.
func TestStall(t *testing.T) {
	overEach(t, checkStall)
}

func checkStall(t *testing.T, s engines.Server) {
	s = relayed(t, s, listen(t), func(dst net.Conn, src io.Reader) {
		_, _ = io.CopyN(dst, src, 1<<20)
		_, _ = io.Copy(io.Discard, src)
	})
	e := open(t, s)
	stream, err := e.Open(t.Context(), engines.Query{SQL: manyRows})
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(100*time.Millisecond, func() { _ = stream.Close() })
	defer timer.Stop()
	for err == nil {
		_, err = stream.Next(t.Context())
	}
	if code(err) != "24000" {
		t.Error(err)
	}
}

// TestTLS encrypts, and trusts nobody whose certificate is not signed by whom it knows for the name it asks for.
func TestTLS(t *testing.T) {
	overEach(t, checkTLS)
}

func checkTLS(t *testing.T, s engines.Server) {
	certificate, authorities := selfSigned(t)
	listener := tls.NewListener(listen(t), &tls.Config{Certificates: []tls.Certificate{certificate}})
	base := relayed(t, s, listener, through)
	base.Options["secure"] = "true"
	for _, c := range []struct {
		options map[string]string
		code    string
	}{
		{map[string]string{"sslrootcert": authorities, "sslservername": "click.test"}, ""},
		{map[string]string{"skip_verify": "true"}, ""},
		{map[string]string{"sslrootcert": authorities}, "08001"},
		{map[string]string{"sslservername": "click.test"}, "08001"},
		{map[string]string{"sslrootcert": "/no/such/file"}, "HV00D"},
	} {
		s := base
		s.Options = maps.Clone(base.Options)
		maps.Copy(s.Options, c.options)
		err := failure(t.Context(), open(t, s), "SELECT 1")
		if c.code == "" && !errors.Is(err, io.EOF) || c.code != "" && code(err) != c.code {
			t.Errorf("%v: %v; want %q", c.options, err, c.code)
		}
	}
}

// selfSigned makes a certificate for click.test, and a file with it.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"click.test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, path
}
