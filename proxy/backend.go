package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

const homeBuffer = 64 << 10

// capturedFrames is how many captured frames are handed to the frontend at most at once; as many more may wait for it.
const capturedFrames = 16

// maxAsync bounds a frame that home sends by itself and that is read whole.
const maxAsync = 1 << 20

// backend is the home connection of a session. pump reads it on a goroutine of its own; all else is called by the
// session's frontend goroutine.
type backend struct {
	conn      net.Conn
	in        *wire.Reader
	toClient  func(run []byte) error
	onAsync   func(typ byte, frame []byte) (taken bool) // a frame that home owed nobody
	onTag     func(tag []byte)                          // each CommandComplete
	onReady   func(status byte)                         // each ReadyForQuery
	onStatus  func(name, value string)                  // each ParameterStatus
	onColumns func(body []byte)                         // each RowDescription, which may be changed in place
	onMissed  func()                                    // home met a foreign table of ours, which it should not have

	watchClient func() (stop func()) // called where the frontend waits for home; nil: not

	hold     sync.Mutex    // held while home is told to cancel what it does: no new messages are sent
	told     chan struct{} // the client was told of an error that was captured
	untold   bool          // the last frame was a captured error; pump's own
	queue    [][]byte      // captured frames, one copy each, that are handed over before pump waits; pump's own
	captured chan [][]byte // such frames for the frontend
	posted   request       // messages that wait for others; the frontend's own
	taken    [][]byte      // those that it has not looked at yet; the frontend's own
	done     chan struct{} // closed when pump has ended

	mu         sync.Mutex
	quiet      sync.Cond // home owes nothing and all it said was written to the client; or pump has ended
	replies    wire.Replies
	standing   standing
	executed   bool     // home has executed something in the transaction that is open, and was not ready since
	forClient  bool     // and so it has for the client
	unwritten  bool     // frames were walked and not yet written to the client
	status     byte     // of the last ReadyForQuery, or what tags since then have made of it
	guessed    bool     // tags have: AND CHAIN is not in them
	savepoints bool     // a savepoint was set since status was I
	tag        []byte   // the last that home has sent
	code       string   // the SQLSTATE of its last error
	interrupt  net.Conn // whose read must end when home fails
	fatal      bool     // home has told the client why it ends the connection
	err        error
}

func newBackend(conn net.Conn, left []byte, status byte) *backend {
	b := &backend{conn: conn, told: make(chan struct{}, 1), captured: make(chan [][]byte, 1), done: make(chan struct{}), status: status}
	b.quiet.L = &b.mu
	b.in = wire.NewReader(conn, homeBuffer, left)
	b.in.BeforeRead = b.flush
	return b
}

// pump forwards what home says until the connection ends.
func (b *backend) pump() {
	err := b.forward()
	ferr := b.flush()
	b.mu.Lock()
	if b.err = err; errors.Is(err, io.EOF) && ferr != nil {
		b.err = ferr
	}
	b.quiet.Broadcast()
	b.mu.Unlock()
	close(b.done)
}

func (b *backend) forward() error {
	rows := false // DataRows of the message in hand are forwarded: no need to ask again
	for {
		typ, size, err := b.in.Header()
		if err != nil {
			return err
		}
		if rows && typ == 'D' {
			if err := b.in.Walk(size); err != nil {
				return err
			}
			continue
		}
		fate, owed, err := b.receive(typ, size)
		if err != nil {
			return err
		}
		rows = owed && typ == 'D' && fate < wire.Capture
		if err := b.dispose(typ, size, fate, owed); err != nil {
			return err
		}
	}
}

// receive does the bookkeeping for one frame.
func (b *backend) receive(typ byte, size int) (fate wire.Fate, owed bool, err error) {
	var status byte
	var tag []byte
	var fatal bool
	switch typ {
	case 'Z':
		frame, err := b.in.Frame(size)
		if err != nil {
			return 0, false, err
		}
		status = frame[wire.HeaderSize]
		b.onReady(status)
	case 'T':
		frame, err := b.in.Frame(size)
		if err != nil {
			return 0, false, err
		}
		b.onColumns(frame[wire.HeaderSize:])
	case 'E':
		frame, err := b.in.Prefix(wire.HeaderSize+256, size)
		if err != nil {
			return 0, false, err
		}
		if bytes.Contains(frame, noHandler) {
			b.onMissed()
		}
		fatal = bytes.Contains(frame, fatalSeverity)
		b.mu.Lock()
		b.code = sqlState(frame)
		b.mu.Unlock()
	case 'S':
		frame, err := b.in.Frame(size)
		if err != nil {
			return 0, false, err
		}
		if name, rest, ok := cString(frame[wire.HeaderSize:]); ok {
			value, _, _ := cString(rest)
			b.onStatus(name, value)
		}
	case 'C':
		frame, err := b.in.Prefix(wire.HeaderSize+24, size)
		if err != nil {
			return 0, false, err
		}
		tag = frame[wire.HeaderSize:]
	}
	fate, owed = b.account(typ, status, tag)
	switch {
	case fatal: // whoever asked learns that the connection is gone
		b.awaitTold()
		fate = wire.Forward
	case typ == 'E' && fate >= wire.Capture:
		b.untold = true
		select {
		case <-b.told: // of another error
		default:
		}
	case typ != 'N' && typ != 'S':
		b.untold = false
	}
	if tag != nil && fate != wire.CaptureAll { // what is quiet is our own housekeeping
		b.onTag(tag)
	}
	return fate, owed, nil
}

// account notes under the lock what a frame changes.
func (b *backend) account(typ, status byte, tag []byte) (fate wire.Fate, owed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch typ {
	case 'C':
		b.tag = append(b.tag[:0], tag...)
	case 's', 'I':
		b.tag = b.tag[:0]
	}
	fate, owed = b.replies.Received(typ)
	b.unwritten = b.unwritten || owed
	if typ == 'E' && b.interrupt != nil {
		_ = b.interrupt.SetReadDeadline(time.Unix(1, 0))
	}
	switch typ {
	case 'Z':
		b.status, b.guessed, b.executed, b.forClient = status, false, false, false
		b.standing = standing{}
		if b.replies.Idle() {
			b.standing = standing{time.Now(), status}
		}
		b.savepoints = b.savepoints && status != 'I'
	case 'G':
		b.quiet.Broadcast()
	case 'C':
		b.followBlock(tag)
		b.followPipeline(fate, b.status == 'I' && endsTransaction(tag))
	case 's', 'I':
		b.followPipeline(fate, false)
	}
	return fate, owed
}

// followBlock follows a transaction block that is opened or closed before home says so in its ReadyForQuery. A ROLLBACK
// where there are savepoints may be one to a savepoint.
func (b *backend) followBlock(tag []byte) {
	before := b.status
	defer func() { b.guessed = b.guessed || b.status != before }()
	switch {
	case bytes.HasPrefix(tag, []byte("BEGIN\x00")), bytes.HasPrefix(tag, []byte("START TRANSACTION\x00")):
		b.status = 'T'
	case bytes.HasPrefix(tag, []byte("COMMIT\x00")), bytes.HasPrefix(tag, []byte("PREPARE TRANSACTION\x00")),
		bytes.HasPrefix(tag, []byte("ROLLBACK\x00")) && !b.savepoints:
		b.status, b.savepoints = 'I', false
	case bytes.HasPrefix(tag, []byte("SAVEPOINT\x00")):
		b.savepoints = true
	}
}

// chained says that the last COMMIT or ROLLBACK has begun another block.
func (b *backend) chained() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = 'T'
}

func (b *backend) dispose(typ byte, size int, fate wire.Fate, owed bool) error {
	if owed && fate == wire.Forward {
		return b.in.Walk(size)
	}
	if owed && fate == wire.Swallow {
		if err := b.flush(); err != nil {
			return err
		}
		return b.in.Drop(size)
	}
	if !owed && size > maxAsync {
		return pgerr.New(pgerr.ProtocolViolation, "home sent a message of %d bytes by itself", size)
	}
	if owed {
		return b.capture(size)
	}
	if err := b.flush(); err != nil {
		return err
	}
	frame, err := b.in.Frame(size)
	if err != nil {
		return err
	}
	if b.onAsync(typ, frame) {
		return b.in.Drop(size)
	}
	return b.in.Walk(size)
}

// capture takes a frame for the frontend, behind what was walked for the client.
func (b *backend) capture(size int) error {
	if err := b.write(); err != nil {
		return err
	}
	frame, err := b.in.Frame(size)
	if err != nil {
		return err
	}
	if b.queue = append(b.queue, append([]byte(nil), frame...)); len(b.queue) == capturedFrames {
		b.hand()
	}
	return b.in.Drop(size)
}

// hand gives the frontend what was captured: in one piece, as each wakes it.
func (b *backend) hand() {
	if len(b.queue) > 0 {
		b.captured <- b.queue
		b.queue = nil
	}
}

// write writes the walked run to the client.
func (b *backend) write() error {
	run := b.in.Take()
	if len(run) == 0 {
		return nil
	}
	b.hand()
	return b.toClient(run)
}

// flush hands over and writes all that was read, and tells a waiting frontend.
func (b *backend) flush() error {
	b.hand()
	if err := b.write(); err != nil {
		return err
	}
	b.mu.Lock()
	b.unwritten = false
	if b.replies.Idle() {
		b.quiet.Broadcast()
	}
	b.mu.Unlock()
	return nil
}

// post keeps messages that are sent with the next ones.
func (b *backend) post(r *request) {
	b.posted.data, b.posted.replies = append(b.posted.data, r.data...), append(b.posted.replies, r.replies...)
}

// send records the replies that the messages in data will bring and writes data to home.
func (b *backend) send(data []byte, replies ...wire.Reply) error {
	if len(b.posted.replies) > 0 {
		data, replies = append(b.posted.data, data...), append(b.posted.replies, replies...)
		b.posted = request{}
	}
	if len(replies) > 0 {
		b.hold.Lock()
		b.mu.Lock()
		b.standing = standing{}
		for _, r := range replies {
			b.replies.Sent(r)
		}
		b.mu.Unlock()
		b.hold.Unlock()
	}
	if len(data) == 0 {
		return nil
	}
	_, err := b.conn.Write(data)
	return err
}

// fatalSeverity is the field of an error, in no language, by which home ends a connection.
var fatalSeverity = []byte("\x00VFATAL\x00")

// toldWait bounds how long a FATAL waits for the error that it follows.
const toldWait = time.Second

// awaitTold lets the frontend tell the client of an error that was captured, before a FATAL that follows it at once.
func (b *backend) awaitTold() {
	b.mu.Lock()
	b.fatal = true
	b.mu.Unlock()
	if !b.untold {
		return
	}
	b.hand()
	select {
	case <-b.told:
	case <-time.After(toldWait):
	}
}

// awaitEnd waits until all that home has said at its end is on its way to the client, but no longer than for a moment:
// the client may not read.
func (b *backend) awaitEnd() {
	select {
	case b.told <- struct{}{}: // pump need not wait for us
	default:
	}
	for late := time.After(toldWait); ; {
		select {
		case <-b.captured:
		case <-b.done:
			return
		case <-late:
			return
		}
	}
}

// saidFatal reports that home has said why it ends the connection, which the client knows or will be told by pump.
func (b *backend) saidFatal() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fatal
}

// lastTag returns the last command tag of home's.
func (b *backend) lastTag() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.TrimSuffix(append([]byte(nil), b.tag...), []byte{0})
}

// lastCode returns the SQLSTATE of home's last error.
func (b *backend) lastCode() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.code
}

// sqlState returns the SQLSTATE of an ErrorResponse, of which the first fields are given.
func sqlState(frame []byte) string {
	const field = "\x00C"
	if i := bytes.Index(frame, []byte(field)); i >= 0 && len(frame) >= i+len(field)+5 {
		return string(frame[i+len(field) : i+len(field)+5])
	}
	return ""
}

// noHandler is how home's error begins that says that it met a foreign table of ours.
var noHandler = []byte("\x00Mforeign-data wrapper \"sluice_")

var flushMessage, _ = (&pgproto3.Flush{}).Encode(nil)
var syncMessage, _ = (&pgproto3.Sync{}).Encode(nil)

// errCopyIn says that home waits for CopyData, so that it will not become quiet.
var errCopyIn = errors.New("home waits for COPY data")

// wait blocks until home owes nothing and the client has got all of it.
func (b *backend) wait() error {
	b.mu.Lock()
	flushed := b.replies.Flushed()
	b.mu.Unlock()
	if !flushed {
		if err := b.send(flushMessage); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	watched := b.watchClient == nil
	for b.err == nil && !b.ended() && (!b.replies.Idle() || b.unwritten) {
		if b.replies.Copying() {
			return errCopyIn
		}
		if !watched {
			watched = true
			defer b.watchClient()()
		}
		b.quiet.Wait()
	}
	if b.err != nil {
		return b.err
	}
	return nil
}

func (b *backend) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// next returns the next captured frame.
func (b *backend) next(ctx context.Context) ([]byte, error) {
	if f, ok := b.poll(); ok {
		return f, nil
	}
	select {
	case b.taken = <-b.captured:
		f, _ := b.poll()
		return f, nil
	case <-b.done:
		return nil, b.failure()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// poll returns the next captured frame if it is there.
func (b *backend) poll() ([]byte, bool) {
	if len(b.taken) == 0 {
		select {
		case b.taken = <-b.captured:
		default:
			return nil, false
		}
	}
	f := b.taken[0]
	b.taken = b.taken[1:]
	return f, true
}

func (b *backend) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	return io.ErrUnexpectedEOF
}

// interruptOnFailure makes a read from c end when home fails, and reports whether it has not yet. Nil ends this.
func (b *backend) interruptOnFailure(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c != nil && b.replies.Failed() {
		return false
	}
	b.interrupt = c
	return true
}

// failed reports that home skips all messages until a Sync.
func (b *backend) failed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.replies.Failed()
}

// state returns the transaction status that home last was ready with: I, T or E.
func (b *backend) state() byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.status
}

// followPipeline notes that home has executed something, or what has ended the transaction.
func (b *backend) followPipeline(fate wire.Fate, ended bool) {
	b.executed = !ended
	b.forClient = !ended && (b.forClient || fate == wire.Forward)
}

func endsTransaction(tag []byte) bool {
	return bytes.HasPrefix(tag, []byte("COMMIT\x00")) || bytes.HasPrefix(tag, []byte("ROLLBACK\x00"))
}

// clientPipelines is pipelines for what the client has executed at home.
func (b *backend) clientPipelines() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forClient
}

// pipelines reports that home has executed something that no Sync has ended.
func (b *backend) pipelines() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.executed
}

// inBlock reports that a transaction block was open when home last was ready.
func (b *backend) inBlock() bool { return b.state() != 'I' }

// owes reports that home is at work.
func (b *backend) owes() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.replies.Idle()
}
