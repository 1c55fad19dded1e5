package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestProgressLine fits on a terminal, and says what is known.
func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		what        string
		done, total int64
		took        time.Duration
		want        string
	}{
		{"load", 25, 100, 5 * time.Second, "load  25 of 100 (25 %)  5/s  5s  15s left"},
		{"load", 0, 100, 2 * time.Second, "load  0 of 100 (0 %)  2s"},
		{"load", 100, 100, 2 * time.Second, "load  100 of 100 (100 %)  50/s  2s"},
		{"load", 0, 0, 2 * time.Second, "load  2s"},
		{"load", 9, 0, 2 * time.Second, "load  4.5/s  2s"},
		{strings.Repeat("é", 100), 0, 0, time.Second, strings.Repeat("é", 73) + "…  1s"},
	} {
		if got := progressLine(c.what, c.done, c.total, c.took); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestProgressOnTerminal draws the line below what is written, and takes it away.
func TestProgressOnTerminal(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var out bytes.Buffer
		p := newProgress(&out)
		p.terminal = terminal // nothing but what is called here draws on a buffer
		p.set("work", 0, 2)
		for _, text := range []string{"one\n", "tw", "o\n"} {
			if _, err := p.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		p.end()
		got := out.String()
		if terminal {
			const line = "\r\x1b[Kwork  0 of 2 (0 %)  0s"
			if want := line + "\r\x1b[Kone\n" + line + "\r\x1b[Ktwo\n" + line + "\r\x1b[K"; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		} else if got != "one\ntwo\n" {
			t.Errorf("got %q", got)
		}
	}
}
