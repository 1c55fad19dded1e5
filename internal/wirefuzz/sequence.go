package wirefuzz

import (
	"fmt"
	"slices"
	"strings"
)

// End says how a round ends.
type End int

const (
	// Settled waits until the server owes nothing: whatever was begun is ended.
	Settled End = iota
	// Flushed asks for the answers by a Flush and goes on in the same group of messages.
	Flushed
	// Broken waits for the server to hang up: the last message is one that no server bears.
	Broken
)

// Round is messages that are sent in one write, each a line of pgtest's language.
type Round struct {
	Messages []string
	End      End
}

// Sequence is what one connection sends.
type Sequence []Round

// clone returns a copy that can be changed.
func (q Sequence) clone() Sequence {
	out := make(Sequence, len(q))
	for i, r := range q {
		out[i] = Round{slices.Clone(r.Messages), r.End}
	}
	return out
}

// Script prints a sequence as a script of package pgtest, without the answers.
func (q Sequence) Script(tables string, answers Transcript) string {
	var b strings.Builder
	if tables != "" {
		fmt.Fprintf(&b, "table\n%s\n----\n\n", strings.TrimSpace(tables))
	}
	for i, r := range q {
		var got []string
		if i < len(answers) {
			got = answers[i]
		}
		messages, until := r.scripted(got)
		fmt.Fprintf(&b, "send\n%s\n----\n\n", strings.Join(messages, "\n"))
		if until != "" {
			fmt.Fprintf(&b, "until\n%s\n----\n\n", until)
		}
	}
	return b.String()
}

// scripted returns the messages to send in a script and the types of messages to wait for, going by the answer.
func (r Round) scripted(got []string) (messages []string, until string) {
	messages = guarded(r.Messages)
	types := make([]string, len(got))
	copying := false
	for i, line := range got {
		types[i], _, _ = strings.Cut(line, " ")
		copying = copying || types[i] == "CopyInResponse"
	}
	if len(types) > 0 && types[len(types)-1] == "EOF" {
		return messages, "EOF"
	}
	if r.End == Flushed {
		messages = append(messages, flushing...)
		if len(types) == 0 {
			return messages, ""
		}
		last := types[len(types)-1]
		return messages, strings.TrimSpace(strings.Repeat(last+" ", count(types, last)))
	}
	if copying {
		messages = append(messages, settling[0])
	}
	return append(messages, settling[1]), strings.TrimSpace(strings.Repeat("ReadyForQuery ", count(types, "ReadyForQuery")))
}

func count(list []string, want string) (n int) {
	for _, s := range list {
		if s == want {
			n++
		}
	}
	return n
}
