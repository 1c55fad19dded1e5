package startup

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

// Limits of one message of the client's before it is logged in, as Postgres has them.
const (
	maxPassword = 65535
	maxSASL     = 1024
)

// login logs the client in at home, as home demands.
func (h *handshake) login(ctx context.Context) (*login, error) {
	l, err := open(ctx, h.cfg.Home, h.packet.forHome(), h.guard)
	if err != nil {
		return nil, err
	}
	h.home = l.home
	if err := h.settle(l.version); err != nil {
		return nil, err
	}
	mechanisms, err := l.ask.mechanisms()
	if err != nil {
		return nil, l.lost(err)
	}
	var ok *frame
	if v, known := h.verifier(ctx, mechanisms); known {
		ok, err = h.passThrough(l, v, mechanisms)
	} else {
		ok, err = h.relay(l, mechanisms)
	}
	if err == nil && !l.asked {
		err = h.admit()
	}
	if err != nil {
		return nil, err
	}
	return l, l.finish(ok)
}

// admit refuses a client that home let in without asking, where the configuration wants that.
func (h *handshake) admit() error {
	if h.cert.proven || h.cfg.Admit == nil || h.cfg.Admit(h.client.RemoteAddr()) {
		return nil
	}
	e := fatal(pgerr.InvalidAuthorization, fmt.Sprintf("the home server asks for no password of user \"%s\", which does for local clients only", h.packet.get("user")))
	e.Hint = "Have pg_hba.conf of the home server ask the proxy's connections for scram-sha-256 in place of trust, peer or cert, or let clients show a certificate for the role."
	return e
}

// verifier returns what to end the client's SCRAM exchange with; false where home wants none or it is not to be had.
func (h *handshake) verifier(ctx context.Context, mechanisms []string) (verifier, bool) {
	if h.cfg.Verifier == nil || !slices.Contains(mechanisms, mechanism) {
		return verifier{}, false
	}
	user := h.packet.get("user")
	secret, ok, err := h.cfg.Verifier(ctx, user)
	if !ok || err != nil {
		return verifier{}, false
	}
	v, err := parseVerifier(secret)
	if err != nil {
		return mockVerifier(), true
	}
	return v, true
}

// passThrough ends the client's SCRAM exchange here and logs in to home with the key that the client's proof gives. It
// returns home's AuthenticationOk. Home is asked first: what it says the password is hashed with is what the client is told,
// so that a role without a verifier looks as it does at home, which makes up a salt and never changes it.
func (h *handshake) passThrough(l *login, v verifier, mechanisms []string) (*frame, error) {
	c, err := l.challenge(mechanisms)
	if err != nil {
		return nil, err
	}
	s := &scramServer{v: v, hash: c.hash, binding: h.binding}
	if err := h.client.send(&pgproto3.AuthenticationSASL{AuthMechanisms: s.mechanisms()}); err != nil {
		return nil, err
	}
	chosen, message, err := h.initialResponse()
	if err != nil {
		return nil, err
	}
	challenge, err := s.first(chosen, message)
	if err != nil {
		return nil, err
	}
	if err := h.client.send(&pgproto3.AuthenticationSASLContinue{Data: challenge}); err != nil {
		return nil, err
	}
	_, message, err = h.password(saslResponse)
	if err != nil {
		return nil, err
	}
	final, k, right, err := s.final(message)
	if err != nil {
		return nil, err
	}
	if !right {
		return nil, h.wrongPassword()
	}
	h.bound = s.plus
	ok, err := l.prove(c, k)
	if err != nil {
		return nil, err
	}
	return ok, h.client.send(&pgproto3.AuthenticationSASLFinal{Data: final})
}

// initialResponse reads the client's SASLInitialResponse.
func (h *handshake) initialResponse() (chosen string, message []byte, err error) {
	_, body, err := h.password(saslResponse)
	if err != nil {
		return "", nil, err
	}
	chosen, message, err = splitInitial(body)
	if err != nil || message != nil || (chosen != mechanism && chosen != mechanismPlus) {
		return chosen, message, err
	}
	if err := h.client.send(&pgproto3.AuthenticationSASLContinue{}); err != nil { // it waits to be asked
		return "", nil, err
	}
	_, message, err = h.password(saslResponse)
	return chosen, message, err
}

// splitInitial splits the body of a SASLInitialResponse. The message is nil where there is none yet.
func splitInitial(body []byte) (chosen string, message []byte, err error) {
	chosen, rest, ok := cutString(body)
	if !ok {
		return "", nil, fatal("08P01", "invalid string in message")
	}
	if len(rest) < 4 {
		return "", nil, fatal("08P01", "insufficient data left in message")
	}
	n := int32(binary.BigEndian.Uint32(rest))
	rest = rest[4:]
	switch {
	case n == -1 && len(rest) == 0:
		return chosen, nil, nil
	case n == -1, n >= 0 && int(n) < len(rest):
		return "", nil, fatal("08P01", "invalid message format")
	case int(n) != len(rest):
		return "", nil, fatal("08P01", "insufficient data left in message")
	}
	return chosen, rest, nil
}

// What the client's next message is to be, for errors.
const (
	saslResponse     = "SASL response"
	passwordResponse = "password response"
)

// password reads the client's next message, which must be of type 'p'. One that is too long is read no further; of a SASL
// exchange it is a failed login.
func (h *handshake) password(expected string) (raw, body []byte, err error) {
	limit := maxPassword
	if expected == saslResponse {
		limit = maxSASL
	}
	if head, err := h.client.in.Peek(1); err == nil && head[0] != 'p' {
		return nil, nil, fatal("08P01", fmt.Sprintf("expected %s, got message type %d", expected, head[0]))
	}
	raw, body, err = h.client.frame(limit)
	if errors.Is(err, errFrameLength) && expected == saslResponse {
		return nil, nil, h.wrongPassword()
	}
	return raw, body, err
}

// wrongPassword is the failure of a proof, whatever is wrong with it.
func (h *handshake) wrongPassword() error {
	return fatal(pgerr.InvalidPassword, fmt.Sprintf("password authentication failed for user \"%s\"", h.packet.get("user")))
}

// relay carries home's questions to the client and the answers back until home's AuthenticationOk, which it returns.
func (h *handshake) relay(l *login, mechanisms []string) (*frame, error) {
	f := l.ask
	for {
		question, answer, err := h.question(l, f, mechanisms)
		if question == nil || err != nil {
			return f, err
		}
		if _, err := h.client.Write(question); err != nil {
			return nil, err
		}
		if answer != "" {
			if err := h.answer(l, f, mechanisms, answer); err != nil {
				return nil, err
			}
		}
		if f, err = l.next(); err != nil {
			return nil, err
		}
	}
}

// question returns the message for the client that f is to become and what answer it demands; nil when f is
// AuthenticationOk.
func (h *handshake) question(l *login, f *frame, mechanisms []string) (question []byte, answer string, err error) {
	code, ok := f.authCode()
	if !ok {
		return nil, "", l.lost(fmt.Errorf("unexpected message of type %q during authentication", f.typ()))
	}
	if code == pgproto3.AuthTypeOk {
		return nil, "", nil
	}
	if l.config.ChannelBinding == "require" {
		return nil, "", h.cannotRelay("the proxy must bind its login to the home server's certificate")
	}
	if f == l.ask {
		if err := l.permit(code); err != nil {
			return nil, "", err
		}
	}
	l.asked = true
	switch code {
	case pgproto3.AuthTypeCleartextPassword, pgproto3.AuthTypeMD5Password:
		return f.raw, passwordResponse, nil
	case pgproto3.AuthTypeSASL:
		offer := slices.DeleteFunc(slices.Clone(mechanisms), func(m string) bool { return m == mechanismPlus })
		if len(offer) == 0 {
			return nil, "", h.cannotRelay("the home server accepts only logins that are bound to its certificate")
		}
		out, err := (&pgproto3.AuthenticationSASL{AuthMechanisms: offer}).Encode(nil)
		return out, saslResponse, err
	case pgproto3.AuthTypeSASLContinue:
		return f.raw, saslResponse, nil
	case pgproto3.AuthTypeSASLFinal:
		return f.raw, "", nil
	}
	return nil, "", h.cannotRelay("the home server asks for GSSAPI or another method that ends at its own address")
}

// answer carries the client's answer to question f to home.
func (h *handshake) answer(l *login, f *frame, mechanisms []string, expected string) error {
	raw, body, err := h.password(expected)
	if err != nil {
		return err
	}
	if code, _ := f.authCode(); code == pgproto3.AuthTypeSASL && slices.Contains(mechanisms, mechanismPlus) {
		// The client would have bound the channel, home offers it: home takes the missing offer for an attack.
		if _, message, err := splitInitial(body); err == nil && bytes.HasPrefix(message, []byte("y")) {
			return h.cannotRelay("TLS on both sides of the proxy lets neither side bind the login to the other's certificate")
		}
	}
	if _, err := l.home.Write(raw); err != nil {
		return l.lost(err)
	}
	return nil
}

// cannotRelay refuses a login that works only if the proxy ends the exchange itself.
func (h *handshake) cannotRelay(why string) error {
	e := fatal(pgerr.InvalidAuthorization, fmt.Sprintf("authentication of user \"%s\" cannot be relayed to the home server", h.packet.get("user")))
	e.Detail = "Reason: " + why + "."
	e.Hint = "Run CREATE EXTENSION sluice in the database of the proxy's home URL so that it may read the role's verifier (sluice.get_auth), or use channel_binding=disable."
	return e
}

// authCode returns the code of an authentication request; false for other messages.
func (f *frame) authCode() (uint32, bool) {
	if f.typ() != 'R' || len(f.body) < 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(f.body), true
}

// mechanisms returns those that an AuthenticationSASL offers, nil for other messages.
func (f *frame) mechanisms() ([]string, error) {
	if code, _ := f.authCode(); code != pgproto3.AuthTypeSASL {
		return nil, nil
	}
	m := &pgproto3.AuthenticationSASL{}
	if err := m.Decode(f.body); err != nil {
		return nil, err
	}
	return m.AuthMechanisms, nil
}

// scram logs in to home, which has offered mechanisms, with a role's keys. It returns home's AuthenticationOk.
func (l *login) scram(k keys, mechanisms []string) (*frame, error) {
	c, err := l.challenge(mechanisms)
	if err != nil {
		return nil, err
	}
	return l.prove(c, k)
}

// challenge begins a SCRAM exchange with home, which has offered mechanisms, up to home's challenge.
func (l *login) challenge(mechanisms []string) (*scramClient, error) {
	c, chosen, err := l.scramClient(mechanisms)
	if err != nil {
		return nil, err
	}
	if err := l.home.send(&pgproto3.SASLInitialResponse{AuthMechanism: chosen, Data: c.first()}); err != nil {
		return nil, l.lost(err)
	}
	message, err := l.expect(pgproto3.AuthTypeSASLContinue)
	if err != nil {
		return nil, err
	}
	if err := c.challenge(message); err != nil {
		return nil, l.lost(err)
	}
	return c, nil
}

// prove ends the exchange with a role's keys. It returns home's AuthenticationOk.
func (l *login) prove(c *scramClient, k keys) (*frame, error) {
	if err := l.home.send(&pgproto3.SASLResponse{Data: c.final(k)}); err != nil {
		return nil, l.lost(err)
	}
	message, err := l.expect(pgproto3.AuthTypeSASLFinal)
	if err != nil {
		return nil, err
	}
	if err := c.verify(k, message); err != nil {
		return nil, l.lost(err)
	}
	l.keys, l.bound, l.asked = k, c.binding != nil, true
	return l.next()
}

// expect reads an authentication message of the code given and returns its data.
func (l *login) expect(code uint32) ([]byte, error) {
	f, err := l.next()
	if err != nil {
		return nil, err
	}
	if got, ok := f.authCode(); !ok || got != code {
		return nil, l.lost(errors.New("unexpected message during SCRAM authentication"))
	}
	return f.body[4:], nil
}
