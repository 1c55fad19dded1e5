package startup

import (
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// CertDemand is what a client's certificate is needed for.
type CertDemand int

const (
	// CertOptional takes a certificate as a proof of identity and does without one.
	CertOptional CertDemand = iota
	// CertVerifyCA refuses clients without a certificate, as clientcert=verify-ca in pg_hba.conf does.
	CertVerifyCA
	// CertVerifyFull refuses clients whose certificate is not one for the role, as clientcert=verify-full does.
	CertVerifyFull
)

// ClientCert says which certificates of clients are taken, and for what. A certificate for the role proves who the client
// is: where home asks the proxy for nothing, Config.Admit is not asked about such a client. Whatever home asks for is
// needed as well. Clients of a unix socket have no certificates, and none is asked of them.
type ClientCert struct {
	CAs    *x509.CertPool         // that certificates must be signed by
	CRLs   []*x509.RevocationList // of those that sign; none: no certificate is taken for revoked
	Demand CertDemand
	Map    *IdentMap // from a certificate's common name to roles; nil: the name is the role's
}

// clientCert is what a handshake knows of its client's certificate.
type clientCert struct {
	asked  *ClientCert
	leaf   *x509.Certificate // verified; nil: none was shown
	proven bool              // it is one for the role
}

// certAsked returns what this client's certificate is asked for, nil for nothing.
func (h *handshake) certAsked() *ClientCert {
	if h.cfg.ClientCert == nil {
		return nil
	}
	return h.cfg.ClientCert()
}

// checkCert compares the client's certificate with the role.
func (h *handshake) checkCert() error {
	if h.client.local() {
		return nil
	}
	c := &h.cert
	if c.asked == nil {
		c.asked = h.certAsked() // without TLS
	}
	if c.asked == nil {
		return nil
	}
	user := h.packet.get("user")
	c.proven = c.leaf != nil && c.asked.Map.Maps(commonName(c.leaf), user)
	switch {
	case c.asked.Demand == CertOptional:
	case c.leaf == nil:
		return fatal(pgerr.InvalidAuthorization, "connection requires a valid client certificate")
	case c.asked.Demand == CertVerifyFull && !c.proven:
		return fatal(pgerr.InvalidAuthorization, fmt.Sprintf("certificate authentication failed for user \"%s\"", user))
	}
	return nil
}

// commonName returns the name that a certificate was issued to, empty where it cannot be told from another.
func commonName(c *x509.Certificate) string {
	if name := c.Subject.CommonName; !strings.ContainsRune(name, 0) {
		return name
	}
	return ""
}
