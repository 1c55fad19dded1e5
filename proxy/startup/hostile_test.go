package startup_test

import (
	"encoding/base64"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/proxy/startup"
)

// sasl makes the body of a SASLInitialResponse whose length word says what it likes.
func sasl(mechanism string, length int, data string) []byte {
	body := append([]byte(mechanism), 0)
	body = append(body, byte(length>>24), byte(length>>16), byte(length>>8), byte(length))
	return frameOf('p', append(body, data...))
}

func frameOf(typ byte, body []byte) []byte {
	n := len(body) + 4
	return append([]byte{typ, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

// answer sends what a client of user alice says during its exchange, and returns the error that comes. %NONCE stands for
// the nonce of both sides.
func (r raw) answer(first []byte, final string) *pgconn.PgError {
	r.t.Helper()
	r.say(startupMessage(3<<16, "user", "alice", "database", "scram")...)
	if typ, _ := r.frame(); typ != 'R' {
		r.t.Fatalf("a message of type %q in place of AuthenticationSASL", typ)
	}
	r.say(first...)
	if final == "" {
		return lastError(r)
	}
	typ, body := r.frame()
	if typ != 'R' {
		return decodeError(r.t, body)
	}
	nonce, _, _ := strings.Cut(strings.TrimPrefix(string(body[4:]), "r="), ",")
	r.say(frameOf('p', []byte(strings.ReplaceAll(final, "%NONCE", nonce)))...)
	return lastError(r)
}

// What no client says in a SCRAM exchange is refused in Postgres' words, and no such message does harm.
func TestHostileClient(t *testing.T) {
	p := startProxy(t, withVerifier)
	const scram, good = "SCRAM-SHA-256", "n,,n=,r=abcdefghijklmnopqrstuvwx"
	first := func(data string) []byte { return sasl(scram, len(data), data) }
	proof := ",p=" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, c := range map[string]struct {
		first []byte
		final string
	}{
		"another mechanism":         {sasl("PLAIN", len(good), good), ""},
		"PLUS without TLS":          {sasl(scram+"-PLUS", len(good), good), ""},
		"no mechanism":              {sasl("", len(good), good), ""},
		"a length beyond the end":   {sasl(scram, 1<<30, good), ""},
		"a length that is short":    {sasl(scram, 3, good), ""},
		"a negative length":         {sasl(scram, -2, good), ""},
		"nothing":                   {frameOf('p', nil), ""},
		"no terminator":             {frameOf('p', []byte(scram)), ""},
		"not a password":            {frameOf('Q', []byte("select 1\x00")), ""},
		"a zero inside":             {first("n,,n=,r=ab\x00cdefgh"), ""},
		"a zero first":              {first("\x00"), ""},
		"an unknown flag":           {first("q,,n=,r=abc"), ""},
		"a flag that goes on":       {first("nn,,n=,r=abc"), ""},
		"binding without PLUS":      {first("p=tls-server-end-point,,n=,r=abc"), ""},
		"another identity":          {first("n,a=bob,n=,r=abc"), ""},
		"a broken identity":         {first("n,bob,n=,r=abc"), ""},
		"an extension":              {first("n,,m=must,n=,r=abc"), ""},
		"no name":                   {first("n,,r=abc"), ""},
		"no nonce":                  {first("n,,n="), ""},
		"another attribute":         {first("n,,n=,x=abc"), ""},
		"no value":                  {first("n,,n"), ""},
		"commas":                    {first(",,,,,"), ""},
		"an empty nonce":            {first("n,,n=,r="), "c=biws,r=%NONCE" + proof},
		"an extension first":        {first("n,,n=,r=abc,x=1"), "c=biws,r=%NONCE" + proof},
		"a comma at the end":        {first("n,,n=,r=abc,"), "c=biws,r=%NONCE" + proof},
		"a digit for an attribute":  {first("n,,n=,r=abc,1=1"), ""},
		"no message yet":            {sasl(scram, -1, ""), "q,,n=,r=abc"},
		"no message but bytes":      {sasl(scram, -1, "x"), ""},
		"an empty message":          {sasl(scram, 0, ""), ""},
		"a nonce of blanks":         {first("n,,n=,r=a b"), ""},
		"a nonce of Latin-1":        {first("n,,n=,r=a\xe9b"), ""},
		"a very long nonce":         {first("n,,n=,r=" + strings.Repeat("x", 60000)), "c=biws,r=%NONCE" + proof},
		"an empty final message":    {first(good), "c"},
		"a final message in pieces": {first(good), "c=biws"},
		"another binding":           {first(good), "c=eSws,r=%NONCE" + proof},
		"no binding":                {first(good), "r=%NONCE" + proof},
		"another nonce":             {first(good), "c=biws,r=abcdefghijklmnopqrstuvwx" + proof},
		"a longer nonce":            {first(good), "c=biws,r=%NONCEx" + proof},
		"no proof":                  {first(good), "c=biws,r=%NONCE"},
		"a proof that is no base64": {first(good), "c=biws,r=%NONCE,p=****"},
		"a short proof":             {first(good), "c=biws,r=%NONCE,p=AAAA"},
		"a long proof":              {first(good), "c=biws,r=%NONCE,p=" + strings.Repeat("A", 4000)},
		"junk behind the proof":     {first(good), "c=biws,r=%NONCE" + proof + ",x=1"},
		"a zero in the final":       {first(good), "c=biws,r=%NONCE\x00" + proof},
		"an extension in the final": {first(good), "c=biws,r=%NONCE,x=1" + proof},
		"a proof of zeros":          {first(good), "c=biws,r=%NONCE" + proof},
	} {
		t.Run(name, func(t *testing.T) {
			want := rawTo(t, home().Addr()).answer(c.first, c.final)
			got := p.raw(t).answer(c.first, c.final)
			if want == nil || got == nil {
				t.Fatalf("Postgres says %+v, the proxy %+v", want, got)
			}
			if got.Code != want.Code || got.Severity != want.Severity || got.Message != want.Message || got.Detail != want.Detail {
				t.Errorf("Postgres says %s %s (%s)\nthe proxy %s %s (%s)", want.Code, want.Message, want.Detail, got.Code, got.Message, got.Detail)
			}
		})
	}
	if _, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=disable")); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// A home that is none does not get a proof from a nonce of its own making, cannot log a client in without knowing the
// role, and whatever it says ends in words for the client.
func TestHostileHome(t *testing.T) {
	offer := encoded(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256"}})
	next := func(data string) []byte { return encoded(&pgproto3.AuthenticationSASLContinue{Data: []byte(data)}) }
	final := func(data string) []byte { return encoded(&pgproto3.AuthenticationSASLFinal{Data: []byte(data)}) }
	ok := encoded(&pgproto3.AuthenticationOk{}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	salted := "," + hashOf(t, "alice")
	for name, c := range map[string]struct {
		says  [][]byte // offer, answer to the first message, answer to the proof; %NONCE is the proxy's nonce
		proof bool     // it gets a proof
		code  string   // the client is told, empty: 08006
	}{
		"another's nonce":          {[][]byte{offer, next("r=abcdefghijklmnopqrstuvwxyz" + salted)}, false, ""},
		"the nonce as it was":      {[][]byte{offer, next("r=%NONCE" + salted)}, false, ""},
		"the nonce cut short":      {[][]byte{offer, next("r=" + salted)}, false, ""},
		"a nonce with a zero":      {[][]byte{offer, next("r=%NONCE\x00x" + salted)}, false, ""},
		"a nonce of control bytes": {[][]byte{offer, next("r=%NONCE\x01\xff" + salted)}, false, ""},
		"no nonce":                 {[][]byte{offer, next("s=c2FsdA==,i=1")}, false, ""},
		"nothing":                  {[][]byte{offer, next("")}, false, ""},
		"commas":                   {[][]byte{offer, next(",,,")}, false, ""},
		"no salt":                  {[][]byte{offer, next("r=%NONCEx,i=4096")}, false, ""},
		"a salt that is none":      {[][]byte{offer, next("r=%NONCEx,s=***,i=4096")}, false, ""},
		"no iterations":            {[][]byte{offer, next("r=%NONCEx,s=c2FsdA==,i=0")}, false, ""},
		"an extension":             {[][]byte{offer, next("m=must,r=%NONCEx" + salted)}, false, ""},
		"an error":                 {[][]byte{offer, next("e=other-error")}, false, ""},
		"the end at once":          {[][]byte{offer, ok}, false, ""},
		"its signature at once":    {[][]byte{offer, final("v=AAAA")}, false, ""},
		"a wrong signature":        {[][]byte{offer, next("r=%NONCEx" + salted), final("v=AAAA")}, true, ""},
		"no signature":             {[][]byte{offer, next("r=%NONCEx" + salted), final("")}, true, ""},
		"the end in its place":     {[][]byte{offer, next("r=%NONCEx" + salted), ok}, true, ""},
		"another question":         {[][]byte{offer, next("r=%NONCEx" + salted), next("r=%NONCEx" + salted)}, true, ""},
		"an error without fields":  {[][]byte{offer, frameOf('E', []byte{0})}, false, "XX000"},
		"an error without a code":  {[][]byte{offer, frameOf('E', []byte("SFATAL\x00Mgo away\x00\x00"))}, false, "XX000"},
		"an error that is cut":     {[][]byte{offer, frameOf('E', []byte("SFATAL"))}, false, ""},
		"an error first":           {[][]byte{frameOf('E', []byte("Mgo away\x00\x00"))}, false, "XX000"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := newFakeHome(t, c.says)
			p := startProxy(t, withVerifier, func(cfg *startup.Config) { cfg.Home = fake.config })
			_, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=disable"))
			var e *pgconn.PgError
			if !errors.As(err, &e) {
				t.Fatalf("err = %v", err)
			}
			if want := max(c.code, "08006"); e.Code != want || e.Severity != "FATAL" || e.Message == "" {
				t.Errorf("the client is told %+v, want %s", e, want)
			}
			if heard := <-fake.heard; (strings.Contains(heard, ",p=")) != c.proof {
				t.Errorf("home heard %q", heard)
			}
		})
	}
}

// hashOf is what home says of a role's password in a challenge.
func hashOf(t *testing.T, role string) string {
	t.Helper()
	secret, _, err := verifierOf(t.Context(), role)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(secret, "$")
	if len(parts) != 3 {
		t.Fatalf("%s has no verifier but %q", role, secret)
	}
	iterations, salt, _ := strings.Cut(parts[1], ":")
	return "s=" + salt + ",i=" + iterations
}

func encoded(messages ...pgproto3.Message) []byte {
	var out []byte
	for _, m := range messages {
		out, _ = m.Encode(out)
	}
	return out
}

// fakeHome answers each message with the next of what it says, and leaves.
type fakeHome struct {
	config *pgconn.Config
	heard  chan string
}

func newFakeHome(t *testing.T, says [][]byte) *fakeHome {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgconn.ParseConfig("postgres://sluice@" + l.Addr().String() + "/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeHome{config, make(chan string, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		f.heard <- converse(c, says)
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return f
}

// converse says one thing for each message that comes and returns all that came.
func converse(c net.Conn, says [][]byte) string {
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	var all, nonce string
	buf := make([]byte, 8192)
	for _, s := range says {
		n, err := c.Read(buf)
		if err != nil {
			return all
		}
		all += string(buf[:n])
		if _, rest, ok := strings.Cut(string(buf[:n]), "n=,r="); ok {
			nonce = rest
		}
		out := []byte(strings.ReplaceAll(string(s), "%NONCE", nonce))
		if grown := len(out) - len(s); grown != 0 {
			size := len(out) - 1
			copy(out[1:5], []byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)})
		}
		if _, err := c.Write(out); err != nil {
			return all
		}
	}
	n, _ := c.Read(buf) // what it is told at last
	return all + string(buf[:n])
}
