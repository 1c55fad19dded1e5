package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// What a client may do with TLS, as its client.json says. Either way it must verify who the server is.
const (
	verifies = "verify-full"
	binds    = "channel binding" // SCRAM is bound to the server's certificate as well
)

// overTLS stands for a schema in what differs of the runs with TLS.
const overTLS = "tls"

// secureChecks are those that are run with TLS.
var secureChecks = []string{"connect", "types", "copy", "cancel"}

// secure runs a client with TLS, on foreign tables, and compares with home without TLS. It must have come in as
// its client.json says, and must not log in to a server whose certificate it cannot verify.
func (s *stage) secure(ctx context.Context, v *verdict, home transcript, accepted []acceptance, keep string) error {
	c := v.client
	t := trial{"tls", sluiceServer, lake, strings.Join(secureChecks, ","), filepath.Join(s.rig.home.Dir(), "data", authorityFile)}
	got, err := s.run(ctx, c, t, keep)
	if err != nil {
		return fmt.Errorf("run %s: %w", t.name, err)
	}
	v.compare(overTLS, secureChecks, home, got, accepted)
	logins := s.logins()
	if len(logins) == 0 {
		return errors.New("the proxy saw no login with TLS")
	}
	if c.TLS == binds && slices.ContainsFunc(logins, func(line string) bool { return !strings.Contains(line, " channel_binding=true") }) {
		return errors.New("it logs in without channel binding")
	}
	t = trial{"stranger", sluiceServer, lake, "connect", filepath.Join(s.rig.work, authorityFile)}
	_, _ = s.run(ctx, c, t, keep) // it fails, each client in its own way; what counts is the proxy's word
	if len(s.logins()) != len(logins) {
		return errors.New("it logs in to a server with a stranger's certificate")
	}
	return nil
}

// logins are the lines of the proxy's log about the client's logins with TLS.
func (s *stage) logins() []string {
	var lines []string
	ours := " user=" + role + " database=" + s.database + " "
	for line := range strings.Lines(s.rig.sluice.said.String()) {
		if strings.Contains(line, `msg="client logged in"`) && strings.Contains(line, ours) && !strings.Contains(line, " tls=none ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// securely is what a client's program is told so that it uses TLS, or does not: libpq's variables, which most clients know,
// and those that postgres.js and Node.js have in place of them.
func (t trial) securely(c *client) []string {
	if t.authority == "" {
		return []string{"PGSSLMODE=disable"}
	}
	env := []string{"PGSSLMODE=verify-full", "PGSSLROOTCERT=" + t.authority, "PGSSL=verify-full", "NODE_EXTRA_CA_CERTS=" + t.authority}
	if c.TLS == binds {
		env = append(env, "PGCHANNELBINDING=require")
	}
	return env
}
