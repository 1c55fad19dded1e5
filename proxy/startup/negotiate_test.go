package startup_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/proxy/startup"
)

func itoa(n uint32) string { return strconv.Itoa(int(n)) }

// Encryption requests are answered in any order before a startup packet.
func TestEncryptionRequests(t *testing.T) {
	plain := startProxy(t)
	for _, order := range [][][]byte{{sslRequest}, {gssRequest}, {sslRequest, gssRequest}, {gssRequest, sslRequest}, {gssRequest, sslRequest, gssRequest, sslRequest}} {
		c := plain.raw(t)
		for _, request := range order {
			c.say(request...)
			if got := c.hear(1); got != "N" {
				t.Fatalf("answer %q, want N", got)
			}
		}
		c.say(startupMessage(3<<16, "user", "alice", "database", "trust")...)
		if got := c.hear(9); got != "R\x00\x00\x00\x08\x00\x00\x00\x00" {
			t.Errorf("%d requests: %q instead of AuthenticationOk", len(order), got)
		}
		_ = c.Close()
	}
}

func TestGSSThenTLS(t *testing.T) {
	p := startProxy(t, withTLS(ecdsaCert()))
	c := p.raw(t)
	c.say(gssRequest...)
	c.hear(1)
	c.say(sslRequest...)
	if got := c.hear(1); got != "S" {
		t.Fatalf("answer %q, want S", got)
	}
	encrypted := raw{tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}), t}
	encrypted.say(sslRequest...) // once is enough
	if e := encrypted.fatal(); e.Code != "0A000" || !strings.HasPrefix(e.Message, "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.") {
		t.Errorf("%+v", e)
	}
}

// What is sent in clear behind an encryption request never reaches the session.
func TestStuffedBytes(t *testing.T) {
	for name, c := range map[string]struct {
		options []option
		request []byte
		answer  string
		message string
	}{
		"ssl refused": {nil, sslRequest, "N", "received unencrypted data after SSL request"},
		"ssl":         {[]option{withTLS(ecdsaCert())}, sslRequest, "S", "received unencrypted data after SSL request"},
		"gss":         {nil, gssRequest, "N", "received unencrypted data after GSSAPI encryption request"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := startProxy(t, c.options...).raw(t)
			conn.say(append(c.request, "junkjunk"...)...)
			if got := conn.hear(1); got != c.answer {
				t.Errorf("answer %q", got)
			}
			if e := conn.fatal(); e.Severity != "FATAL" || e.Code != "08P01" || e.Message != c.message {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Lengths that no startup packet has end the connection without a word and without reading on.
func TestPacketLengths(t *testing.T) {
	p := startProxy(t)
	for _, length := range []string{"00000003", "00000007", "00004e20", "ffffffff", "80000000", "00002715"} {
		c := p.raw(t)
		head, _ := hex.DecodeString(length)
		c.say(head...)
		if b := c.rest(); len(b) > 0 {
			t.Errorf("length %s: heard %q", length, b)
		}
	}
}

// The same packets get the same errors as from Postgres itself.
func TestPacketErrors(t *testing.T) {
	p := startProxy(t)
	for name, packet := range map[string][]byte{
		"version 4.0":           startupMessage(4 << 16),
		"no user":               startupMessage(3<<16, "database", "trust"),
		"nothing":               startupMessage(3 << 16),
		"empty user":            startupMessage(3<<16, "user", ""),
		"no terminator":         append([]byte{0, 0, 0, 13}, "\x00\x03\x00\x00user\x00"...),
		"junk behind":           append([]byte{0, 0, 0, 22}, "\x00\x03\x00\x00user\x00alice\x00\x00xx"...),
		"name without a value":  append([]byte{0, 0, 0, 14}, "\x00\x03\x00\x00user\x00\x00"...),
		"unterminated value":    append([]byte{0, 0, 0, 16}, "\x00\x03\x00\x00user\x00ali"...),
		"bad replication":       startupMessage(3<<16, "user", "alice", "database", "trust", "replication", "maybe"),
		"unknown setting":       startupMessage(3<<16, "user", "alice", "database", "trust", "no_such_setting", "1"),
		"no pg_hba.conf entry":  startupMessage(3<<16, "user", "alice", "database", "noplain"),
		"missing database":      startupMessage(3<<16, "user", "postgres", "database", "nowhere"),
		"no such role to trust": startupMessage(3<<16, "user", "nobody", "database", "trust"),
	} {
		t.Run(name, func(t *testing.T) {
			there, here := rawTo(t, home().Addr()), p.raw(t)
			there.say(packet...)
			here.say(packet...)
			want, got := lastError(there), lastError(here)
			if got == nil || want == nil {
				t.Fatalf("Postgres says %+v, the proxy %+v", want, got)
			}
			if got.Severity != want.Severity || got.Code != want.Code || got.Message != want.Message || got.Detail != want.Detail || got.Hint != want.Hint {
				t.Errorf("Postgres says %+v\nthe proxy %+v", want, got)
			}
		})
	}
}

// A client of the protocol before 3.0 is told in that protocol.
func TestOldProtocol(t *testing.T) {
	there, here := rawTo(t, home().Addr()), startProxy(t).raw(t)
	there.say(startupMessage(2 << 16)...)
	here.say(startupMessage(2 << 16)...)
	if want, got := there.rest(), here.rest(); !bytes.Equal(want, got) {
		t.Errorf("Postgres says %q, the proxy %q", want, got)
	}
}

// lastError reads to the end and returns the error that came last.
func lastError(c raw) *pgconn.PgError {
	c.t.Helper()
	b := c.rest()
	for len(b) > 5 {
		n := 1 + int(b[1])<<24 + int(b[2])<<16 + int(b[3])<<8 + int(b[4])
		if n > len(b) {
			c.t.Fatalf("no frames but %q", b)
		}
		if b[0] == 'E' {
			return decodeError(c.t, b[5:n])
		}
		b = b[n:]
	}
	return nil
}

// Minor versions and protocol extensions are negotiated before anything else, and come to what home speaks.
func TestNegotiateProtocolVersion(t *testing.T) {
	p := startProxy(t)
	for name, packet := range map[string][]byte{
		"3.0":        startupMessage(3<<16, "user", "alice", "database", "trust"),
		"3.1":        startupMessage(3<<16|1, "user", "alice", "database", "trust"),
		"3.2":        startupMessage(3<<16|2, "user", "alice", "database", "trust"),
		"3.9999":     startupMessage(3<<16|9999, "user", "alice", "database", "trust"),
		"extensions": startupMessage(3<<16, "user", "alice", "_pq_.a", "1", "database", "trust", "_pq_.b", ""),
		"both":       startupMessage(3<<16|2, "user", "alice", "_pq_.a", "1", "database", "trust"),
	} {
		t.Run(name, func(t *testing.T) {
			there, here := rawTo(t, home().Addr()), p.raw(t)
			there.say(packet...)
			here.say(packet...)
			if want, got := there.untilOk(), here.untilOk(); want != got {
				t.Errorf("Postgres says %x, the proxy %x", want, got)
			}
		})
	}
}

// frame reads one message.
func (r raw) frame() (typ byte, body []byte) {
	r.t.Helper()
	head := r.hear(5)
	return head[0], []byte(r.hear(int(binary.BigEndian.Uint32([]byte(head[1:]))) - 4))
}

// untilOk reads up to AuthenticationOk and returns what it read.
func (r raw) untilOk() string {
	r.t.Helper()
	all := ""
	for {
		typ, body := r.frame()
		if all += string(rune(typ)) + string(body); typ == 'R' && string(body) == "\x00\x00\x00\x00" {
			return all
		}
	}
}

// A client of protocol 3.2 gets the key that home makes for it, and cancels by it; one of 3.0 gets four bytes.
func TestCancelKeys(t *testing.T) {
	p := startProxy(t)
	for version, name := range map[uint32]string{3 << 16: "3.0", 3<<16 | 2: "3.2"} {
		t.Run(name, func(t *testing.T) {
			packet := startupMessage(version, "user", "alice", "database", "trust")
			there, here := rawTo(t, home().Addr()), p.raw(t)
			there.say(packet...)
			here.say(packet...)
			_, want := keyData(there)
			pid, got := keyData(here)
			if len(got) != len(want) || name == "3.0" && len(got) != 4 {
				t.Errorf("a key of %d bytes, Postgres' has %d", len(got), len(want))
			}
			query, _ := (&pgproto3.Query{String: "SELECT pg_sleep(60)"}).Encode(nil)
			here.say(query...)
			awaitActive(t, pid)
			c := p.raw(t)
			request, err := (&pgproto3.CancelRequest{ProcessID: pid, SecretKey: got}).Encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			c.say(request...)
			if b := c.rest(); len(b) > 0 {
				t.Errorf("an answer on the cancel connection: %q", b)
			}
			for {
				typ, body := here.frame()
				if typ == 'E' {
					if e := decodeError(t, body); e.Code != "57014" {
						t.Errorf("%+v", e)
					}
					return
				}
			}
		})
	}
}

// keyData reads the login up to its end and returns the key.
func keyData(c raw) (pid uint32, key []byte) {
	c.t.Helper()
	for {
		typ, body := c.frame()
		switch typ {
		case 'E':
			c.t.Fatalf("%+v", decodeError(c.t, body))
		case 'K':
			pid, key = binary.BigEndian.Uint32(body), body[4:]
		case 'Z':
			return pid, key
		}
	}
}

// awaitActive waits until a backend runs a statement.
func awaitActive(t *testing.T, pid uint32) {
	t.Helper()
	for range 1000 {
		rows, err := asSuperuser(t.Context(), "SELECT state FROM pg_stat_activity WHERE pid = $1::int AND query LIKE '%pg_sleep%'", strconv.Itoa(int(pid)))
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 1 && rows[0] == "active" {
			return
		}
		time.Sleep(10 * time.Millisecond) // nothing signals it
	}
	t.Fatal("the statement does not begin")
}

func TestTLSRequired(t *testing.T) {
	p := startProxy(t, withTLS(ecdsaCert()), func(cfg *startup.Config) { cfg.TLSRequired = true })
	_, err := connect(t, p.url("alice", "", "trust", "sslmode=disable"))
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "28000" || !strings.Contains(e.Hint, "sslmode=require") {
		t.Errorf("err = %v", err)
	}
	if _, err := connect(t, p.url("alice", "", "trust", "sslmode=require")); err != nil {
		t.Error(err)
	}
}

// Direct TLS needs ALPN "postgresql", and TLS at all.
func TestDirectTLS(t *testing.T) {
	p := startProxy(t, withTLS(ecdsaCert()), withVerifier)
	if _, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=require&sslnegotiation=direct&channel_binding=require")); err != nil {
		t.Error(err)
	}
	for name, protocols := range map[string][]string{"none": nil, "another": {"http/1.1"}} {
		c := tls.Client(p.raw(t).Conn, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols})
		_ = c.Handshake()
		_, _ = c.Write(startupMessage(3<<16, "user", "alice", "database", "trust"))
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("ALPN %s: an answer came", name)
		}
	}
	if _, err := connect(t, startProxy(t).url("alice", "", "trust", "sslmode=require&sslnegotiation=direct")); err == nil {
		t.Error("direct TLS works without a certificate")
	}
}

// The certificate's signature chooses the hash that a login is bound to; Ed25519 has none, and PLUS is not offered.
func TestCertificateHash(t *testing.T) {
	for name, c := range map[string]struct {
		algorithm x509.SignatureAlgorithm
		binds     bool
	}{
		"SHA-256": {x509.ECDSAWithSHA256, true}, "SHA-384": {x509.ECDSAWithSHA384, true},
		"SHA-512": {x509.SHA512WithRSA, true}, "Ed25519": {x509.PureEd25519, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, withTLS(certificate(c.algorithm)), withVerifier)
			_, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=require&channel_binding=require"))
			if (err == nil) != c.binds {
				t.Errorf("channel_binding=require: %v", err)
			}
			if _, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=require&channel_binding=prefer")); err != nil {
				t.Errorf("channel_binding=prefer: %v", err)
			}
		})
	}
}

// A password message beyond the bound closes the connection, with nothing allocated for it, as Postgres does.
func TestPasswordLength(t *testing.T) {
	for _, options := range [][]option{nil, {withVerifier}} {
		p := startProxy(t, options...)
		for _, database := range []string{"scram", "md5", "clear"} {
			user := map[string]string{"scram": "alice", "md5": "old", "clear": "alice"}[database]
			var said []string
			for _, address := range []string{home().Addr(), p.Addr().String()} {
				c := rawTo(t, address)
				c.say(startupMessage(3<<16, "user", user, "database", database)...)
				c.frame()
				c.say('p', 0x7f, 0xff, 0xff, 0xff)
				said = append(said, errorText(c))
			}
			if said[0] != said[1] {
				t.Errorf("%s: Postgres says %q, the proxy %q", database, said[0], said[1])
			}
		}
	}
}

// errorText reads to the end and returns what the last error says, empty for none.
func errorText(c raw) string {
	if e := lastError(c); e != nil {
		return e.Code + " " + e.Message
	}
	return ""
}
