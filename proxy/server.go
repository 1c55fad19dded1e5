package proxy

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/lru"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/activity"
	"github.com/sluicedb/sluice/proxy/audit"
	"github.com/sluicedb/sluice/proxy/startup"
	"github.com/sluicedb/sluice/socket"
)

// Config is what a Server needs. Home and Wrappers are required.
type Config struct {
	Home        *pgconn.Config // where home is, and the proxy's own account there
	Wrappers    []engines.Wrapper
	Federation  engines.Federation // computes over several servers, closed with the Server; nil: home does
	TLS         *tls.Config        // for clients; nil: no TLS
	TLSRequired bool
	// ClientCert says which certificates of clients are taken, and for what; nil: none is asked for. Called once a client.
	ClientCert func() *startup.ClientCert
	// LoginLimit is how many clients may be logging in at once; one more ends the login that has lasted longest. 0 is 1000.
	LoginLimit int
	// LoginTimeout is how long a login may last; 0 is a minute.
	LoginTimeout time.Duration
	// KeepAlive is how long a client's connection may be silent before the system asks whether it is still there; one that
	// does not answer is ended after as long again. 0 is a minute.
	KeepAlive time.Duration
	// UserTimeout is how long what was sent to a client may go without its acknowledgement, where the system knows such a
	// limit (TCP_USER_TIMEOUT); 0 leaves it to the system. It ends clients that stop reading for so long as well.
	UserTimeout time.Duration
	// Admit says which clients come in where home lets the proxy in without asking for anything (trust, peer); nil: those
	// of this machine.
	Admit   func(client net.Addr) bool
	Logger  *slog.Logger // nil: slog.Default
	Version string       // of Sluice, for the catalog
}

// Server accepts clients of one home.
type Server struct {
	config   Config
	wrappers map[string]engines.Wrapper
	cache    *catalog.Cache
	engines  *openEngines
	watch    *watches
	logins   *logins
	pace     startup.Pace
	trim     trim
	audit    *audit.Writer
	activity *activity.Book
	facts    sync.Map // of home by database: engines.Facts
	salts    sync.Map // of hashes by database: salted
	// estimates are of foreign tables, by estimateKey.
	estimates sync.Map
	// questions are what had to be asked of home to plan statements, the first of which names their relations.
	questions *lru.Cache[questionKey, []string]
	plans     plans
	pages     *lru.Cache[pageKey, *pageAnalysis]
	parts     *lru.Cache[reader, catalog.Parts] // of rules that home is asked with them
	specific  *lru.Cache[specific, bool]

	mu        sync.Mutex
	sessions  map[uint32][]*Session // by home's process ID, which servers behind one address may give twice
	clients   map[string]int        // sessions by database
	listeners map[net.Listener]struct{}
	draining  bool
	wg        sync.WaitGroup
	ctx       context.Context
	cancel    context.CancelFunc
}

// NewServer checks the configuration and makes a Server; it connects to nothing.
func NewServer(c Config) (*Server, error) {
	if c.Home == nil {
		return nil, errors.New("proxy: no home is configured")
	}
	if c.Admit == nil {
		c.Admit = startup.Local
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &Server{
		config: c, wrappers: map[string]engines.Wrapper{}, cache: &catalog.Cache{}, activity: activity.New(), questions: lru.New[questionKey, []string](questionBytes), plans: newPlans(), pages: lru.New[pageKey, *pageAnalysis](pageBytes), parts: lru.New[reader, catalog.Parts](partsBytes), specific: lru.New[specific, bool](specificBytes),
		sessions: map[uint32][]*Session{}, clients: map[string]int{}, listeners: map[net.Listener]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, w := range c.Wrappers {
		s.wrappers[w.Name()] = w
	}
	s.engines = newOpenEngines(s.wrappers)
	s.watch = newWatches(s)
	s.audit = audit.New(s.watch.openAudit, c.Logger)
	s.logins = newLogins(c.LoginLimit)
	return s, nil
}

// Serve accepts connections from l until ctx ends or Shutdown or Close is called; then it returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err == nil {
			l := s.logins.begin(s.ctx)
			s.wg.Go(func() { s.handle(c, l) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		s.config.Logger.Warn("cannot accept a connection", "error", err)
		select { // out of file descriptors, most likely: let some go
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// handle serves one connection, of which l is the login, to its end. A panic ends that session alone.
func (s *Server) handle(c net.Conn, l *login) {
	defer l.end()
	defer func() {
		if r := recover(); r != nil {
			s.panicked(c, r)
		}
	}()
	if session := s.logIn(c, l); session != nil {
		defer s.unregister(session)
		session.run()
	}
}

// logIn takes a connection to a session, or serves what is none to its end and returns nil. It is no part of handle, on
// whose stack a session lives: what a login needs of it would keep twice as much for as long.
//
//go:noinline
func (s *Server) logIn(c net.Conn, l *login) *Session {
	if err := watchOver(c, s.config.KeepAlive, s.config.UserTimeout); err != nil {
		s.config.Logger.Debug("cannot set the keepalive of a connection", "client", c.RemoteAddr().String(), "error", err)
	}
	login, err := startup.Accept(l.ctx, socket.New(c), s.startupConfig())
	l.end()
	if err != nil {
		s.config.Logger.Debug("login failed", "client", c.RemoteAddr().String(), "error", err)
		return nil
	}
	if login.Cancel != nil {
		s.cancelRequest(login.Cancel)
		_ = c.Close() // what the client waits for
		return nil
	}
	if login.Replication {
		relay(login)
		return nil
	}
	s.trim.note()
	session := newSession(s, login)
	session.log.Debug("client logged in", "client", c.RemoteAddr().String(), "tls", tlsVersion(login.Client), "channel_binding", login.Bound)
	session.home.watchClient = session.watchClient
	if !s.register(session) {
		session.refuseLogin(shutdownError())
		return nil
	}
	return session
}

// run serves a session and notes why it ended.
func (s *Session) run() {
	err := s.serve()
	if err != nil && !errors.Is(err, errTerminated) && !errors.Is(err, io.EOF) {
		s.log.Debug("session ended", "error", err)
	}
}

// panicked ends a session that panicked.
func (s *Server) panicked(c net.Conn, cause any) {
	s.config.Logger.Error("a session panicked", "panic", cause, "stack", string(debug.Stack()))
	_ = c.Close()
}

// tlsVersion is the version of TLS that a connection speaks, for the log.
func tlsVersion(c net.Conn) string {
	if t, ok := c.(*tls.Conn); ok {
		return tls.VersionName(t.ConnectionState().Version)
	}
	return "none"
}

func (s *Server) startupConfig() startup.Config {
	return startup.Config{
		Home: s.config.Home, TLS: func() *tls.Config { return s.config.TLS }, TLSRequired: s.config.TLSRequired,
		Verifier: s.watch.verifier, Admit: s.config.Admit, ClientCert: s.config.ClientCert, Timeout: s.config.LoginTimeout,
		Pace: &s.pace,
	}
}

func shutdownError() *pgconn.PgError {
	return pgerr.New(pgerr.AdminShutdown, "terminating connection due to administrator command")
}

func (s *Server) register(session *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.sessions[session.login.PID] = append(s.sessions[session.login.PID], session)
	s.clients[session.database]++
	return true
}

func (s *Server) unregister(session *Session) {
	s.mu.Lock()
	pid := session.login.PID
	rest := slices.DeleteFunc(s.sessions[pid], func(o *Session) bool { return o == session })
	if s.sessions[pid] = rest; len(rest) == 0 {
		delete(s.sessions, pid)
	}
	s.clients[session.database]--
	last := s.clients[session.database] == 0
	if last {
		delete(s.clients, session.database)
	}
	s.mu.Unlock()
	if last {
		s.watch.leave(session.database)
	}
}

// serves reports whether a client is in a database.
func (s *Server) serves(database string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[database] > 0
}

// sessionsOf returns the sessions to which home gave a process ID; none where it is one of another proxy's.
func (s *Server) sessionsOf(pid uint32) []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sessions[pid])
}

// cancelRequest carries out a CancelRequest. One for a session of another proxy, or of none, goes to home as it is.
func (s *Server) cancelRequest(m *pgproto3.CancelRequest) {
	sessions := s.sessionsOf(m.ProcessID)
	if len(sessions) == 0 {
		_ = startup.SendCancel(s.ctx, s.config.Home, m.ProcessID, m.SecretKey)
		return
	}
	for _, session := range sessions {
		if subtle.ConstantTimeCompare(session.login.SecretKey, m.SecretKey) == 1 {
			session.Cancel()
		}
	}
}

// cancelHome cancels what home runs for a session.
func cancelHome(login *startup.Result) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	_ = login.SendCancel(ctx)
}

// Shutdown stops accepting and waits for the sessions to end until ctx does; then it ends them.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopAccepting()
	ended := make(chan struct{})
	go func() { s.wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return s.Close()
	case <-ctx.Done():
		_ = s.Close()
		return ctx.Err()
	}
}

func (s *Server) stopAccepting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for l := range s.listeners {
		_ = l.Close()
	}
}

// Close ends all sessions and engines at once and waits until they are gone.
func (s *Server) Close() error {
	s.stopAccepting()
	s.cancel()
	s.mu.Lock()
	for _, sessions := range s.sessions {
		for _, session := range sessions {
			session.cancel(shutdownError())
			_ = session.client.Close()
		}
	}
	s.mu.Unlock()
	s.audit.Drain()
	s.wg.Wait()
	s.audit.Close()
	s.trim.stop()
	s.watch.close()
	err := s.engines.close()
	if f := s.config.Federation; f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}

// relay copies a replication connection both ways, unread.
func relay(login *startup.Result) {
	defer login.Client.Close()
	defer login.Home.Close()
	head, _ := (&pgproto3.ReadyForQuery{TxStatus: login.TxStatus}).Encode(append([]byte(nil), login.Login...))
	if _, err := login.Client.Write(append(head, login.HomeLeft...)); err != nil {
		return
	}
	if _, err := login.Home.Write(login.ClientLeft); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(login.Home, login.Client)
		_ = login.Home.Close()
	}()
	_, _ = io.Copy(login.Client, login.Home)
}

// refuseLogin ends a session that logged in when the server was about to stop.
func (s *Session) refuseLogin(e *pgconn.PgError) {
	e.Severity, e.SeverityUnlocalized = "FATAL", "FATAL"
	s.sayError(e)
	_ = s.flush()
	_ = s.client.Close()
	_ = s.home.conn.Close()
}
