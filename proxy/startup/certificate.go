package startup

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
)

// shownCertificate chooses a server's certificate as crypto/tls does, and remembers which one: the client binds its
// SCRAM exchange to it.
type shownCertificate struct {
	config *tls.Config
	shown  *tls.Certificate
}

func (s *shownCertificate) choose(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	certs := s.config.Certificates
	if s.config.GetCertificate != nil && (len(certs) == 0 || hello.ServerName != "") {
		c, err := s.config.GetCertificate(hello)
		if c != nil || err != nil {
			s.shown = c
			return c, err
		}
	}
	for i := range certs {
		if len(certs) == 1 || hello.SupportsCertificate(&certs[i]) == nil {
			s.shown = &certs[i]
			return s.shown, nil
		}
	}
	if len(certs) > 0 {
		s.shown = &certs[0]
	}
	return s.shown, nil // nil: crypto/tls says that there is none
}

// leaf returns the certificate that was shown, nil for none.
func (s *shownCertificate) leaf() *x509.Certificate {
	switch {
	case s.shown == nil || len(s.shown.Certificate) == 0:
		return nil
	case s.shown.Leaf != nil:
		return s.shown.Leaf
	}
	c, err := x509.ParseCertificate(s.shown.Certificate[0])
	if err != nil {
		return nil
	}
	return c
}

// endPointHash returns the channel binding data tls-server-end-point of a server's certificate (RFC 5929, 4.1): its hash
// by the hash of its signature, SHA-256 in place of weaker ones. nil where none is defined (Ed25519).
func endPointHash(c *x509.Certificate) []byte {
	if c == nil {
		return nil
	}
	switch c.SignatureAlgorithm {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.ECDSAWithSHA1, x509.DSAWithSHA1,
		x509.SHA256WithRSA, x509.SHA256WithRSAPSS, x509.ECDSAWithSHA256, x509.DSAWithSHA256:
		h := sha256.Sum256(c.Raw)
		return h[:]
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		h := sha512.Sum384(c.Raw)
		return h[:]
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		h := sha512.Sum512(c.Raw)
		return h[:]
	}
	return nil
}
