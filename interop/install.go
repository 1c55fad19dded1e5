package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// installLimit bounds the installs of all clients together.
const installLimit = 12 * time.Minute

// impatient has package managers give up soon where their registry does not answer.
var impatient = []string{
	"PIP_RETRIES=1", "PIP_DEFAULT_TIMEOUT=20", "npm_config_fetch_retries=1", "npm_config_fetch_timeout=60000",
	"CARGO_NET_RETRY=1", "CARGO_HTTP_TIMEOUT=20",
}

// installAll installs clients, each language's one after another. A client that cannot be installed keeps the reason.
func installAll(ctx context.Context, clients []*client) {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
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
	if reason := c.need(ctx, apt); reason != "" {
		return reason
	}
	for _, args := range c.Install {
		if out, complaint, err := c.command(ctx, args, impatient); err != nil {
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
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := runToEnd(ctx, cmd); err != nil {
		return brief(said.String(), "", err)
	}
	return ""
}

var (
	colour    = regexp.MustCompile("\x1b\\[[0-9;]*m")
	complains = regexp.MustCompile(`(?im)^(?:\[|npm )?error.*`)
)

// brief is why a command failed, in one line without characters that mean something in a table: the first error that it
// names, else the last that it said.
func brief(complaint, out string, err error) string {
	text := colour.ReplaceAllString(out+"\n"+complaint, "")
	said := complains.FindString(text)
	if said == "" {
		said = lastLine(text)
	}
	if said == "" || errors.Is(err, context.DeadlineExceeded) {
		said = err.Error()
	}
	return strings.ReplaceAll(said, "|", "/")
}
