package main

import (
	"fmt"
	"slices"
	"strings"
)

// transcript is what one run printed, by check.
type transcript map[string][]string

const (
	failure     = "FAIL "
	notAnswered = "n/a "
)

// parse reads a program's output. Lines that belong to no check are an error, since they would not be compared.
func parse(out string) (transcript, error) {
	t := transcript{}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		check, detail, ok := strings.Cut(line, "\t")
		if !ok || !slices.Contains(checks, check) {
			return t, fmt.Errorf("not a line of a check: %q", line)
		}
		t[check] = append(t[check], detail)
	}
	return t, nil
}

// notApplicable returns why a check does not apply to the client, empty where it does.
func (t transcript) notApplicable(check string) string {
	if lines := t[check]; len(lines) == 1 {
		if reason, ok := strings.CutPrefix(lines[0], notAnswered); ok {
			return reason
		}
	}
	return ""
}

// difference says what in got is not as wanted, empty for nothing.
func difference(want, got []string) string {
	for _, line := range want {
		if strings.HasPrefix(line, failure) {
			return "at home itself: " + line
		}
	}
	if len(want) == 0 {
		return "the program printed nothing at home itself"
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("line %d\n  want %s\n  got  nothing", i+1, want[i])
		case i >= len(want):
			return fmt.Sprintf("line %d\n  want nothing\n  got  %s", i+1, got[i])
		case want[i] != got[i]:
			return fmt.Sprintf("line %d\n  want %s\n  got  %s", i+1, want[i], got[i])
		}
	}
	return ""
}
