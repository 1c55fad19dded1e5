package startup

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
)

// scramServer is one exchange with a client.
type scramServer struct {
	v       verifier
	hash    string // "s=SALT,i=ITERATIONS", what the client is to hash the password with
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

// first takes the client's choice and first message, and returns the server's. Errors are for the client, in Postgres' words.
func (s *scramServer) first(chosen string, message []byte) ([]byte, error) {
	s.plus = chosen == mechanismPlus
	if chosen != mechanism && (!s.plus || s.binding == nil) {
		return nil, fatal("08P01", "client selected an invalid SASL authentication mechanism")
	}
	a, err := readAttributes(message)
	if err != nil {
		return nil, err
	}
	if err := s.readHeader(a); err != nil {
		return nil, err
	}
	s.firstBare = []byte(a.rest)
	if a.next() == 'm' {
		return nil, fatal("0A000", "client requires an unsupported SCRAM extension")
	}
	if _, err := a.value('n'); err != nil {
		return nil, err
	}
	client, err := a.value('r')
	if err != nil {
		return nil, err
	}
	if !printable(client) {
		return nil, fatal("08P01", "non-printable characters in SCRAM nonce")
	}
	for a.rest != "" { // optional extensions
		if _, _, err := a.any(); err != nil {
			return nil, err
		}
	}
	s.nonce = client + base64.StdEncoding.EncodeToString(random(nonceSize))
	s.serverFirst = []byte("r=" + s.nonce + "," + s.hash)
	return s.serverFirst, nil
}

// readHeader reads the gs2 header of the client's first message.
func (s *scramServer) readHeader(a *attributes) error {
	whole := a.rest
	if err := s.readFlag(a); err != nil {
		return err
	}
	if a.next() == 'a' {
		return fatal("0A000", "client uses authorization identity, but it is not supported")
	}
	if a.next() != ',' {
		return malformed("Unexpected attribute \"%s\" in client-first-message.", a.shown())
	}
	a.rest = a.rest[1:]
	s.header = whole[:len(whole)-len(a.rest)]
	return nil
}

// readFlag reads the channel-binding flag and the comma behind it.
func (s *scramServer) readFlag(a *attributes) error {
	switch flag := a.next(); flag {
	case 'n', 'y':
		if s.plus {
			return malformed("The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data.")
		}
		if flag == 'y' && s.binding != nil { // somebody on the way took PLUS from our offer
			e := fatal("28000", "SCRAM channel binding negotiation error")
			e.Detail = "The client supports SCRAM channel binding but thinks the server does not.  However, this server does support channel binding."
			return e
		}
		a.rest = a.rest[1:]
		if a.next() != ',' {
			return malformed("Comma expected, but found character \"%s\".", a.shown())
		}
		a.rest = a.rest[1:]
		return nil
	case 'p':
		if !s.plus {
			return malformed("The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data.")
		}
		kind, err := a.value('p')
		if err == nil && "p="+kind+",," != bindingHeader {
			err = fatal("08P01", fmt.Sprintf("unsupported SCRAM channel-binding type \"%.30s\"", printableOf(kind)))
		}
		return err
	}
	return malformed("Unexpected channel-binding flag \"%s\".", a.shown())
}

// final takes the client's last message and returns the server's and the role's keys. ok false says that the proof is
// wrong; err is for a message that is none.
func (s *scramServer) final(message []byte) (out []byte, k keys, ok bool, err error) {
	a, err := readAttributes(message)
	if err != nil {
		return nil, keys{}, false, err
	}
	binding, err := a.value('c')
	if err != nil {
		return nil, keys{}, false, err
	}
	if err := s.checkBinding(binding); err != nil {
		return nil, keys{}, false, err
	}
	nonce, err := a.value('r')
	if err != nil {
		return nil, keys{}, false, err
	}
	proof, size, err := a.proof()
	if err != nil {
		return nil, keys{}, false, err
	}
	if nonce != s.nonce {
		e := fatal("08P01", "invalid SCRAM response")
		e.Detail = "Nonce does not match."
		return nil, keys{}, false, e
	}
	auth := bytes.Join([][]byte{s.firstBare, s.serverFirst, message[:len(message)-size]}, []byte(","))
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

// attributes is what is left to read of a message of the client's.
type attributes struct{ rest string }

func readAttributes(message []byte) (*attributes, error) {
	switch {
	case len(message) == 0:
		return nil, malformed("The message is empty.")
	case bytes.IndexByte(message, 0) >= 0:
		return nil, malformed("Message length does not match input length.")
	}
	return &attributes{string(message)}, nil
}

// next returns the next byte, 0 at the end.
func (a *attributes) next() byte {
	if a.rest == "" {
		return 0
	}
	return a.rest[0]
}

// shown is the next byte as messages show it.
func (a *attributes) shown() string {
	if c := a.next(); c >= '!' && c <= '~' {
		return "'" + string(rune(c)) + "'"
	}
	return fmt.Sprintf("0x%02x", a.next())
}

// value reads the attribute that must come next.
func (a *attributes) value(attribute byte) (string, error) {
	if a.next() != attribute {
		return "", malformed("Expected attribute \"%c\" but found \"%s\".", attribute, a.shown())
	}
	_, v, err := a.any()
	return v, err
}

// any reads whichever attribute comes next.
func (a *attributes) any() (attribute byte, value string, err error) {
	attribute = a.next()
	switch {
	case attribute == 0:
		return 0, "", malformed("Attribute expected, but found end of string.")
	case attribute|0x20 < 'a' || attribute|0x20 > 'z':
		return 0, "", malformed("Attribute expected, but found invalid character \"%s\".", a.shown())
	}
	if a.rest = a.rest[1:]; a.next() != '=' {
		return 0, "", malformed("Expected character \"=\" for attribute \"%c\".", attribute)
	}
	value, a.rest, _ = strings.Cut(a.rest[1:], ",")
	return attribute, value, nil
}

// proof reads extensions and the proof, which ends the message, and returns how many bytes the proof takes there, with the
// comma before it.
func (a *attributes) proof() (proof []byte, size int, err error) {
	for {
		size = len(a.rest) + 1
		attribute, value, err := a.any()
		if err != nil {
			return nil, 0, err
		}
		if attribute != 'p' {
			continue
		}
		proof, err = base64.StdEncoding.DecodeString(value)
		if err != nil || len(proof) != keySize {
			return nil, 0, malformed("Malformed proof in client-final-message.")
		}
		if a.rest != "" {
			return nil, 0, malformed("Garbage found at the end of client-final-message.")
		}
		return proof, size, nil
	}
}

func malformed(format string, args ...any) error {
	e := fatal("08P01", "malformed SCRAM message")
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// printable reports whether s may be a nonce: visible ASCII without a comma.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '!' || r > '~' || r == ',' }) < 0
}

// printableOf replaces what cannot be shown in a message.
func printableOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '!' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
