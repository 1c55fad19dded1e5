package startup

import (
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
)

// keys are what a role logs in with in place of its password. Zero: none are known.
type keys struct{ client, server []byte }

// verifier is what a server keeps of a password, less salt and iterations, which home tells.
type verifier struct {
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
	var err [3]error
	err[0] = checkHash(salt, count)
	v.storedKey, err[1] = base64.StdEncoding.DecodeString(stored)
	v.server, err[2] = base64.StdEncoding.DecodeString(server)
	if errors.Join(err[:]...) != nil || len(v.storedKey) != keySize || len(v.server) != keySize {
		return verifier{}, bad
	}
	return v, nil
}

// checkHash checks what a password is hashed with.
func checkHash(salt, count string) error {
	if n, err := strconv.Atoi(count); err != nil || n < 1 {
		return fmt.Errorf("invalid number of iterations %q", count)
	}
	_, err := base64.StdEncoding.DecodeString(salt)
	return err
}

// mockVerifier is for a role that has no verifier: the exchange looks as any other, and no proof is right.
func mockVerifier() verifier {
	return verifier{storedKey: make([]byte, keySize), server: make([]byte, keySize), doomed: true}
}

// scramClient is one exchange with home: first, challenge, final, verify.
type scramClient struct {
	header  string
	binding []byte // with PLUS: hash of home's certificate
	hash    string // "s=SALT,i=ITERATIONS" of the role, as home says

	nonce       string
	firstBare   string
	serverFirst string
	auth        []byte
}

func (c *scramClient) first() []byte {
	c.nonce = base64.StdEncoding.EncodeToString(random(nonceSize))
	c.firstBare = "n=,r=" + c.nonce
	return []byte(c.header + c.firstBare)
}

// challenge takes home's first message.
func (c *scramClient) challenge(serverFirst []byte) error {
	c.serverFirst = string(serverFirst)
	first, hash, _ := strings.Cut(c.serverFirst, ",")
	fields := strings.Split(hash, ",")
	if len(fields) < 2 || !strings.HasPrefix(first, "r=") || !strings.HasPrefix(fields[0], "s=") || !strings.HasPrefix(fields[1], "i=") {
		return errors.New("invalid SCRAM message from home")
	}
	nonce := first[2:]
	if !strings.HasPrefix(nonce, c.nonce) || len(nonce) == len(c.nonce) || !printable(nonce) {
		return errors.New("invalid SCRAM nonce from home")
	}
	c.nonce, c.hash = nonce, fields[0]+","+fields[1]
	return checkHash(fields[0][2:], fields[1][2:])
}

// final answers home's challenge with a role's keys.
func (c *scramClient) final(k keys) []byte {
	without := "c=" + base64.StdEncoding.EncodeToString(append([]byte(c.header), c.binding...)) + ",r=" + c.nonce
	c.auth = []byte(c.firstBare + "," + c.serverFirst + "," + without)
	stored := sha256.Sum256(k.client)
	proof := make([]byte, keySize)
	subtle.XORBytes(proof, k.client, mac(stored[:], c.auth))
	return []byte(without + ",p=" + base64.StdEncoding.EncodeToString(proof))
}

// verify checks that home knows the role as well.
func (c *scramClient) verify(k keys, serverFinal []byte) error {
	want := "v=" + base64.StdEncoding.EncodeToString(mac(k.server, c.auth))
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
