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

// acceptance excuses the lines of a check that begin with a word, for one client on plain or on foreign tables.
type acceptance struct{ client, check, schema, word, reason string }

// readAccepted reads lines of client, check, plain or lake, word, and reason. Blank lines and those that begin with # are
// comments.
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
		f := strings.SplitN(line, " ", 5)
		if len(f) != 5 || !slices.Contains(checks, f[1]) || f[2] != plain && f[2] != lake {
			return nil, fmt.Errorf("%s: not CLIENT CHECK plain|lake WORD REASON: %s", acceptedFile, line)
		}
		all = append(all, acceptance{f[0], f[1], f[2], f[3], f[4]})
	}
	return all, nil
}

// excused returns what is accepted of a check's differences.
func excused(all []acceptance, client, check, schema string) []acceptance {
	var found []acceptance
	for _, a := range all {
		if a.client == client && a.check == check && a.schema == schema {
			found = append(found, a)
		}
	}
	return found
}

// split parts the lines that the acceptance is about from the others.
func (a acceptance) split(lines []string) (about, others []string) {
	for _, line := range lines {
		if word, _, _ := strings.Cut(line, " "); word == a.word {
			about = append(about, line)
		} else {
			others = append(others, line)
		}
	}
	return about, others
}
