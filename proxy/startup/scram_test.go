package startup

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// secretOf makes what Postgres stores for a password, and the keys behind it.
func secretOf(t testing.TB, password string, salt []byte, count int) (string, keys) {
	t.Helper()
	salted, err := pbkdf2.Key(sha256.New, password, salt, count, keySize)
	if err != nil {
		t.Fatal(err)
	}
	k := keys{mac(salted, []byte("Client Key")), mac(salted, []byte("Server Key"))}
	stored := sha256.Sum256(k.client)
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", count, b64(salt), b64(stored[:]), b64(k.server)), k
}

// The example of RFC 7677, section 3.
func TestScramExample(t *testing.T) {
	salt, _ := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	secret, k := secretOf(t, "pencil", salt, 4096)
	v, err := parseVerifier(secret)
	if err != nil {
		t.Fatal(err)
	}
	const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
	const first = "r=" + nonce + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
	const final = "c=biws,r=" + nonce + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
	const verified = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
	s := &scramServer{v: v, header: "n,,", nonce: nonce, firstBare: []byte("n=user,r=rOprNGfwEbeRWgbNEkqO"), serverFirst: []byte(first)}
	out, got, ok, err := s.final([]byte(final))
	if err != nil || !ok || string(out) != verified {
		t.Errorf("server: %s %v %v, want %s", out, ok, err, verified)
	}
	if !bytes.Equal(got.client, k.client) || !hmac.Equal(got.server, k.server) {
		t.Error("the proof gave other keys than the password")
	}
	c := &scramClient{header: "n,,", nonce: "rOprNGfwEbeRWgbNEkqO", firstBare: "n=user,r=rOprNGfwEbeRWgbNEkqO"}
	if err := c.challenge([]byte(first)); err != nil || c.hash != "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096" {
		t.Errorf("client: %q %v", c.hash, err)
	}
	if answer := c.final(k); string(answer) != final {
		t.Errorf("client: %s, want %s", answer, final)
	}
	if err := c.verify(k, []byte(verified)); err != nil {
		t.Error(err)
	}
	if err := c.verify(k, []byte(strings.Replace(verified, "6", "7", 1))); err == nil {
		t.Error("a wrong server signature is taken")
	}
}

func TestVerifier(t *testing.T) {
	good, _ := secretOf(t, "secret", []byte("saltsaltsaltsalt"), 4096)
	if _, err := parseVerifier(good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"", "md5d41d8cd98f00b204e9800998ecf8427e", strings.Replace(good, "4096", "0", 1), strings.Replace(good, "4096", "x", 1),
		strings.Replace(good, "256$", "1$", 1), good + "$", good[:len(good)-4], strings.Replace(good, ":", "", 1),
	} {
		if v, err := parseVerifier(bad); err == nil {
			t.Errorf("%q is taken for a verifier: %+v", bad, v)
		}
	}
}

// exchange takes a client's first message to its last.
func exchange(t *testing.T, s *scramServer, c *scramClient, k keys) []byte {
	t.Helper()
	chosen := mechanism
	if c.binding != nil {
		chosen = mechanismPlus
	}
	s.hash = "s=c2FsdHNhbHRzYWx0c2FsdA==,i=4096"
	challenge, err := s.first(chosen, c.first())
	if err == nil {
		err = c.challenge(challenge)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.final(k)
}

// A doomed exchange fails even for a client that knows the keys of nothing.
func TestDoomedExchange(t *testing.T) {
	s := &scramServer{v: mockVerifier()}
	answer := exchange(t, s, &scramClient{header: "n,,"}, keys{make([]byte, keySize), make([]byte, keySize)})
	if _, k, ok, err := s.final(answer); ok || err != nil || k.client != nil {
		t.Errorf("ok %v err %v keys %v", ok, err, k)
	}
}

// What a client may say first, and what Postgres answers to what it may not.
func TestScramFirst(t *testing.T) {
	for _, c := range []struct {
		bound      bool
		mechanism  string
		message    string
		code, text string
	}{
		{false, mechanism, "n,,n=,r=abc", "", ""},
		{false, mechanism, "y,,n=,r=abc", "", ""},
		{false, mechanism, "n,,n=,r=abc,x=ext", "", ""},
		{true, mechanismPlus, "p=tls-server-end-point,,n=,r=abc", "", ""},
		{true, mechanism, "n,,n=,r=abc", "", ""},
		{true, mechanism, "y,,n=,r=abc", "28000", "SCRAM channel binding negotiation error"},
		{true, mechanism, "p=tls-server-end-point,,n=,r=abc", "08P01", "malformed SCRAM message"},
		{true, mechanismPlus, "n,,n=,r=abc", "08P01", "malformed SCRAM message"},
		{true, mechanismPlus, "p=tls-unique,,n=,r=abc", "08P01", `unsupported SCRAM channel-binding type "tls-unique"`},
		{true, "SCRAM-SHA-1", "n,,n=,r=abc", "08P01", "client selected an invalid SASL authentication mechanism"},
		{false, mechanismPlus, "p=tls-server-end-point,,n=,r=abc", "08P01", "client selected an invalid SASL authentication mechanism"},
		{false, mechanism, "n,a=other,n=,r=abc", "0A000", "client uses authorization identity, but it is not supported"},
		{false, mechanism, "n,,m=ext,n=,r=abc", "0A000", "client requires an unsupported SCRAM extension"},
		{false, mechanism, "n,,n=,r=a\x7fc", "08P01", "non-printable characters in SCRAM nonce"},
		{false, mechanism, "n,,n=,r=", "", ""}, // as Postgres: ours is enough
		{false, mechanism, "q,,n=,r=abc", "08P01", "malformed SCRAM message"},
		{false, mechanism, "", "08P01", "malformed SCRAM message"},
		{false, mechanism, "n", "08P01", "malformed SCRAM message"},
		{false, mechanism, "n,,r=abc", "08P01", "malformed SCRAM message"},
	} {
		s := &scramServer{v: mockVerifier()}
		if c.bound {
			s.binding = []byte("hash")
		}
		_, err := s.first(c.mechanism, []byte(c.message))
		var e *pgconn.PgError
		if c.code == "" {
			if err != nil {
				t.Errorf("%q: %v", c.message, err)
			}
			continue
		}
		if !errors.As(err, &e) || e.Code != c.code || e.Message != c.text {
			t.Errorf("%q: %v, want %s %s", c.message, err, c.code, c.text)
		}
	}
}

// What a client may say last.
func TestScramFinal(t *testing.T) {
	secret, k := secretOf(t, "secret", []byte("saltsaltsaltsalt"), 4096)
	v, err := parseVerifier(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(string) string
		code   string // empty: the proof is wrong
	}{
		"another binding": {func(s string) string { return strings.Replace(s, "c=", "c=AAAA", 1) }, "28000"},
		"another nonce":   {func(s string) string { return strings.Replace(s, ",r=", ",r=x", 1) }, "08P01"},
		"no proof":        {func(s string) string { return s[:strings.Index(s, ",p=")] }, "08P01"},
		"short proof":     {func(s string) string { return s[:len(s)-8] }, "08P01"},
		"nothing":         {func(string) string { return "" }, "08P01"},
		"only a proof":    {func(s string) string { return s[strings.Index(s, ",p="):] }, "08P01"},
		"wrong proof": {func(s string) string {
			return s[:strings.Index(s, ",p=")+3] + base64.StdEncoding.EncodeToString(make([]byte, keySize))
		}, ""},
		"an extension": {func(s string) string { return strings.Replace(s, ",p=", ",x=y,p=", 1) }, ""},
	} {
		s := &scramServer{v: v, binding: []byte("hash")}
		cl := &scramClient{header: bindingHeader, binding: s.binding}
		answer := exchange(t, s, cl, k)
		_, _, ok, err := s.final([]byte(c.change(string(answer))))
		var e *pgconn.PgError
		if ok || (c.code == "") != (err == nil) || (c.code != "" && (!errors.As(err, &e) || e.Code != c.code)) {
			t.Errorf("%s: ok %v, err %v, want %q", name, ok, err, c.code)
		}
		if out, _, ok, err := s.final(answer); !ok || err != nil || cl.verify(k, out) != nil {
			t.Errorf("%s: the right answer fails: %v", name, err)
		}
	}
}

// What home may say to us: a nonce that is not ours is not home's.
func TestScramClientRefusals(t *testing.T) {
	for _, bad := range []string{
		"", "r=", "r=x,s=AAAA,i=1", "e=other-error", "r=%s,s=AAAA,i=1", "x=%sabc,s=AAAA,i=1", "r=%sabc,s=AAAA",
		"r=%sabc,s=AAAA,i=0", "r=%sabc,s=AAAA,i=x", "r=%sabc,s=A,i=1", "r=%sabc,i=1,s=AAAA",
	} {
		c := &scramClient{header: "n,,"}
		c.first()
		if err := c.challenge([]byte(strings.Replace(bad, "%s", c.nonce, 1))); err == nil {
			t.Errorf("%q is answered", bad)
		}
	}
}

func FuzzScramServer(f *testing.F) {
	f.Add("n,,n=,r=abc", "c=biws,r=abc,p=")
	f.Add("p=tls-server-end-point,,n=,r=abc", "c=,r=,p=AAAA")
	f.Add("y,,n=,r=abc", ",p=")
	secret, _ := secretOf(f, "secret", []byte("saltsaltsaltsalt"), 1)
	v, err := parseVerifier(secret)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, final string) {
		for _, chosen := range []string{mechanism, mechanismPlus} {
			s := &scramServer{v: v, binding: []byte("hash")}
			if _, err := s.first(chosen, []byte(first)); err != nil {
				continue
			}
			if _, k, ok, _ := s.final([]byte(final)); ok || k.client != nil {
				t.Errorf("%q and %q log in", first, final)
			}
		}
	})
}
