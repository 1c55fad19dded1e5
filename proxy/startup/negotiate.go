package startup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	alpn         = "postgresql"
	tlsHandshake = 0x16 // first byte of a TLS ClientHello
)

// negotiate answers encryption requests until the client sends its startup message, which is then in h.packet, or a
// CancelRequest.
func (h *handshake) negotiate(ctx context.Context) (*pgproto3.CancelRequest, error) {
	if err := h.direct(ctx); err != nil {
		return nil, err
	}
	_, encrypted := h.client.Conn.(*tls.Conn)
	sslDone, gssDone := encrypted, encrypted // each may be asked once, and again after the other was refused
	for {
		body, err := readPacket(h.client.in)
		if err != nil {
			return nil, err
		}
		switch c := code(body); {
		case c == codeCancel:
			return decodeCancel(body)
		case c == codeSSL && !sslDone:
			encrypted, err := h.answerSSL(ctx)
			if err != nil {
				return nil, err
			}
			sslDone, gssDone = true, encrypted
		case c == codeGSS && !gssDone:
			if err := h.refuseGSS(); err != nil {
				return nil, err
			}
			sslDone, gssDone = false, true
		default:
			h.packet, err = decodePacket(body)
			return nil, err
		}
	}
}

// direct takes up TLS where the client begins with it, without asking first.
func (h *handshake) direct(ctx context.Context) error {
	first, err := h.client.in.Peek(1)
	if err != nil || first[0] != tlsHandshake {
		return err
	}
	config := h.tlsConfig()
	if config == nil {
		return errors.New("the client began with TLS, which is not set up")
	}
	if err := h.startTLS(ctx, config); err != nil {
		return err
	}
	if h.client.Conn.(*tls.Conn).ConnectionState().NegotiatedProtocol != alpn {
		return errors.New("direct TLS connection without ALPN protocol negotiation extension")
	}
	return nil
}

// answerSSL answers SSLRequest and reports whether TLS stands.
func (h *handshake) answerSSL(ctx context.Context) (bool, error) {
	config := h.tlsConfig()
	answer := byte('N')
	if config != nil {
		answer = 'S'
	}
	if _, err := h.client.Write([]byte{answer}); err != nil {
		return false, err
	}
	if h.client.in.Buffered() > 0 {
		return false, errStuffed("SSL request")
	}
	if config == nil {
		return false, nil
	}
	return true, h.startTLS(ctx, config)
}

func (h *handshake) refuseGSS() error {
	if _, err := h.client.Write([]byte{'N'}); err != nil {
		return err
	}
	if h.client.in.Buffered() > 0 {
		return errStuffed("GSSAPI encryption request")
	}
	return nil
}

// errStuffed refuses what was sent in clear behind an encryption request: it would be taken for encrypted (CVE-2021-23222).
func errStuffed(request string) error {
	e := fatal("08P01", "received unencrypted data after "+request)
	e.Detail = "This could be either a client-software bug or evidence of an attempted man-in-the-middle attack."
	return e
}

// tlsConfig returns the TLS configuration for this client, nil for none. A unix socket needs none.
func (h *handshake) tlsConfig() *tls.Config {
	if h.cfg.TLS == nil || h.client.local() {
		return nil
	}
	return h.cfg.TLS()
}

// startTLS takes the client's connection to TLS.
func (h *handshake) startTLS(ctx context.Context, config *tls.Config) error {
	shown := &shownCertificate{config: config}
	config = config.Clone()
	asked := h.certAsked()
	if asked != nil { // one that is missing is refused with words, behind the handshake
		config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, asked.CAs
		config.VerifyConnection = asked.checkRevoked
	}
	config.NextProtos = []string{alpn}
	config.SessionTicketsDisabled = true // as Postgres does: a resumed session shows no certificate to bind to
	config.Certificates, config.GetCertificate = nil, shown.choose
	var under net.Conn = h.client.Conn
	if h.client.in.Buffered() > 0 {
		under = &prefixed{Conn: h.client.Conn, in: h.client.in}
	}
	conn := tls.Server(under, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake with the client: %w", err)
	}
	h.client = newPeer(conn)
	h.binding = endPointHash(shown.leaf())
	h.cert = clientCert{asked: asked}
	if chains := conn.ConnectionState().VerifiedChains; len(chains) > 0 {
		h.cert.leaf = chains[0][0]
	}
	return nil
}

// prefixed is a connection of which the first bytes were read already.
type prefixed struct {
	net.Conn
	in io.Reader // reads ahead bytes, then the connection
}

func (p *prefixed) Read(b []byte) (int, error) { return p.in.Read(b) }

// NetConn returns the connection beneath, as tls.Conn does.
func (p *prefixed) NetConn() net.Conn { return p.Conn }
