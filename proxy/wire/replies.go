package wire

// Fate says what happens to the frames with which home answers one message.
type Fate uint8

const (
	// Forward sends the frames to the client.
	Forward Fate = iota
	// Swallow drops them, but an error and what a query yields (rows, COPY data) still go to the client.
	Swallow
	// Capture hands them, errors included, to the session that asked.
	Capture
	// CaptureAll is Capture for notices as well.
	CaptureAll
)

// CopyEnd is the kind of a CopyDone or CopyFail. Home owes nothing for it, but a Sync before it is part of the COPY.
const CopyEnd = 'c'

// Reply is what home owes for one message sent to it: the message's type and the fate of the answer.
type Reply struct {
	Kind byte // of the message: Q P B D E C S F, or CopyEnd
	Fate Fate
	// Done, when set, is called once with the outcome: true when the message succeeded, false when it failed. It is not
	// called for a message that was skipped after an error of another.
	Done func(ok bool)
}

// Replies is the queue of what home owes, in order. It tells for each frame from home whose answer it belongs to, with
// no knowledge of bodies beyond the first. It has no lock.
type Replies struct {
	queue   []Reply
	head    int
	failed  bool // an error came and no Sync was sent since: home skips everything until one
	copying bool // home waits for COPY data whose end was not sent
}

// Sent records a message that was sent to home and will be answered. A message sent after a failure and before a Sync
// is skipped by home and owes nothing.
func (q *Replies) Sent(r Reply) {
	switch {
	case r.Kind == CopyEnd && (q.copying || q.Idle()):
		q.copying = false
		return
	case r.Kind == 'S' && q.copying: // ignored there
		return
	}
	if q.failed {
		if r.Kind != 'S' {
			return
		}
		q.failed = false
	}
	if q.head == len(q.queue) {
		q.queue, q.head = q.queue[:0], 0
	}
	q.queue = append(q.queue, r)
}

// Idle reports that home owes nothing.
func (q *Replies) Idle() bool { return q.head == len(q.queue) }

// Copying reports that home waits for COPY data: it will say nothing until their end.
func (q *Replies) Copying() bool { return q.copying }

// Failed reports that home skips messages until the next Sync.
func (q *Replies) Failed() bool { return q.failed }

// Flushed reports that home will say all that it owes without being asked to: nothing is owed, or a Sync or Query ends it.
func (q *Replies) Flushed() bool {
	for i := len(q.queue) - 1; i >= q.head; i-- {
		if k := q.queue[i].Kind; k != CopyEnd {
			return k == 'S' || k == 'Q' || k == 'F'
		}
	}
	return true
}

// Received takes one frame from home and returns the fate that it has and whether home owes nothing more for its
// message. Asynchronous frames (notices, notifications, parameter changes) share the fate of what runs, except that
// they are never swallowed or captured. owed is false when home owed nothing: the frame came by itself.
func (q *Replies) Received(typ byte) (fate Fate, owed bool) {
	if q.Idle() {
		q.failed = q.failed || typ == 'E' // a timeout between two messages: home skips as after any error
		return Forward, false
	}
	r := q.queue[q.head]
	switch typ {
	case 'N', 'A', 'S':
		if typ == 'N' && r.Fate == CaptureAll {
			return Capture, true
		}
		return Forward, true
	case 'E':
		q.copying = false
		q.fail()
		return errorFate(r.Fate), true
	case 'G':
		q.copyBegins()
	case 'C':
		q.copying = false
	}
	if Ends(r.Kind, typ) {
		q.pop(true)
	}
	if r.Fate == Swallow && carries(typ) {
		return Forward, true
	}
	return r.Fate, true
}

// copyBegins forgets the Syncs that were sent before the end of the COPY data that home now waits for: it ignores them.
func (q *Replies) copyBegins() {
	rest := q.queue[q.head+1:]
	for i, r := range rest {
		switch r.Kind {
		case CopyEnd:
			q.queue = append(q.queue[:q.head+1], rest[i+1:]...)
			return
		case 'S':
		default: // home will not bear it, and end the connection
			return
		}
	}
	q.queue = q.queue[:q.head+1]
	q.copying = true
}

func errorFate(f Fate) Fate {
	if f >= Capture {
		return Capture
	}
	return Forward
}

// fail drops what home skips after an error: after that of a simple query, a function call or a Sync nothing, for its
// ReadyForQuery still comes; after any other everything up to the next Sync.
func (q *Replies) fail() {
	switch q.queue[q.head].Kind {
	case 'S', 'Q', 'F':
		return
	}
	for q.pop(false); !q.Idle(); q.head++ {
		if q.queue[q.head].Kind == 'S' {
			return
		}
	}
	q.failed = true
}

func (q *Replies) pop(ok bool) {
	r := &q.queue[q.head]
	if r.Done != nil {
		r.Done(ok)
		r.Done = nil
	}
	q.head++
	for !q.Idle() && q.queue[q.head].Kind == CopyEnd { // of no COPY
		q.head++
	}
}

// Ends reports whether a frame of type typ ends the answer to a message of the kind given.
func Ends(kind, typ byte) bool {
	switch kind {
	case 'P':
		return typ == '1'
	case 'B':
		return typ == '2'
	case 'C':
		return typ == '3'
	case 'D':
		return typ == 'T' || typ == 'n'
	case 'E':
		return typ == 'C' || typ == 's' || typ == 'I'
	default: // Q, F, S
		return typ == 'Z'
	}
}

// carries reports whether a frame of type typ is what a query yields.
func carries(typ byte) bool {
	switch typ {
	case 'D', 'G', 'H', 'W', 'd', 'c', 'V':
		return true
	}
	return false
}
