package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/guard"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/activity"
	"github.com/sluicedb/sluice/proxy/startup"
	"github.com/sluicedb/sluice/proxy/wire"
)

const clientBuffer = 8 << 10

// errHomeEnded says that home closed the connection.
var errHomeEnded = errors.New("home closed the connection")

// errSkipped says that home skips messages until a Sync, so that nothing can be asked of it.
var errSkipped = errors.New("home skips messages until Sync")

// Session is one client and its home connection.
type Session struct {
	server   *Server
	log      *slog.Logger
	login    *startup.Result
	database string
	ctx      context.Context // ends with the session
	cancel   context.CancelCauseFunc

	client   net.Conn
	in       *wire.Reader
	out      []byte // what the frontend goroutine has to say to the client
	clientMu sync.Mutex

	home    *backend
	replies []wire.Reply // of walked messages that were not sent to home yet
	group   bool         // the client has sent extended messages since the last Sync
	// executed says that one of these was an Execute of a portal of ours, in the transaction that is open.
	executed bool
	// namesPortals says that the Query in hand does, in a pipeline at home that is ours alone: see leavePipeline.
	namesPortals bool
	// suspended says that the client's last message was an Execute that left rows of a portal of ours.
	suspended bool
	// fetched is the portal that it left rows in, if it did not want all.
	fetched *portal
	// completed says that it was an Execute, the first of its group, that ended a portal of ours of which home has no part.
	completed bool
	holding   *heldParse // a Parse that waits for its Bind

	defining bool // home was sent DDL that it may not have answered
	parsing  bool // home has not answered all Parses of ours
	skip     bool // a statement of ours failed: drop messages until Sync
	snapshot *catalog.Snapshot
	private  bool // snapshot was read inside an open transaction
	gained   bool // snapshot has names that the one before had not: see reconsider
	asked    asked
	waited   time.Duration // for answers to what we asked home
	role     uint32        // the current one when a statement was planned last
	serial   int           // numbers temporary tables
	roles    map[roles]*roleSet

	mu             sync.Mutex // guards what the backend goroutine and cancel requests touch as well
	stmts          map[string]*prepared
	status         map[string]string       // what home has reported of its settings
	stale          bool                    // DDL ran here: read the catalog again
	shippedColumns map[attribute]attribute // of inputs that cursors read: to the foreign tables' own
	portalColumns  []attribute             // those of shippedColumns that portals alone read
	over           bool                    // home has ended a transaction since the frontend looked
	savepoints     bool                    // the open transaction has savepoints
	committed      bool                    // a COMMIT ended the last transaction block
	ddl            bool                    // DDL ran in the transaction that is open
	forgetAsked    bool                    // home has lost its prepared statements
	running        *running
	handling       bool        // a message of the client is being handled
	interrupted    error       // what has interrupted it while nothing ran
	watching       int         // works under way during which nobody reads from the client
	watch          *time.Timer // looks at it meanwhile; nil before the first of them
	armed          bool        // watch is set

	twins atomic.Pointer[map[uint32]uint32] // of the snapshot, for the backend goroutine

	since  time.Time                          // when the client has logged in
	latest atomic.Pointer[activity.Statement] // of ours, that has begun
	// verifying is a comparison of counters that home runs.
	verifying atomic.Pointer[activity.Task]

	portals   map[string]*portal
	described map[string]described // cursors whose columns' origins home does not know
	control   map[string]*prepared // statements of transaction control, by name
	temps     []temp               // temporary tables whose statement is over
	inputs    []input              // at home, of the open transaction
	unread    []string             // portals of our own at home that are read no more
	writing   *write               // the open write transaction of a foreign server
}

func newSession(server *Server, login *startup.Result) *Session {
	s := &Session{
		server: server, login: login, client: login.Client, since: time.Now(),
		database: login.Parameters["database"],
		asked:    newAsked(), status: login.Status, stmts: map[string]*prepared{}, portals: map[string]*portal{},
	}
	if s.database == "" {
		s.database = login.Parameters["user"]
	}
	s.log = server.config.Logger.With("pid", login.PID, "user", login.Parameters["user"], "database", s.database)
	s.ctx, s.cancel = context.WithCancelCause(guard.Hold(context.Background()))
	s.in = wire.NewReader(login.Client, clientBuffer, login.ClientLeft)
	s.in.BeforeRead = s.beforeRead
	s.home = newBackend(login.Home, login.HomeLeft, login.TxStatus)
	s.home.toClient, s.home.onAsync = s.writeClient, s.async
	s.home.onTag, s.home.onReady, s.home.onStatus = s.tag, s.ready, s.setStatus
	s.home.onMissed, s.home.onColumns = s.missed, s.restoreColumns
	return s
}

// serve runs the session to its end. Both connections are closed when it returns.
func (s *Session) serve() error {
	go func() {
		s.home.pump()
		s.cancel(errHomeEnded)
		_ = s.client.Close() // whatever home had to say was forwarded: unblock the frontend
	}()
	defer s.end()
	defer func() { s.verifying.Swap(nil).End() }()
	if err := s.start(); err != nil {
		return err
	}
	return s.frontend()
}

// end frees everything of the session, at home and at the engines.
func (s *Session) end() {
	s.cancel(net.ErrClosed)
	s.closePortals()
	s.undoWrite()
	if s.home.owes() {
		cancelHome(s.login)
	}
	terminate, _ := (&pgproto3.Terminate{}).Encode(nil)
	_, _ = s.home.conn.Write(terminate)
	_ = s.home.conn.Close()
	_ = s.client.Close()
	for {
		select {
		case <-s.home.captured: // let pump end
		case <-s.home.done:
			return
		}
	}
}

// start reads the catalog and tells the client that it is logged in.
func (s *Session) start() error {
	if err := s.refresh(s.ctx); err != nil {
		s.log.Warn("cannot read the catalog", "error", err)
		s.snapshot = &catalog.Snapshot{}
	}
	if s.asked.made > 0 || s.home.failed() {
		if err := s.dropAsked(); err != nil && err != errSkipped {
			return err
		}
		if err := s.syncHome(s.ctx); err != nil {
			return err
		}
	}
	s.out = append(s.out, s.login.Login...)
	s.say(&pgproto3.ReadyForQuery{TxStatus: s.login.TxStatus})
	return s.flush()
}

// frontend reads the client's messages until it leaves.
func (s *Session) frontend() error {
	for {
		typ, size, err := s.in.Header()
		if err == wire.ErrLength {
			err = s.refuseLength()
		}
		if err != nil {
			return s.leave(err)
		}
		if s.skip && typ != 'S' && typ != 'X' {
			err = s.drop(size)
		} else {
			err = s.handle(typ, size)
		}
		if err != nil {
			return s.leave(err)
		}
	}
}

// refuseLength passes on the header of a message that is too long or too short to be one. Home ends the connection, as it
// would for a client of its own, and nothing behind it is read.
func (s *Session) refuseLength() error {
	if err := s.in.Walk(wire.HeaderSize); err != nil {
		return err
	}
	if err := s.forward(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, s.client); err != nil { // ends when either side has gone
		return err
	}
	return io.EOF
}

// leave ends the session for err: a protocol violation is said to the client as FATAL.
func (s *Session) leave(err error) error {
	var pe *pgconn.PgError
	if s.home.saidFatal() {
		s.home.awaitEnd()
	} else if errors.As(err, &pe) {
		fatal := *pe
		fatal.Severity, fatal.SeverityUnlocalized = "FATAL", "FATAL"
		s.sayError(&fatal)
		_ = s.flush()
	}
	return err
}

// message handles one message of the client.
func (s *Session) message(typ byte, size int) error {
	s.suspended, s.completed = s.suspended && typ == 'S', s.completed && typ == 'S'
	if typ != 'S' {
		s.fetched = nil
	}
	if typ != 'B' {
		if err := s.releaseParse(); err != nil {
			return err
		}
	}
	if typ == 'Q' || typ == 'P' || typ == 'B' {
		if done, err := s.update(typ, size); done || err != nil {
			return err
		}
	}
	if err := s.leavePipeline(typ, size); err != nil {
		return err
	}
	s.group = typ != 'Q' && typ != 'S' && (s.group || typ == 'P' || typ == 'B' || typ == 'D' || typ == 'E' || typ == 'C')
	s.executed = s.executed && s.group
	switch typ {
	case 'Q':
		return s.onQuery(size)
	case 'P':
		return s.onParse(size)
	case 'B':
		return s.onBind(size)
	case 'D', 'C':
		return s.onDescribeOrClose(typ, size)
	case 'E':
		return s.onExecute(size)
	case 'S':
		return s.onSync(size)
	case 'F':
		return s.pass(typ, size)
	case 'X':
		if err := s.forward(); err != nil {
			return err
		}
		return errTerminated
	case 'c', 'f':
		return s.pass(wire.CopyEnd, size)
	default: // H, d, p, and what home must complain of
		return s.in.Walk(size)
	}
}

// errTerminated says that the client said goodbye.
var errTerminated = errors.New("terminated by the client")

// pass lets a message of the client through to home as it is.
func (s *Session) pass(kind byte, size int) error {
	return s.passFor(kind, size, nil)
}

func (s *Session) passFor(kind byte, size int, done func(bool)) error {
	s.replies = append(s.replies, wire.Reply{Kind: kind, Done: done})
	return s.in.Walk(size)
}

// forward sends the walked run of messages to home.
func (s *Session) forward() error {
	run := s.in.Take()
	if len(run) == 0 && len(s.replies) == 0 {
		return nil
	}
	err := s.relay(run, s.replies...)
	s.replies = s.replies[:0]
	return err
}

// relay sends home messages that it answers to the client by itself, behind what was said to it before.
func (s *Session) relay(data []byte, replies ...wire.Reply) error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.home.send(data, replies...)
}

// beforeRead sends all that there is to each side.
func (s *Session) beforeRead() error {
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.forward(); err != nil {
		return err
	}
	if err := s.releaseParse(); err != nil {
		return err
	}
	if p := s.fetched; p != nil {
		s.fetched = nil
		p.cursor.encodeAhead(p.limit)
	}
	return nil
}

// drop steps over a message of the client that home must not see.
func (s *Session) drop(size int) error {
	if err := s.forward(); err != nil {
		return err
	}
	return s.in.Drop(size)
}

// takeHome waits until home owes nothing, so that the frontend may write to the client and ask home.
func (s *Session) takeHome() error {
	if err := s.forward(); err != nil {
		return err
	}
	return s.waitHome()
}

// waitHome waits until home owes nothing, or the session is over: what home was asked may be left half read then, so that
// it would never be quiet.
func (s *Session) waitHome() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return s.home.wait()
}

// update brings the catalog up to date before a message is looked at that has a query text or names one. done says that
// this failed and that the message was refused for it.
func (s *Session) update(typ byte, size int) (done bool, err error) {
	if s.defining { // what was sent before may define what this one names
		if err := s.takeHome(); err != nil {
			return false, ignoreCopyIn(err)
		}
		s.defining = false
	}
	stale := s.isStale()
	if !stale && !s.gained {
		return false, nil
	}
	if err := s.takeHome(); err != nil {
		return false, ignoreCopyIn(err)
	}
	if s.home.failed() || s.home.state() == 'E' { // nothing can be asked, and nothing will run
		return false, nil
	}
	if s.home.inBlock() {
		if early, err := s.comesEarly(typ, size); early || err != nil {
			return false, err
		}
	}
	if stale {
		err = s.refresh(s.ctx)
	}
	if err == nil && s.gained {
		err = s.reconsider(s.ctx)
	}
	return s.updated(size, err)
}

// updated ends an update that err has met.
func (s *Session) updated(size int, err error) (done bool, _ error) {
	switch {
	case s.ctx.Err() != nil:
		return false, context.Cause(s.ctx)
	case err == nil && (s.group || s.home.inBlock()):
		return false, nil
	case err == nil: // what we asked is no part of the client's next transaction
		return false, s.syncHome(s.ctx)
	case s.group && s.home.failed():
		return true, s.refuse(size, err)
	}
	s.log.Warn("cannot read the catalog", "error", err)
	if s.home.failed() {
		return false, s.syncHome(s.ctx)
	}
	return false, nil
}

func ignoreCopyIn(err error) error {
	if err == errCopyIn {
		return nil
	}
	return err
}

// setStatus notes a setting that home reports.
func (s *Session) setStatus(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[name] = value
}

func (s *Session) setting(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status[name]
}

// text returns the query text of a Query message, false where home must complain of the message.
func queryText(body []byte) (string, bool) {
	if n := bytes.IndexByte(body, 0); n != len(body)-1 {
		return "", false
	}
	return string(body[:len(body)-1]), true
}

// say appends a message for the client.
func (s *Session) say(m pgproto3.BackendMessage) {
	out, err := m.Encode(s.out)
	if err == nil {
		s.out = out
	}
}

func (s *Session) sayError(e *pgconn.PgError) { s.say(errorResponse(e)) }

// flush writes what was said to the client.
func (s *Session) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	err := s.writeClient(s.out)
	if cap(s.out) > 4*engines.BatchBytes {
		s.out = nil
	}
	s.out = s.out[:0]
	return err
}

func (s *Session) writeClient(run []byte) error {
	s.clientMu.Lock()
	defer s.clientMu.Unlock()
	_, err := s.client.Write(run)
	return err
}

// errorResponse makes the message that tells a client of e.
func errorResponse(e *pgconn.PgError) *pgproto3.ErrorResponse {
	unlocalized := e.SeverityUnlocalized
	if unlocalized == "" {
		unlocalized = e.Severity
	}
	return &pgproto3.ErrorResponse{
		Severity: e.Severity, SeverityUnlocalized: unlocalized, Code: e.Code, Message: e.Message, Detail: e.Detail,
		Hint: e.Hint, Position: e.Position, InternalPosition: e.InternalPosition, InternalQuery: e.InternalQuery,
		Where: e.Where, SchemaName: e.SchemaName, TableName: e.TableName, ColumnName: e.ColumnName,
		DataTypeName: e.DataTypeName, ConstraintName: e.ConstraintName, File: e.File, Line: e.Line, Routine: e.Routine,
	}
}

// fail tells the client of err in a group of extended messages, or in a simple query before its ReadyForQuery, and puts
// home into the same state: its transaction aborted, everything skipped until Sync. Errors of the connection end the session.
func (s *Session) fail(err error) error {
	if err == errSkipped { // home failed before us and has said so
		return nil
	}
	pe := pgerr.From(err)
	if pe.Severity == "FATAL" {
		return pe
	}
	s.sayError(pe)
	if err := s.abortHome(); err != nil {
		return err
	}
	err = s.flush()
	select {
	case s.home.told <- struct{}{}:
	default:
	}
	return err
}
