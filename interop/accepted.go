package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// acceptedFile lists differences that Sluice's documentation states.
const acceptedFile = "interop/accepted.txt"

// acceptance excuses one check of one client on plain or on foreign tables.
type acceptance struct{ client, check, schema, reason string }

// readAccepted reads lines of client, check, plain or lake, and reason. Blank lines and those that begin with # are comments.
func readAccepted(root string) ([]acceptance, error) {
	text, err := os.ReadFile(filepath.Join(root, acceptedFile))
	if err != nil {
		return nil, err
	}
	var all []acceptance
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, " ", 4)
		if len(f) != 4 || !slices.Contains(checks, f[1]) || f[2] != plain && f[2] != lake {
			return nil, fmt.Errorf("%s: not CLIENT CHECK plain|lake REASON: %s", acceptedFile, line)
		}
		all = append(all, acceptance{f[0], f[1], f[2], f[3]})
	}
	return all, nil
}

// reasonFor finds the reason why a difference is accepted, empty for none.
func reasonFor(all []acceptance, client, check, schema string) string {
	for _, a := range all {
		if a.client == client && a.check == check && a.schema == schema {
			return a.reason
		}
	}
	return ""
}
