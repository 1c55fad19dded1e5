package startup

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// SCRAM (RFC 5802, RFC 7677) in the form that Postgres speaks: user names are empty, since the startup packet has told.
// Passwords play no part here. A server needs a verifier; a client needs the two keys, of which the server side learns
// the client's from a correct proof.
const (
	mechanism     = "SCRAM-SHA-256"
	mechanismPlus = "SCRAM-SHA-256-PLUS"

	bindingHeader = "p=tls-server-end-point,,"
	keySize       = sha256.Size
	nonceSize     = 18
	saltSize      = 16
	iterations    = 4096
)

// keys are what a role logs in with in place of its password. Zero: none are known.
type keys struct{ client, server []byte }

// verifier is what a server keeps of a password.
type verifier struct {
	iterations        int
	salt              []byte
	storedKey, server []byte
	doomed            bool // no proof is right
}

// parseVerifier reads a rolpassword of the form SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey.
func parseVerifier(s string) (verifier, error) {
	bad := errors.New("not a SCRAM-SHA-256 verifier")
	parts := strings.Split(s, "$")
	if len(parts) != 3 || parts[0] != mechanism {
		return verifier{}, bad
	}
	count, salt, ok := strings.Cut(parts[1], ":")
	stored, server, ok2 := strings.Cut(parts[2], ":")
	if !ok || !ok2 {
		return verifier{}, bad
	}
	var v verifier
	var err [4]error
	v.iterations, err[0] = strconv.Atoi(count)
	v.salt, err[1] = base64.StdEncoding.DecodeString(salt)
	v.storedKey, err[2] = base64.StdEncoding.DecodeString(stored)
	v.server, err[3] = base64.StdEncoding.DecodeString(server)
	if errors.Join(err[:]...) != nil || v.iterations < 1 || len(v.storedKey) != keySize || len(v.server) != keySize {
		return verifier{}, bad
	}
	return v, nil
}

// mockSecret makes the salts of mock verifiers stable for a role while this process lives.
var mockSecret = random(keySize)

// mockVerifier is for a role that has no verifier: the exchange looks as any other, and no proof is right.
func mockVerifier(user string) verifier {
	return verifier{
		iterations: iterations, salt: mac(mockSecret, []byte(user))[:saltSize],
		storedKey: make([]byte, keySize), server: make([]byte, keySize), doomed: true,
	}
}

// scramServer is one exchange with a client.
type scramServer struct {
	v       verifier
	binding []byte // hash of our certificate; nil: PLUS is not offered

	plus        bool   // the client chose PLUS
	header      string // its gs2 header
	nonce       string // both sides'
	firstBare   []byte
	serverFirst []byte
}

// mechanisms are those to offer.
func (s *scramServer) mechanisms() []string {
	if s.binding != nil {
		return []string{mechanismPlus, mechanism}
	}
	return []string{mechanism}
}

// first takes the client's choice and first message, and returns the server's. Errors are for the client.
func (s *scramServer) first(chosen string, message []byte) ([]byte, error) {
	s.plus = chosen == mechanismPlus
	if chosen != mechanism && (!s.plus || s.binding == nil) {
		return nil, fatal("08P01", "client selected an invalid SASL authentication mechanism")
	}
	bare, err := s.readHeader(message)
	if err != nil {
		return nil, err
	}
	s.firstBare = bare
	if bytes.HasPrefix(bare, []byte("m=")) {
		return nil, fatal("0A000", "client requires an unsupported SCRAM extension")
	}
	fields := strings.Split(string(bare), ",")
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "n=") || !strings.HasPrefix(fields[1], "r=") {
		return nil, malformed("Expected the attributes \"n\" and \"r\".")
	}
	client := fields[1][2:]
	if !printable(client) {
		return nil, malformed("Non-printable characters in SCRAM nonce.")
	}
	s.nonce = client + base64.StdEncoding.EncodeToString(random(nonceSize))
	s.serverFirst = fmt.Appendf(nil, "r=%s,s=%s,i=%d", s.nonce, base64.StdEncoding.EncodeToString(s.v.salt), s.v.iterations)
	return s.serverFirst, nil
}

// readHeader checks the gs2 header of the client's first message and returns what follows it.
func (s *scramServer) readHeader(message []byte) ([]byte, error) {
	parts := bytes.SplitN(message, []byte(","), 3)
	if len(parts) != 3 || len(parts[0]) == 0 {
		return nil, malformed("The message is cut short.")
	}
	flag := string(parts[0])
	switch {
	case flag == "n", flag == "y":
		if s.plus {
			return nil, malformed("The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data.")
		}
		if flag == "y" && s.binding != nil { // somebody on the way took PLUS from our offer
			e := fatal("28000", "SCRAM channel binding negotiation error")
			e.Detail = "The client supports SCRAM channel binding but thinks the server does not.  However, this server does support channel binding."
			return nil, e
		}
	case strings.HasPrefix(flag, "p="):
		if !s.plus {
			return nil, malformed("The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data.")
		}
		if flag+",," != bindingHeader {
			return nil, fatal("08P01", fmt.Sprintf("unsupported SCRAM channel-binding type \"%.30s\"", printableOf(flag[2:])))
		}
	default:
		return nil, malformed("Unexpected channel-binding flag.")
	}
	if len(parts[1]) > 0 {
		return nil, fatal("0A000", "client uses authorization identity, but it is not supported")
	}
	s.header = flag + ",,"
	return parts[2], nil
}

// final takes the client's last message and returns the server's and the role's keys. ok false says that the proof is
// wrong; err is for a message that is none.
func (s *scramServer) final(message []byte) (out []byte, k keys, ok bool, err error) {
	at := bytes.LastIndex(message, []byte(",p="))
	if at < 0 {
		return nil, keys{}, false, malformed("Expected the attribute \"p\".")
	}
	without := message[:at]
	proof, perr := base64.StdEncoding.DecodeString(string(message[at+3:]))
	if perr != nil || len(proof) != keySize {
		return nil, keys{}, false, malformed("Malformed proof in client-final-message.")
	}
	fields := strings.Split(string(without), ",")
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "c=") || !strings.HasPrefix(fields[1], "r=") {
		return nil, keys{}, false, malformed("Expected the attributes \"c\" and \"r\".")
	}
	if err := s.checkBinding(fields[0][2:]); err != nil {
		return nil, keys{}, false, err
	}
	if fields[1][2:] != s.nonce {
		e := fatal("08P01", "invalid SCRAM response")
		e.Detail = "Nonce does not match."
		return nil, keys{}, false, e
	}
	auth := bytes.Join([][]byte{s.firstBare, s.serverFirst, without}, []byte(","))
	k = keys{client: make([]byte, keySize), server: s.v.server}
	subtle.XORBytes(k.client, proof, mac(s.v.storedKey, auth))
	stored := sha256.Sum256(k.client)
	right := subtle.ConstantTimeCompare(stored[:], s.v.storedKey) == 1
	out = fmt.Appendf(nil, "v=%s", base64.StdEncoding.EncodeToString(mac(s.v.server, auth)))
	if !right || s.v.doomed {
		return nil, keys{}, false, nil
	}
	return out, k, true, nil
}

// checkBinding checks the attribute c of the last message: the header again, and our certificate's hash with PLUS.
func (s *scramServer) checkBinding(c string) error {
	want := s.header
	if s.plus {
		want += string(s.binding)
	}
	if c == base64.StdEncoding.EncodeToString([]byte(want)) {
		return nil
	}
	if s.plus {
		return fatal("28000", "SCRAM channel binding check failed")
	}
	return fatal("08P01", "unexpected SCRAM channel-binding attribute in client-final-message")
}

func malformed(detail string) error {
	e := fatal("08P01", "malformed SCRAM message")
	e.Detail = detail
	return e
}

// scramClient is one exchange with home.
type scramClient struct {
	keys    keys
	header  string
	binding []byte // with PLUS: hash of home's certificate

	nonce     string
	firstBare string
	auth      []byte
}

func (c *scramClient) first() []byte {
	c.nonce = base64.StdEncoding.EncodeToString(random(nonceSize))
	c.firstBare = "n=,r=" + c.nonce
	return []byte(c.header + c.firstBare)
}

// final answers home's first message.
func (c *scramClient) final(serverFirst []byte) ([]byte, error) {
	fields := strings.Split(string(serverFirst), ",")
	if len(fields) < 3 || !strings.HasPrefix(fields[0], "r=") {
		return nil, errors.New("invalid SCRAM message from home")
	}
	nonce := fields[0][2:]
	if !strings.HasPrefix(nonce, c.nonce) || len(nonce) == len(c.nonce) {
		return nil, errors.New("invalid SCRAM nonce from home")
	}
	without := "c=" + base64.StdEncoding.EncodeToString(append([]byte(c.header), c.binding...)) + ",r=" + nonce
	c.auth = []byte(c.firstBare + "," + string(serverFirst) + "," + without)
	stored := sha256.Sum256(c.keys.client)
	proof := make([]byte, keySize)
	subtle.XORBytes(proof, c.keys.client, mac(stored[:], c.auth))
	return []byte(without + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

// verify checks that home knows the role as well.
func (c *scramClient) verify(serverFinal []byte) error {
	want := "v=" + base64.StdEncoding.EncodeToString(mac(c.keys.server, c.auth))
	if subtle.ConstantTimeCompare([]byte(want), serverFinal) != 1 {
		return errors.New("home does not know the role's keys: invalid SCRAM server signature")
	}
	return nil
}

func mac(key, message []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(message)
	return m.Sum(nil)
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// printable reports whether s may be a nonce: visible ASCII without a comma.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '!' || r > '~' || r == ',' }) < 0 && s != ""
}

// printableOf replaces what cannot be shown in a message.
func printableOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
