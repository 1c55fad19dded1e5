package startup

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
)

// methods are the names that require_auth has for what home may ask.
var methods = map[uint32]string{
	pgproto3.AuthTypeOk: "none", pgproto3.AuthTypeCleartextPassword: "password", pgproto3.AuthTypeMD5Password: "md5",
	pgproto3.AuthTypeSASL: "scram-sha-256", pgproto3.AuthTypeGSS: "gss",
}

// permit checks a demand of home's against require_auth and channel_binding of home's URL, which protect passwords from a
// server that is not home. AuthenticationOk is checked where nothing was asked before it.
func (l *login) permit(code uint32) error {
	method := methods[code]
	if list := l.config.RequireAuth; list != "" {
		names := strings.Split(strings.ReplaceAll(list, " ", ""), ",")
		allowed := slices.Contains(names, method)
		if strings.HasPrefix(names[0], "!") {
			allowed = !slices.Contains(names, "!"+method)
		}
		if !allowed {
			return l.distrust(fmt.Errorf("require_auth=%s forbids method %s", list, method))
		}
	}
	if l.config.ChannelBinding == "require" && code != pgproto3.AuthTypeSASL && !l.bound {
		return l.distrust(errors.New("channel_binding=require, but the login is not bound to home's certificate"))
	}
	return nil
}

// distrust is the failure of a home that asks for less or more than its URL allows.
func (l *login) distrust(cause error) error {
	e := fatal(pgerr.InvalidAuthorization, "the home server did not authenticate as the proxy requires it to")
	e.Hint = "See the proxy's log, and require_auth and channel_binding of its home URL."
	return &refusal{told: e, cause: cause}
}

// scramClient chooses how to log in to home, which has offered mechanisms.
func (l *login) scramClient(mechanisms []string) (c *scramClient, chosen string, err error) {
	if err := l.permit(pgproto3.AuthTypeSASL); err != nil {
		return nil, "", err
	}
	hash := l.homeHash()
	switch {
	case hash != nil && slices.Contains(mechanisms, mechanismPlus):
		return &scramClient{header: bindingHeader, binding: hash}, mechanismPlus, nil
	case l.config.ChannelBinding == "require":
		return nil, "", l.distrust(errors.New("channel_binding=require, but home offers no channel binding"))
	case hash != nil: // we could have, and home will know if somebody took PLUS from its offer
		return &scramClient{header: "y,,"}, mechanism, nil
	}
	return &scramClient{header: "n,,"}, mechanism, nil
}

// homeHash returns the hash to bind a login to home's certificate with; nil where there is none or it is not wanted.
func (l *login) homeHash() []byte {
	conn, ok := l.home.Conn.(*tls.Conn)
	if !ok || l.config.ChannelBinding == "disable" {
		return nil
	}
	certs := conn.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return nil
	}
	return endPointHash(certs[0])
}
