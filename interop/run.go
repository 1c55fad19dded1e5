package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// runLimit bounds one run of one client.
const runLimit = 3 * time.Minute

// verdict is what became of a client.
type verdict struct {
	client      *client
	expected    transcript          // at home, on plain tables
	differences map[string][]string // by schema, of the checks that differ
	accepted    []acceptance        // differences that occurred and are excused
	stale       []acceptance        // excuses for what did not occur
	broken      string              // why the runs could not be compared; empty: they could
}

// passed reports whether the client saw no difference. One that could not be installed has seen none.
func (v *verdict) passed() bool {
	return v.client.failed != "" ||
		v.broken == "" && len(v.differences)+len(v.stale) == 0
}

// runAll runs the clients, several at the same time, and returns their verdicts in order.
func (r *rig) runAll(ctx context.Context, clients []*client, accepted []acceptance, s *settings) []*verdict {
	verdicts := make([]*verdict, len(clients))
	free := make(chan struct{}, max(1, s.jobs))
	var all sync.WaitGroup
	for i, c := range clients {
		v := &verdict{client: c, differences: map[string][]string{}}
		verdicts[i] = v
		if c.failed != "" {
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if err := r.judge(ctx, v, accepted, s.keep); err != nil {
				v.broken = err.Error()
				progress("%-22s BROKEN %v", c.key(), err)
			}
		})
	}
	all.Wait()
	return verdicts
}

// server is where a client connects.
type server int

const (
	homeServer server = iota
	sluiceServer
	secondServer
)

// trial is one run of a client.
type trial struct {
	name      string
	server    server
	schema    string
	only      string
	authority string // file with the certificate of whom the server's must be signed by; empty: no TLS
}

var trials = []trial{
	{"home", homeServer, plain, "", ""},
	{"plain", sluiceServer, plain, "", ""},
	{"lake", sluiceServer, lake, "", ""},
	{"twin", secondServer, lake, "introspect", ""},
}

// judge runs a client everywhere and compares.
func (r *rig) judge(ctx context.Context, v *verdict, accepted []acceptance, keep string) error {
	stage, err := r.newStage(ctx, v.client)
	if err != nil {
		return err
	}
	seen := map[string]transcript{}
	for _, t := range trials {
		if seen[t.name], err = stage.run(ctx, v.client, t, keep); err != nil {
			return fmt.Errorf("run %s: %w", t.name, err)
		}
	}
	v.expected = seen["home"]
	v.compare(plain, checks, seen["home"], seen["plain"], accepted)
	expected := transcript{}
	for check, lines := range seen["home"] {
		expected[check] = lines
	}
	expected["introspect"] = seen["twin"]["introspect"]
	v.compare(lake, checks, expected, seen["lake"], accepted)
	if v.client.TLS != "" {
		if err := stage.secure(ctx, v, seen["home"], accepted, keep); err != nil {
			return err
		}
	}
	return stage.intact(ctx)
}

// run runs a client's program once.
func (s *stage) run(ctx context.Context, c *client, t trial, keep string) (transcript, error) {
	if err := s.clear(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	began := time.Now()
	out, complaint, err := c.command(ctx, c.Run, append(s.environment(t), t.securely(c)...))
	progress("%-22s %-10s %.1f s", c.key(), t.name, time.Since(began).Seconds())
	if keep != "" {
		for suffix, text := range map[string]string{"out": out, "err": complaint} {
			if err := os.WriteFile(filepath.Join(keep, c.key()+"."+t.name+"."+suffix), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s\n%s", err, strings.TrimSpace(complaint), lastLine(out))
	}
	return parse(out)
}

// compare adds the differences between two transcripts.
func (v *verdict) compare(schema string, checks []string, want, got transcript, accepted []acceptance) {
	for _, check := range checks {
		wanted, found := want[check], got[check]
		for _, a := range excused(accepted, v.client.key(), check, schema) {
			var aboutWanted, aboutFound []string
			aboutWanted, wanted = a.split(wanted)
			aboutFound, found = a.split(found)
			if slices.Equal(aboutWanted, aboutFound) {
				v.stale = append(v.stale, a)
				progress("%-22s no difference on %s, %s %s, though %s accepts one", v.client.key(), schema, check, a.word, acceptedFile)
			} else {
				v.accepted = append(v.accepted, a)
			}
		}
		if d := difference(wanted, found); d != "" {
			v.differences[schema] = append(v.differences[schema], check)
			progress("%-22s DIFFERENT on %s, %s: %s", v.client.key(), schema, check, d)
		}
	}
}
