package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"
)

// tlsFlags say how clients may connect.
type tlsFlags struct {
	cert, key string
	mode      string
}

func (f *tlsFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "PEM `file` with the certificate shown to clients (read again on SIGHUP)")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "PEM `file` with its private key")
	cmd.Flags().StringVar(&f.mode, "tls-mode", "", "disable, allow or require TLS from clients (default: allow with a certificate, else disable)")
}

// certificate is the pair of files in use.
type certificate struct {
	cert, key string
	current   atomic.Pointer[tls.Certificate]
}

// reload reads both files again; if that fails, what was in use stays in use.
func (c *certificate) reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("cannot load the TLS certificate: %w", err)
	}
	c.current.Store(&pair)
	return nil
}

// load checks the flags. The certificate is nil where TLS is off.
func (f tlsFlags) load() (*certificate, error) {
	mode := f.mode
	if mode == "" && f.cert != "" {
		mode = "allow"
	}
	switch mode {
	case "", "disable":
		return nil, nil
	case "allow", "require":
	default:
		return nil, fmt.Errorf("--tls-mode %s: choose disable, allow or require", mode)
	}
	if f.cert == "" || f.key == "" {
		return nil, errors.New("TLS needs both --tls-cert and --tls-key")
	}
	c := &certificate{cert: f.cert, key: f.key}
	return c, c.reload()
}

// config makes the server's side of TLS, which takes the certificate in use at each handshake.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current.Load(), nil
		},
	}
}
