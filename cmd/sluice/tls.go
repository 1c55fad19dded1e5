package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/sluicedb/sluice/proxy/startup"
)

// tlsFlags say how clients may connect.
type tlsFlags struct {
	cert, key string
	mode      string
	clients   clientCertFlags
}

func (f *tlsFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "PEM `FILE` with the certificate shown to clients (read again on SIGHUP)")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "PEM `FILE` with its private key")
	cmd.Flags().StringVar(&f.mode, "tls-mode", "", "`MODE`: disable, allow or require TLS from clients (default: allow with a certificate, else disable)")
	f.clients.add(cmd)
}

// certificate is the pair of files in use, and what clients' own certificates are asked for.
type certificate struct {
	cert, key string
	current   atomic.Pointer[tls.Certificate]
	clients   clientCertFlags
	asked     atomic.Pointer[startup.ClientCert] // nil: nothing
}

// reload reads all files again; if that fails, what was in use stays in use.
func (c *certificate) reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("cannot load the TLS certificate: %w", err)
	}
	asked, err := c.clients.load()
	if err != nil {
		return err
	}
	c.current.Store(&pair)
	c.asked.Store(asked)
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
		return nil, f.clients.unused()
	case "allow", "require":
	default:
		return nil, fmt.Errorf("--tls-mode %s: choose disable, allow or require", mode)
	}
	if f.cert == "" || f.key == "" {
		return nil, errors.New("TLS needs both --tls-cert and --tls-key")
	}
	c := &certificate{cert: f.cert, key: f.key, clients: f.clients}
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

// clientCert returns what clients' certificates are asked for, nil for nothing.
func (c *certificate) clientCert() *startup.ClientCert {
	if c == nil {
		return nil
	}
	return c.asked.Load()
}
