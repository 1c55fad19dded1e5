package wire

import "testing"

// TestReplies walks the conversations of the protocol chapter: which frame belongs to which message.
func TestReplies(t *testing.T) {
	type frame struct {
		typ  byte
		fate Fate
		owed bool
	}
	tests := []struct {
		name   string
		sent   string // message kinds; lower case: swallowed, digits 1 2 3 4 5: captured P B D E C
		frames []frame
		failed bool
	}{
		{"simple query", "Q", []frame{{'T', Forward, true}, {'D', Forward, true}, {'C', Forward, true}, {'Z', Forward, true}}, false},
		{"simple error", "Q", []frame{{'E', Forward, true}, {'Z', Forward, true}}, false},
		{"extended", "PBES", []frame{{'1', Forward, true}, {'2', Forward, true}, {'D', Forward, true}, {'C', Forward, true}, {'Z', Forward, true}}, false},
		{"swallowed but rows", "pbeS", []frame{{'1', Swallow, true}, {'2', Swallow, true}, {'D', Forward, true}, {'C', Swallow, true}, {'Z', Forward, true}}, false},
		{"error skips to Sync", "PBEPBES", []frame{{'1', Forward, true}, {'E', Forward, true}, {'Z', Forward, true}}, false},
		{"error without Sync", "PBE", []frame{{'E', Forward, true}}, true},
		{"error of a captured message", "12", []frame{{'1', Capture, true}, {'E', Capture, true}}, true},
		{"describe of a statement", "3", []frame{{'t', Capture, true}, {'n', Capture, true}}, false},
		{"suspended", "E", []frame{{'D', Forward, true}, {'s', Forward, true}}, false},
		{"by itself", "", []frame{{'A', Forward, false}}, false},
		{"notice within a captured query", "4", []frame{{'N', Forward, true}, {'C', Capture, true}}, false},
		{"Query skipped after an error", "BQFS", []frame{{'E', Forward, true}, {'Z', Forward, true}}, false},
		{"Query behind an error of another", "QQ", []frame{{'E', Forward, true}, {'Z', Forward, true}, {'I', Forward, true}, {'Z', Forward, true}}, false},
		{"Sync within COPY data", "EScS", []frame{{'G', Forward, true}, {'C', Forward, true}, {'Z', Forward, true}}, false},
		{"Sync within COPY data of a Query", "QSc", []frame{{'G', Forward, true}, {'C', Forward, true}, {'Z', Forward, true}}, false},
		{"stray CopyDone", "cEcSc", []frame{{'C', Forward, true}, {'Z', Forward, true}}, false},
		{"error by itself", "", []frame{{'E', Forward, false}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var q Replies
			for _, c := range []byte(tt.sent) {
				q.Sent(replyFor(c))
			}
			for i, f := range tt.frames {
				fate, owed := q.Received(f.typ)
				if fate != f.fate || owed != f.owed {
					t.Fatalf("frame %d %q: got fate %d owed %v, want %d %v", i, f.typ, fate, owed, f.fate, f.owed)
				}
			}
			if !q.Idle() || q.Failed() != tt.failed {
				t.Fatalf("idle %v failed %v at the end, want true and %v", q.Idle(), q.Failed(), tt.failed)
			}
		})
	}
}

func replyFor(c byte) Reply {
	switch {
	case c >= '1' && c <= '5':
		return Reply{Kind: "PBDEC"[c-'1'], Fate: Capture}
	case c == CopyEnd:
		return Reply{Kind: c}
	case c >= 'a':
		return Reply{Kind: c - 'a' + 'A', Fate: Swallow}
	default:
		return Reply{Kind: c}
	}
}

// TestRepliesAfterError has messages sent after an error and before the Sync owe nothing, and tells their senders.
func TestRepliesAfterError(t *testing.T) {
	var q Replies
	var outcomes []bool
	note := func(ok bool) { outcomes = append(outcomes, ok) }
	q.Sent(Reply{Kind: 'P', Done: note})
	q.Sent(Reply{Kind: 'B', Done: note})
	q.Received('1')
	q.Received('E')
	q.Sent(Reply{Kind: 'E', Done: note})
	if !q.Idle() || !q.Failed() {
		t.Fatal("home owes something for a message that it skips")
	}
	q.Sent(Reply{Kind: 'S'})
	if q.Idle() || q.Failed() {
		t.Fatal("a Sync did not end the skipping")
	}
	q.Received('Z')
	if !q.Idle() {
		t.Fatal("ReadyForQuery did not answer the Sync")
	}
	if len(outcomes) != 2 || !outcomes[0] || outcomes[1] {
		t.Fatalf("outcomes %v, want true false and nothing of what was skipped", outcomes)
	}
}
