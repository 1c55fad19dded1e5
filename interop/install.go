package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// installLimit bounds the install of one client.
const installLimit = 10 * time.Minute

// installAll installs clients, each language's one after another. A client that cannot be installed keeps the reason.
func installAll(ctx context.Context, clients []*client) {
	byLanguage := map[string][]*client{}
	for _, c := range clients {
		language := strings.Split(c.dir, string(filepath.Separator))[1]
		byLanguage[language] = append(byLanguage[language], c)
	}
	var apt sync.Mutex
	var all sync.WaitGroup
	for _, group := range byLanguage {
		all.Go(func() {
			for _, c := range group {
				began := time.Now()
				if c.failed = c.install(ctx, &apt); c.failed != "" {
					progress("%-22s not run: %s", c.key(), c.failed)
				} else if took := time.Since(began); took > 5*time.Second {
					progress("%-22s installed in %.0f s", c.key(), took.Seconds())
				}
			}
		})
	}
	all.Wait()
}

// install returns why a client cannot run, empty if it can.
func (c *client) install(ctx context.Context, apt *sync.Mutex) string {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	if reason := c.need(ctx, apt); reason != "" {
		return reason
	}
	for _, args := range c.Install {
		if out, complaint, err := c.command(ctx, args, nil); err != nil {
			return "install failed: " + brief(complaint, out, err)
		}
	}
	out, complaint, err := c.command(ctx, c.Version, nil)
	if err != nil {
		return "it does not say its version: " + brief(complaint, out, err)
	}
	c.version = lastLine(out)
	return ""
}

// need installs what the client's commands are in.
func (c *client) need(ctx context.Context, apt *sync.Mutex) string {
	if len(c.Needs) == 0 {
		return ""
	}
	apt.Lock()
	defer apt.Unlock()
	cmd := exec.CommandContext(ctx, filepath.Join(c.root, ".ci", "need"), c.Needs...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if said, err := cmd.CombinedOutput(); err != nil {
		return brief(string(said), "", err)
	}
	return ""
}

// brief is the last that a command said, in one line without characters that mean something in a table.
func brief(complaint, out string, err error) string {
	said := lastLine(complaint)
	if said == "" {
		said = lastLine(out)
	}
	if said == "" {
		said = err.Error()
	}
	return strings.ReplaceAll(said, "|", "/")
}
