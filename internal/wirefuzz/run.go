package wirefuzz

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicedb/sluice/internal/pgtest"
)

// Transcript is the lines that a server has answered, round by round. It is shorter than its sequence where the server
// hung up.
type Transcript [][]string

// settling ends whatever a round has begun, an open COPY and a group of messages, and then gets an answer that a round
// does not have: three empty queries in a row.
var settling = []string{
	`CopyFail {"Message": "settle"}`, "Sync", `Query {"String": ""}`, `Query {"String": ""}`, `Query {"String": ""}`,
}

var settled = []string{
	"EmptyQueryResponse", "ReadyForQuery", "EmptyQueryResponse", "ReadyForQuery", "EmptyQueryResponse", "ReadyForQuery",
}

// flushing gets an answer within a group of messages, by a Close that cannot fail.
var flushing = []string{`Close {"ObjectType": "S", "Name": "no such statement"}`, "Flush"}

// hung stands for an answer that did not come.
const hung = "(hangs)"

// Hangs reports whether a transcript ends with an answer that did not come.
func (t Transcript) Hangs() bool {
	n := len(t)
	return n > 0 && len(t[n-1]) > 0 && t[n-1][len(t[n-1])-1] == hung
}

// run is one connection at work.
type run struct {
	peer *pgtest.Peer
	wait time.Duration
	skip bool // the server ignores everything up to a Sync
}

// Run sends a sequence to a site on a connection of its own. A server that says nothing for as long as wait hangs.
func Run(ctx context.Context, site *pgtest.Site, q Sequence, wait time.Duration) (Transcript, error) {
	peer, err := site.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer peer.Close(wait)
	r := &run{peer: peer, wait: wait}
	var out Transcript
	for i, round := range q {
		lines, err := r.round(round)
		out = append(out, lines)
		if err != nil {
			out[i] = append(out[i], hung)
			return out, nil // a hung server is an answer that differs
		}
		if len(lines) > 0 && lines[len(lines)-1] == "EOF" {
			break
		}
	}
	return out, nil
}

func (r *run) round(round Round) ([]string, error) {
	switch round.End {
	case Flushed:
		if err := r.peer.Send(append(guarded(round.Messages), flushing...)); err != nil {
			return nil, err
		}
		return r.flushed(round)
	case Broken:
		_ = r.peer.Send(guarded(round.Messages)) // the server may have gone before it has read all
		return r.receive(func([]string) bool { return false })
	}
	r.skip = false
	if err := r.peer.Send(append(guarded(round.Messages), settling...)); err != nil {
		return nil, err
	}
	var lines []string
	lines, err := r.receive(func(types []string) bool {
		n := len(types) - len(settled)
		return n >= 0 && slices.Equal(types[n:], settled)
	})
	if n := len(lines) - len(settled); err == nil && n >= 0 && lines[len(lines)-1] != "EOF" {
		lines = lines[:n]
	}
	return lines, err
}

// flushed reads the answers of a round that a Flush ends.
func (r *run) flushed(round Round) ([]string, error) {
	if r.skip {
		return nil, nil
	}
	closes := 1
	for _, m := range round.Messages {
		if strings.HasPrefix(m, "Close ") {
			closes++
		}
	}
	return r.receive(func(types []string) bool {
		last := types[len(types)-1]
		r.skip = last == "ErrorResponse"
		return r.skip || last == "CloseComplete" && count(types, last) == closes
	})
}

// receive reads lines until ended says so of the types that have come, or to the end of the connection.
func (r *run) receive(ended func(types []string) bool) (lines []string, err error) {
	var types []string
	for {
		typ, line, err := r.peer.Receive(r.wait)
		if err != nil {
			return lines, err
		}
		types, lines = append(types, typ), append(lines, line)
		if typ == "EOF" || ended(types) {
			return lines, nil
		}
	}
}

// Difference returns the first place where two transcripts differ, empty where they don't.
func Difference(a, b Transcript) string {
	for i := range max(len(a), len(b)) {
		var x, y []string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		for j := range max(len(x), len(y)) {
			if l, m := at(x, j), at(y, j); l != m {
				return fmt.Sprintf("round %d, answer %d\n  %s\n  %s", i, j, l, m)
			}
		}
	}
	return ""
}

// at returns a line. Rule "kind of table": where Postgres names the kind of a relation that a role may not use, that of
// one site is another than that of the other.
func at(lines []string, i int) string {
	if i < len(lines) {
		return strings.Replace(lines[i], "permission denied for foreign table ", "permission denied for table ", 1)
	}
	return "(nothing)"
}

// Changes reports whether rows or definitions may have been changed, so that a site must be reset.
func Changes(t Transcript) bool {
	for _, round := range t {
		for _, line := range round {
			tag, ok := strings.CutPrefix(line, `CommandComplete "`)
			verb, _, _ := strings.Cut(tag, " ")
			switch verb {
			case "INSERT", "UPDATE", "DELETE", "COPY", `TRUNCATE`, "CREATE", "ALTER", "DROP":
				if ok {
					return true
				}
			}
		}
	}
	return false
}
