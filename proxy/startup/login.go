package startup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

const (
	maxHomeFrame = 1 << 20 // of one message of home's during startup
	maxLogin     = 4 << 20 // of all of them together
)

// login is one connection to home on its way to ReadyForQuery.
type login struct {
	config   *pgconn.Config
	endpoint endpoint
	home     *peer
	version  uint32 // of the protocol that home speaks
	ask      *frame // what home said first that was neither a notice nor an error nor about versions
	keys     keys
	asked    bool // home has asked for something
	bound    bool // the login is bound to home's certificate

	frames   []byte
	status   map[string]string
	pid      uint32
	secret   []byte
	txStatus byte
}

// frame is one message of home's.
type frame struct {
	raw  []byte
	body []byte
}

func (f *frame) typ() byte { return f.raw[0] }

// open connects to home with a startup packet, in the first way that brings it to the point of authentication.
func open(ctx context.Context, home *pgconn.Config, packet []byte, g *guard) (*login, error) {
	ways, lookup := endpoints(ctx, home)
	failures := []error{}
	if lookup != nil {
		failures = append(failures, lookup)
	}
	for _, e := range ways {
		l, err := e.open(ctx, home, packet, g)
		if err == nil {
			return l, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil || final(err) {
			break
		}
	}
	return nil, worst(failures)
}

// open tries one way.
func (e endpoint) open(ctx context.Context, home *pgconn.Config, packet []byte, g *guard) (*login, error) {
	c, err := e.dial(ctx, home)
	if err != nil {
		return nil, err
	}
	g.add(c)
	l := &login{config: home, endpoint: e, home: newPeer(c), version: code(packet[4:]), status: map[string]string{}}
	if _, err = c.Write(packet); err == nil {
		err = l.begin()
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return l, nil
}

// begin reads what home says first: another version of the protocol than it was asked for, perhaps, then what it asks for.
func (l *login) begin() (err error) {
	if l.ask, err = l.next(); err != nil || l.ask.typ() != 'v' {
		return err
	}
	m := &pgproto3.NegotiateProtocolVersion{}
	if err := m.Decode(l.ask.body); err != nil {
		return l.lost(err)
	}
	if v := m.NewestMinorProtocol; v < protocol30 || v > l.version {
		return l.lost(fmt.Errorf("asked for protocol %#x, home offers %#x", l.version, v))
	}
	l.version = m.NewestMinorProtocol
	l.ask, err = l.next()
	return err
}

// final reports that no other way to home will do better, by pgconn's rule.
func final(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && slices.Contains([]string{pgerr.InvalidPassword, "3D000", pgerr.InsufficientPrivilege}, e.Code)
}

// worst chooses among the failures of all ways what the client is told: what a server said, and of that rather not that
// pg_hba.conf lacks an entry, since sslmode's fallbacks earn that by themselves.
func worst(failures []error) error {
	var said *pgconn.PgError
	for _, f := range failures {
		var e *pgconn.PgError
		if errors.As(f, &e) && (said == nil || said.Code == pgerr.InvalidAuthorization) {
			said = e
		}
	}
	if said != nil {
		return said
	}
	e := fatal(pgerr.CannotConnectNow, "the home server cannot be reached")
	e.Hint = "The proxy's log says why; \"sluice check\" shows what is configured."
	return &refusal{told: e, cause: errors.Join(failures...)}
}

// next reads home's next message. Notices are kept for the client, an error is returned as one.
func (l *login) next() (*frame, error) {
	for {
		raw, body, err := l.home.frame(maxHomeFrame)
		if err != nil {
			return nil, l.lost(err)
		}
		switch raw[0] {
		case 'N':
			if err := l.keep(raw); err != nil {
				return nil, err
			}
		case 'E':
			m := &pgproto3.ErrorResponse{}
			if err := m.Decode(body); err != nil {
				return nil, l.lost(err)
			}
			return nil, pgconn.ErrorResponseToPgError(m)
		default:
			return &frame{raw, body}, nil
		}
	}
}

// keep appends a frame to what the client will get.
func (l *login) keep(raw []byte) error {
	if len(l.frames)+len(raw) > maxLogin {
		return l.lost(errors.New("home says too much during login"))
	}
	l.frames = append(l.frames, raw...)
	return nil
}

// lost is the failure of home's connection.
func (l *login) lost(cause error) error {
	return &refusal{told: fatal(pgerr.ConnectionFailure, "the home server ended the connection during login"), cause: cause}
}

// finish reads from AuthenticationOk, which is ok, to ReadyForQuery.
func (l *login) finish(ok *frame) error {
	if !l.asked {
		if err := l.permit(pgproto3.AuthTypeOk); err != nil {
			return err
		}
	}
	for f := ok; ; {
		if done, err := l.take(f); done || err != nil {
			return err
		}
		var err error
		if f, err = l.next(); err != nil {
			return err
		}
	}
}

// take handles one message of those behind authentication, done at ReadyForQuery.
func (l *login) take(f *frame) (done bool, err error) {
	switch f.typ() {
	case 'S':
		m := &pgproto3.ParameterStatus{}
		if err := m.Decode(f.body); err != nil {
			return false, l.lost(err)
		}
		l.status[m.Name] = m.Value
	case 'K':
		m := &pgproto3.BackendKeyData{}
		if err := m.Decode(f.body); err != nil {
			return false, l.lost(err)
		}
		l.pid, l.secret = m.ProcessID, slices.Clone(m.SecretKey)
	case 'Z':
		if len(f.body) != 1 {
			return false, l.lost(errors.New("invalid ReadyForQuery"))
		}
		l.txStatus = f.body[0]
		return true, nil
	case 'R':
		if code, ok := f.authCode(); !ok || code != pgproto3.AuthTypeOk {
			return false, l.lost(fmt.Errorf("home asks for authentication (%d) again", code))
		}
	}
	return false, l.keep(f.raw)
}
