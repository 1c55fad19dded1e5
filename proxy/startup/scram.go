package startup

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
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
	if !strings.HasPrefix(nonce, c.nonce) || len(nonce) == len(c.nonce) || !printable(nonce) {
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
