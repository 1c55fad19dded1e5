package startup

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ParseCRLs reads revocation lists, PEM. Those that say only a part of what an authority has revoked are refused.
func ParseCRLs(text []byte) ([]*x509.RevocationList, error) {
	var lists []*x509.RevocationList
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "X509 CRL" {
			continue
		}
		list, err := x509.ParseRevocationList(block.Bytes)
		if err != nil {
			return nil, err
		}
		for _, e := range list.Extensions {
			if e.Critical {
				return nil, fmt.Errorf("the revocation list of %s has the critical extension %v, which is not supported", list.Issuer, e.Id)
			}
		}
		lists = append(lists, list)
	}
	if len(lists) == 0 {
		return nil, errors.New("no revocation list (X509 CRL) in it")
	}
	return lists, nil
}

// checkRevoked refuses a client's certificate unless every certificate between it and an authority stands in none of the
// lists, and the list that would name it is there and current. As Postgres with ssl_crl_file.
func (c *ClientCert) checkRevoked(state tls.ConnectionState) error {
	if len(c.CRLs) == 0 || len(state.VerifiedChains) == 0 { // none was shown
		return nil
	}
	var failures []error
	for _, chain := range state.VerifiedChains {
		err := c.checkChain(chain)
		if err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func (c *ClientCert) checkChain(chain []*x509.Certificate) error {
	for i, cert := range chain[:len(chain)-1] {
		if err := c.check(cert, chain[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// check looks for a certificate in the lists of its issuer's.
func (c *ClientCert) check(cert, issuer *x509.Certificate) error {
	missing := fmt.Errorf("there is no revocation list of %s, which has issued the certificate of %s", issuer.Subject, cert.Subject)
	for _, list := range c.CRLs {
		if !bytes.Equal(list.RawIssuer, issuer.RawSubject) || list.CheckSignatureFrom(issuer) != nil {
			continue
		}
		if now := time.Now(); now.Before(list.ThisUpdate) || !list.NextUpdate.IsZero() && now.After(list.NextUpdate) {
			missing = fmt.Errorf("the revocation list of %s is for %s to %s", list.Issuer, list.ThisUpdate, list.NextUpdate)
			continue
		}
		if slices.ContainsFunc(list.RevokedCertificateEntries, func(e x509.RevocationListEntry) bool {
			return e.SerialNumber.Cmp(cert.SerialNumber) == 0
		}) {
			return fmt.Errorf("the certificate of %s is revoked", cert.Subject)
		}
		missing = nil
	}
	return missing
}
