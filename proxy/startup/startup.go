package startup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

const defaultTimeout = time.Minute

// Config says how clients log in. Only Home is required.
type Config struct {
	// Home is where home is and how it is reached: hosts, TLS, sslmode's fallbacks, channel_binding, require_auth. Its
	// user is the proxy's own account, which clients never become.
	Home *pgconn.Config
	// TLS is for clients. Where it is nil or returns nil, SSLRequest is answered 'N'. Called once a connection.
	TLS func() *tls.Config
	// TLSRequired refuses clients without TLS, but not those of a unix socket nor CancelRequests.
	TLSRequired bool
	// Admit reports whether a client may come in where home asked for nothing (trust, peer, a certificate): home judged
	// the proxy then, not the client. nil admits every client; Local only those of this machine.
	Admit func(client net.Addr) bool
	// Timeout is for the whole startup; 0 is a minute, as Postgres' authentication_timeout.
	Timeout time.Duration
	// ClientCert says what a client's certificate is asked for; nil, or a function that returns nil: none is. Called once a
	// connection with TLS.
	ClientCert func() *ClientCert
	// Pace slows down logins that fail again and again; nil does not.
	Pace *Pace
	// Verifier returns what pg_authid.rolpassword holds for a role. ok false says that it is not to be had: SASL messages
	// are relayed to home. ok true with anything but a SCRAM verifier (an unknown role, one without a password) runs an
	// exchange that fails at its end, as Postgres does. An error counts as ok false.
	Verifier func(ctx context.Context, user string) (verifier string, ok bool, err error)
}

// Result is a client that is logged in at home, or a CancelRequest.
type Result struct {
	// Cancel is set when the connection was a CancelRequest; then nothing else is, and the caller closes the connection
	// once the request was carried out, which is what the client waits for.
	Cancel *pgproto3.CancelRequest

	Client      net.Conn          // after TLS if any
	ClientLeft  []byte            // read from the client beyond the startup exchange
	Home        net.Conn          // logged in as the client's role, after TLS if any
	HomeLeft    []byte            // read from home beyond its ReadyForQuery
	Parameters  map[string]string // the client's startup parameters: user, database, application_name, options, _pq_.*…
	Replication bool              // the client asked for a replication connection
	Status      map[string]string // ParameterStatus values that home reported
	PID         uint32            // of home's BackendKeyData
	SecretKey   []byte            // of home's BackendKeyData
	// Login holds home's frames from AuthenticationOk to before ReadyForQuery, which the caller sends to the client.
	Login    []byte
	TxStatus byte // of home's ReadyForQuery
	Bound    bool // the client has bound its login to the certificate that it was shown

	// ClientKey and ServerKey are the role's SCRAM keys, nil where the exchange was relayed or home asked for nothing.
	ClientKey, ServerKey []byte

	endpoint endpoint // where Home is connected to
	config   *pgconn.Config
}

// Local reports whether a client is on this machine. It is for Config.Admit.
func Local(client net.Addr) bool {
	t, ok := client.(*net.TCPAddr)
	return !ok || t.IP.IsLoopback()
}

// Accept takes a client's connection through startup and logs it in at home. On error the client was told, where there
// was something to tell, and both connections are closed. io.EOF says that the client left without a word.
func Accept(ctx context.Context, c net.Conn, cfg Config) (*Result, error) {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	h := &handshake{cfg: cfg, guard: newGuard(ctx), client: newPeer(c)}
	h.guard.add(c)
	res, err := h.run(ctx)
	if err == nil {
		err = h.guard.release()
	}
	if err != nil {
		h.fail(ctx, err)
		return nil, err
	}
	return res, nil
}

// handshake is the state of one Accept.
type handshake struct {
	cfg     Config
	guard   *guard
	client  *peer
	home    *peer
	binding []byte // hash of the certificate we showed to the client; nil without TLS or where it is undefined
	bound   bool   // the client's login is bound to it
	packet  packet
	cert    clientCert
}

func (h *handshake) run(ctx context.Context) (*Result, error) {
	cancel, err := h.negotiate(ctx)
	if err != nil {
		return nil, err
	}
	if cancel != nil {
		return &Result{Cancel: cancel}, nil
	}
	if err := h.greet(ctx); err != nil {
		return nil, err
	}
	client, user := h.client.RemoteAddr(), h.packet.get("user")
	h.cfg.Pace.wait(ctx, client, user)
	l, err := h.login(ctx)
	if ctx.Err() == nil {
		h.cfg.Pace.note(client, user, err)
	}
	if err != nil {
		return nil, err
	}
	return &Result{
		Client: h.client.Conn, ClientLeft: h.client.left(), Home: l.home.Conn, HomeLeft: l.home.left(),
		Parameters: h.packet.parameters(), Replication: h.packet.replication(), Status: l.status,
		PID: l.pid, SecretKey: l.secret, Login: l.frames, TxStatus: l.txStatus, Bound: h.bound,
		ClientKey: l.keys.client, ServerKey: l.keys.server, endpoint: l.endpoint, config: h.cfg.Home,
	}, nil
}

// greet answers the startup packet as far as that needs no home.
func (h *handshake) greet(ctx context.Context) error {
	p := &h.packet
	if p.major() != protocolMajor {
		return h.unsupported(ctx)
	}
	if p.get("user") == "" {
		return fatal("28000", "no PostgreSQL user name specified in startup packet")
	}
	if h.cfg.TLSRequired && !h.client.secure() {
		e := fatal("28000", "connections without TLS are refused")
		e.Hint = "Set sslmode=require, or better sslmode=verify-full, in the client's connection string."
		return e
	}
	return h.checkCert()
}

// settle tells the client which version of the protocol is spoken, where that is another than it asked for.
func (h *handshake) settle(version uint32) error {
	extra := h.packet.extensions()
	if h.packet.version <= version && len(extra) == 0 {
		return nil
	}
	return h.client.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: version, UnrecognizedOptions: extra})
}

// unsupported returns the error for a major version other than ours, in home's own words where home can be asked. It is
// asked about a version of our choice: it would take a request code for the request, and answer an old one in its form.
func (h *handshake) unsupported(ctx context.Context) error {
	p := &h.packet
	version := fmt.Sprintf("%d.%d", p.major(), p.minor())
	l, err := open(ctx, h.cfg.Home, (&packet{version: (protocolMajor + 1) << 16}).bare(), h.guard)
	if err == nil { // a home that speaks it: we still don't
		_ = l.home.Close()
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == pgerr.FeatureNotSupported {
		e.Message = strings.Replace(e.Message, fmt.Sprintf("%d.0", protocolMajor+1), version, 1)
		return e
	}
	return fatal(pgerr.FeatureNotSupported, fmt.Sprintf("unsupported frontend protocol %s: server supports 3.0 to %d.%d", version, protocolMajor, protocol32&0xffff))
}
