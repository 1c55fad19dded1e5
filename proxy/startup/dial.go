package startup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/socket"
)

// endpoint is one way to reach home.
type endpoint struct {
	network, address string
	tls              *tls.Config // nil: in clear
}

// endpoints lists the ways to reach home in the order to try them: each host and each of sslmode's choices, by address.
// The error is for hosts that cannot be resolved, and may come with others that can.
func endpoints(ctx context.Context, home *pgconn.Config) ([]endpoint, error) {
	hosts := append([]*pgconn.FallbackConfig{{Host: home.Host, Port: home.Port, TLSConfig: home.TLSConfig}}, home.Fallbacks...)
	var all []endpoint
	var failed error
	for _, h := range hosts {
		if network, address := pgconn.NetworkAddress(h.Host, h.Port); network == "unix" {
			all = append(all, endpoint{network, filepath.Clean(address), h.TLSConfig})
			continue
		}
		addresses, err := home.LookupFunc(ctx, h.Host)
		failed = errors.Join(failed, err)
		for _, a := range addresses {
			if _, _, err := net.SplitHostPort(a); err != nil { // a lookup may name the port itself
				a = net.JoinHostPort(a, strconv.Itoa(int(h.Port)))
			}
			all = append(all, endpoint{"tcp", a, h.TLSConfig})
		}
	}
	if home.ValidateConnect != nil && len(all) > 0 {
		return valid(ctx, home, all)
	}
	return all, failed
}

// valid returns those of all that lead to the server which target_session_attrs asks for. Only a session can tell, so one
// of the proxy's own account is opened to see.
func valid(ctx context.Context, home *pgconn.Config, all []endpoint) ([]endpoint, error) {
	c, err := pgconn.ConnectConfig(ctx, home)
	if err != nil {
		return nil, err
	}
	address := c.Conn().RemoteAddr().String()
	_ = c.Close(ctx)
	return slices.DeleteFunc(all, func(e endpoint) bool { return e.address != address }), nil
}

// Dial opens a connection to home as far as TLS, in the first way that works. Nothing of the protocol was said on it.
func Dial(ctx context.Context, home *pgconn.Config) (net.Conn, error) {
	ways, err := endpoints(ctx, home)
	for _, e := range ways {
		c, failed := e.dial(ctx, home)
		if failed == nil {
			return c, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

// dial opens one connection and takes it to TLS.
func (e endpoint) dial(ctx context.Context, home *pgconn.Config) (net.Conn, error) {
	if home.ConnectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, home.ConnectTimeout)
		defer cancel()
	}
	c, err := home.DialFunc(ctx, e.network, e.address)
	if err != nil {
		return nil, err
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetKeepAlive(true)
	}
	c = socket.New(c)
	if e.tls == nil {
		return c, nil
	}
	encrypted, err := e.encrypt(ctx, c, home)
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("TLS to home at %s: %w", e.address, err)
	}
	return encrypted, nil
}

func (e endpoint) encrypt(ctx context.Context, c net.Conn, home *pgconn.Config) (net.Conn, error) {
	config := e.tls
	switch home.SSLCertMode {
	case "disable":
		config = config.Clone()
		config.Certificates = nil
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &tls.Certificate{}, nil }
	case "require":
		return nil, errors.New("sslcertmode=require is not supported for home")
	}
	if home.SSLNegotiation == "direct" {
		if !slices.Contains(config.NextProtos, alpn) {
			config = config.Clone()
			config.NextProtos = []string{alpn}
		}
	} else if err := requestTLS(ctx, c); err != nil {
		return nil, err
	}
	conn := tls.Client(c, config)
	return conn, conn.HandshakeContext(ctx)
}

// requestTLS asks home for TLS. It reads no byte behind the answer.
func requestTLS(ctx context.Context, c net.Conn) error {
	g := newGuard(ctx)
	g.add(c)
	out, err := (&pgproto3.SSLRequest{}).Encode(nil)
	if err != nil {
		return err
	}
	if _, err := c.Write(out); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return err
	}
	if answer[0] != 'S' {
		return errors.New("server refused TLS connection")
	}
	return g.release()
}

// SendCancel asks home to cancel what the backend pid does, and returns when home has taken the request. Where home has
// several addresses use Result.SendCancel, which knows the right one.
func SendCancel(ctx context.Context, home *pgconn.Config, pid uint32, key []byte) error {
	c, err := Dial(ctx, home)
	if err != nil {
		return err
	}
	return cancelOn(ctx, c, pid, key)
}

// SendCancel asks home to cancel what the session's backend does, and returns when home has taken the request.
func (r *Result) SendCancel(ctx context.Context) error {
	c, err := r.endpoint.dial(ctx, r.config)
	if err != nil {
		return err
	}
	return cancelOn(ctx, c, r.PID, r.SecretKey)
}

func cancelOn(ctx context.Context, c net.Conn, pid uint32, key []byte) error {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if err := newPeer(c).send(&pgproto3.CancelRequest{ProcessID: pid, SecretKey: key}); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, io.LimitReader(c, frameChunk)) // home closes when it has sent the signal
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return ignoreReset(err)
}

// ignoreReset drops the ways in which a server may close a connection that it is done with.
func ignoreReset(err error) error {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
