package startup

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// script is a connection whose other side says fixed bytes and leaves.
type script struct {
	io.Reader
	heard  bytes.Buffer
	closed bool
}

func newScript(says []byte) *script { return &script{Reader: bytes.NewReader(says)} }

func (s *script) Write(b []byte) (int, error)      { return s.heard.Write(b) }
func (s *script) Close() error                     { s.closed = true; return nil }
func (s *script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// encode concatenates messages.
func encode(messages ...pgproto3.Message) []byte {
	var out []byte
	for _, m := range messages {
		out, _ = m.Encode(out)
	}
	return out
}

// between runs Accept between a client and a home that say what they say.
func between(t testing.TB, client, home []byte, verifier string) (*Result, *script, *script, error) {
	t.Helper()
	config, err := pgconn.ParseConfig("postgres://sluice@127.0.0.1/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	c, h := newScript(client), newScript(home)
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return h, nil }
	r, err := Accept(context.Background(), c, Config{
		Home:     config,
		Verifier: func(context.Context, string) (string, bool, error) { return verifier, verifier != "", nil },
	})
	return r, c, h, err
}

var alice = encode(&pgproto3.StartupMessage{ProtocolVersion: protocol30, Parameters: map[string]string{"user": "alice"}})

// trusting is what a home says that asks for nothing.
var trusting = encode(&pgproto3.AuthenticationOk{}, &pgproto3.ParameterStatus{Name: "server_version", Value: "15.1"},
	&pgproto3.BackendKeyData{ProcessID: 7, SecretKey: []byte("key!")}, &pgproto3.ReadyForQuery{TxStatus: 'I'})

// What both sides said beyond the startup exchange is handed over, and what is for the client is not sent yet.
func TestLeftovers(t *testing.T) {
	r, c, _, err := between(t, append(alice, "client's"...), append(trusting, "home's"...), "")
	if err != nil {
		t.Fatal(err)
	}
	if string(r.ClientLeft) != "client's" || string(r.HomeLeft) != "home's" {
		t.Errorf("left: %q and %q", r.ClientLeft, r.HomeLeft)
	}
	if want := trusting[:len(trusting)-6]; !bytes.Equal(r.Login, want) {
		t.Errorf("login %q, want %q", r.Login, want)
	}
	if c.heard.Len() > 0 || c.closed {
		t.Errorf("the client heard %q", c.heard.Bytes())
	}
	if r.PID != 7 || string(r.SecretKey) != "key!" || r.Status["server_version"] != "15.1" || r.TxStatus != 'I' {
		t.Errorf("%+v", r)
	}
}

// A home that says too much, or what no home says, fails the login with words, and both connections are closed.
func TestStrangeHome(t *testing.T) {
	for name, says := range map[string][]byte{
		"nothing":            nil,
		"half a frame":       trusting[:7],
		"half a login":       trusting[:20],
		"a row":              encode(&pgproto3.DataRow{}),
		"an unknown request": {'R', 0, 0, 0, 8, 0, 0, 0, 99},
		"GSS":                {'R', 0, 0, 0, 8, 0, 0, 0, 7},
		"a short request":    {'R', 0, 0, 0, 6, 0, 0},
		"a huge frame":       {'S', 0x3f, 0xff, 0xff, 0xff},
		"a second request":   append(encode(&pgproto3.AuthenticationOk{}), encode(&pgproto3.AuthenticationCleartextPassword{})...),
		"only PLUS":          encode(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{mechanismPlus}}),
		"endless notices":    bytes.Repeat(encode(&pgproto3.NoticeResponse{Message: string(make([]byte, 1<<19))}), 10),
	} {
		_, c, h, err := between(t, alice, says, "")
		if err == nil {
			t.Errorf("%s: a login", name)
			continue
		}
		if !bytes.HasPrefix(c.heard.Bytes(), []byte{'E'}) || !bytes.Contains(c.heard.Bytes(), []byte("FATAL")) {
			t.Errorf("%s: the client heard %q", name, c.heard.Bytes())
		}
		if !c.closed || !h.closed {
			t.Errorf("%s: closed: client %v, home %v", name, c.closed, h.closed)
		}
	}
}

// Whatever two sides say, Accept ends, and either both connections are closed or a login stands.
func FuzzAccept(f *testing.F) {
	secret, _ := secretOf(f, "secret", []byte("saltsaltsaltsalt"), 1)
	sasl := encode(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{mechanismPlus, mechanism}})
	first := encode(&pgproto3.SASLInitialResponse{AuthMechanism: mechanism, Data: []byte("n,,n=,r=abc")},
		&pgproto3.SASLResponse{Data: []byte("c=biws,r=abc,p=AAAA")})
	f.Add(alice, trusting, "")
	f.Add(append(alice, first...), sasl, secret)
	f.Add(append(alice, first...), append(sasl, trusting...), "")
	f.Add(append(alice, encode(&pgproto3.PasswordMessage{Password: "x"})...), append(encode(&pgproto3.AuthenticationMD5Password{}), trusting...), "")
	f.Add(encode(&pgproto3.CancelRequest{ProcessID: 1, SecretKey: []byte("key!")}), []byte{}, "")
	f.Add(encode(&pgproto3.SSLRequest{}), encode(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P03"}), "")
	f.Fuzz(func(t *testing.T, client, home []byte, verifier string) {
		r, c, h, err := between(t, client, home, verifier)
		switch {
		case err != nil && !c.closed:
			t.Error("the client's connection was left open")
		case err != nil && h.heard.Len() > 0 && !h.closed:
			t.Error("home's connection was left open")
		case err == nil && r.Cancel == nil && (c.closed || h.closed || len(r.Login) == 0):
			t.Error("a login on closed connections")
		}
	})
}
