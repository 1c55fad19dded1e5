package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicedb/sluice/proxy/startup"
)

// identMapName is the map of a pg_ident file that is ours.
const identMapName = "sluice"

// clientCertFlags say which certificates of clients are taken.
type clientCertFlags struct {
	ca, crl, demand, idents string
}

func (f *clientCertFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.ca, "tls-client-ca", "", "PEM `FILE` with the authorities of clients' certificates (read again on SIGHUP)")
	cmd.Flags().StringVar(&f.crl, "tls-client-crl", "", "PEM `FILE` with the authorities' revocation lists (read again on SIGHUP)")
	cmd.Flags().StringVar(&f.demand, "tls-client-cert", "", "`DEMAND`: optional, verify-ca or verify-full, what a client's certificate is needed for (default: optional)")
	cmd.Flags().StringVar(&f.idents, "tls-client-map", "", "`FILE` in the form of pg_ident.conf whose map \"sluice\" gives roles to common names (read again on SIGHUP)")
}

// unused returns an error where the flags are given and TLS is off.
func (f clientCertFlags) unused() error {
	if f != (clientCertFlags{}) {
		return errors.New("clients' certificates need TLS: give --tls-cert and --tls-key")
	}
	return nil
}

// load reads the files. nil is for no certificates.
func (f clientCertFlags) load() (*startup.ClientCert, error) {
	if f == (clientCertFlags{}) {
		return nil, nil
	}
	demands := map[string]startup.CertDemand{
		"": startup.CertOptional, "optional": startup.CertOptional, "verify-ca": startup.CertVerifyCA, "verify-full": startup.CertVerifyFull,
	}
	demand, ok := demands[f.demand]
	if !ok {
		return nil, fmt.Errorf("--tls-client-cert %s: choose optional, verify-ca or verify-full", f.demand)
	}
	if f.ca == "" {
		return nil, errors.New("--tls-client-cert, --tls-client-crl and --tls-client-map need --tls-client-ca")
	}
	text, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, fmt.Errorf("cannot load the authorities of clients' certificates: %w", err)
	}
	c := &startup.ClientCert{CAs: x509.NewCertPool(), Demand: demand}
	if !c.CAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--tls-client-ca %s holds no certificate", f.ca)
	}
	if c.CRLs, err = f.loadCRLs(); err != nil {
		return nil, err
	}
	c.Map, err = f.loadMap()
	return c, err
}

// loadCRLs reads the revocation lists; none are for no file.
func (f clientCertFlags) loadCRLs() ([]*x509.RevocationList, error) {
	if f.crl == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.crl)
	if err != nil {
		return nil, fmt.Errorf("cannot load the revocation lists of clients' certificates: %w", err)
	}
	lists, err := startup.ParseCRLs(text)
	if err != nil {
		return nil, fmt.Errorf("--tls-client-crl %s: %w", f.crl, err)
	}
	return lists, nil
}

// loadMap reads the map; nil is for no file.
func (f clientCertFlags) loadMap() (*startup.IdentMap, error) {
	if f.idents == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.idents)
	if err != nil {
		return nil, fmt.Errorf("cannot load the map of clients' certificates: %w", err)
	}
	m, err := startup.ParseIdentMap(string(text), identMapName)
	if err != nil {
		return nil, fmt.Errorf("--tls-client-map %s: %w", f.idents, err)
	}
	return m, nil
}
