package startup

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// errNoKeys says that home wants a password for a side connection and the role's keys are not known.
var errNoKeys = errors.New("the home server asks for a password, and the role's keys are not known because its login was relayed")

// OpenSide opens another connection to home as the client's role, to the same host and database, with the startup
// parameters given beside user and database. It works where home trusts the proxy or the login left keys here.
func (r *Result) OpenSide(ctx context.Context, params map[string]string) (*pgconn.PgConn, error) {
	g := newGuard(ctx)
	l, err := r.openSide(ctx, params, g)
	if err == nil {
		err = g.release()
	}
	if err != nil {
		_ = g.release()
		if l != nil {
			_ = l.home.Close()
		}
		return nil, err
	}
	config := r.config.Copy()
	config.User, config.Database, config.Password = r.Parameters["user"], r.Parameters["database"], ""
	var conn net.Conn = l.home.Conn
	if l.home.in.Buffered() > 0 {
		conn = &prefixed{Conn: conn, in: l.home.in}
	}
	return pgconn.Construct(&pgconn.HijackedConn{
		Conn: conn, TLSConfig: l.endpoint.tls, PID: l.pid, SecretKey: l.secret, ParameterStatuses: l.status,
		TxStatus: l.txStatus, Config: config, CustomData: map[string]any{},
	})
}

// openSide logs in; the connection that it returns with an error is still open.
func (r *Result) openSide(ctx context.Context, params map[string]string, g *guard) (*login, error) {
	p := packet{params: []param{{"user", r.Parameters["user"]}}}
	if db := r.Parameters["database"]; db != "" {
		p.params = append(p.params, param{"database", db})
	}
	for name, value := range params {
		if name != "user" && name != "database" {
			p.params = append(p.params, param{name, value})
		}
	}
	l, err := r.endpoint.open(ctx, r.config, p.forHome(), g)
	if err != nil {
		return nil, err
	}
	ok := l.ask
	mechanisms, err := l.ask.mechanisms()
	switch {
	case err != nil:
	case len(mechanisms) > 0 && r.ClientKey != nil:
		ok, err = l.scram(keys{r.ClientKey, r.ServerKey}, mechanisms)
	default:
		if code, isAuth := l.ask.authCode(); !isAuth || code != pgproto3.AuthTypeOk {
			err = errNoKeys
		}
	}
	if err == nil {
		err = l.finish(ok)
	}
	return l, err
}
