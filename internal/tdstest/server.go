package tdstest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// User and Password are the login that a Server takes.
const (
	User     = "reader"
	Password = "a 'secret' @ {1}"
)

// Server is one that runs until its test ends.
type Server struct {
	Port int
	// URL is that of the Postgres behind it. Objects of schema dbo are what is in that of the database.
	URL string

	listener net.Listener
	sessions sync.WaitGroup
	running  atomic.Int64

	mu       sync.Mutex
	idle     []*pgconn.PgConn
	seen     []string
	attended int
}

// Start serves the database that a URL names, in which it makes the catalog of a SQL Server.
func Start(t testing.TB, url string) *Server {
	t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, url)
	if err == nil {
		_, err = conn.Exec(ctx, catalog).ReadAll()
		_ = conn.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: url}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.Port = s.listener.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(ctx)
	s.sessions.Go(func() { s.accept(ctx) })
	t.Cleanup(func() {
		_ = s.listener.Close()
		cancel()
		s.sessions.Wait()
		for _, db := range s.idle {
			_ = db.Close(context.Background())
		}
	})
	return s
}

func (s *Server) accept(ctx context.Context) {
	for {
		socket, err := s.listener.Accept()
		if err != nil {
			return
		}
		_ = socket.(*net.TCPConn).SetWriteBuffer(packetSize) // what is on its way is read before the end of a statement
		s.sessions.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
			defer stop()
			newSession(s, socket).serve(ctx)
		})
	}
}

// acquire returns a connection to the Postgres, which is kept for the next session.
func (s *Server) acquire(ctx context.Context) (*pgconn.PgConn, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		db := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return db, nil
	}
	s.mu.Unlock()
	config, err := pgconn.ParseConfig(s.URL)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["search_path"] = "dbo, pg_catalog"
	config.RuntimeParams["timezone"] = "UTC"
	return pgconn.ConnectConfig(ctx, config)
}

func (s *Server) release(db *pgconn.PgConn) {
	if db.TxStatus() != 'I' { // a transaction ends with its session
		_ = db.Close(context.Background())
	}
	if db.IsClosed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, db)
}

// Running returns how many statements are computed.
func (s *Server) Running() int { return int(s.running.Load()) }

// Statements returns what was asked since the last call, and how many attention signals came.
func (s *Server) Statements() (list []string, attended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, attended = s.seen, s.attended
	s.seen, s.attended = nil, 0
	return list, attended
}

func (s *Server) saw(sql string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, sql)
}

func (s *Server) attend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attended++
}
