package tdstest

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is one connection of a client.
type session struct {
	server *Server
	socket net.Conn
	out    *answer
	set    bool // the settings were made
	logged bool
}

func newSession(s *Server, socket net.Conn) *session {
	return &session{server: s, socket: socket, out: newAnswer(socket)}
}

// serve answers messages until the client is gone. They are read while a statement runs, for one may say that it shall stop.
func (s *session) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.socket.Close()
	db, err := s.server.acquire(ctx)
	if err != nil {
		return
	}
	defer s.server.release(db)
	messages := make(chan message)
	s.server.sessions.Go(func() {
		defer cancel() // a client that is gone wants nothing any more
		defer close(messages)
		for {
			m, err := readMessage(s.socket)
			if err != nil {
				return
			}
			select {
			case messages <- m:
			case <-ctx.Done():
				return
			}
		}
	})
	for m := range messages {
		if err := s.answer(ctx, db, m, messages); err != nil {
			return
		}
	}
}

var errLogin = errors.New("the login was refused")

func (s *session) answer(ctx context.Context, db *pgconn.PgConn, m message, messages <-chan message) error {
	switch {
	case m.kind == prelogin:
		// VERSION and ENCRYPTION, which is not supported (2.2.6.5)
		_, _ = s.out.Write([]byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, 2})
		return s.out.end()
	case m.kind == login7:
		return s.login(m.body)
	case !s.logged:
		return errLogin
	case m.kind == attention:
		s.attended()
		return s.out.end()
	}
	if m.reset {
		s.set = false
	}
	sql, args, err := request(m)
	if err != nil {
		return err
	}
	s.server.saw(sql)
	if strings.HasPrefix(sql, "SET ") {
		s.set = s.set || strings.Contains(sql, "SET QUOTED_IDENTIFIER ON")
		s.done(doneFinal, 0)
		return s.out.end()
	}
	if !s.set {
		s.fail(50000, "the session's settings were not made")
		return s.out.end()
	}
	return s.run(ctx, db, sql, args, messages)
}

// run has a statement computed. An attention signal ends it, and is what is answered then.
func (s *session) run(ctx context.Context, db *pgconn.PgConn, sql string, args []*string, messages <-chan message) error {
	statement, stop := context.WithCancel(ctx)
	defer stop()
	s.server.running.Add(1)
	defer s.server.running.Add(-1)
	finished := make(chan error, 1)
	go func() { finished <- s.query(statement, db, sql, args) }()
	for attended := false; ; {
		select {
		case err := <-finished:
			if err != nil && err != errStopped {
				return err
			}
			return s.finish(attended, err == errStopped)
		case m, ok := <-messages:
			if !ok || m.kind != attention {
				stop()
				_ = s.socket.Close()
				<-finished
				return net.ErrClosed
			}
			attended = true
			stop()
		}
	}
}

// finish ends an answer. An attention signal that came too late to stop the statement has an answer of its own.
func (s *session) finish(attended, stopped bool) error {
	if attended && !stopped {
		if err := s.out.end(); err != nil {
			return err
		}
	}
	if attended {
		s.attended()
	}
	return s.out.end()
}

// login reads what a client says of itself (2.2.6.4).
func (s *session) login(body []byte) error {
	part := func(at int) []byte {
		if at+4 > len(body) {
			return nil
		}
		from, n := int(binary.LittleEndian.Uint16(body[at:])), int(binary.LittleEndian.Uint16(body[at+2:]))
		if from+2*n > len(body) {
			return nil
		}
		return body[from : from+2*n]
	}
	hidden := append([]byte(nil), part(44)...)
	for i, b := range hidden {
		b ^= 0xa5
		hidden[i] = b<<4 | b>>4
	}
	if fromUCS2(part(40)) != User || fromUCS2(hidden) != Password {
		s.fail(18456, "Login failed for user '"+fromUCS2(part(40))+"'.")
		_ = s.out.end()
		return errLogin
	}
	if database := fromUCS2(part(68)); database == "nowhere" {
		s.fail(4060, `Cannot open database "nowhere" requested by the login.`)
		_ = s.out.end()
		return errLogin
	}
	s.logged = true
	s.environment(4, "16384")
	ack := append([]byte{1, 0x74, 0, 0, 4}, short("Microsoft SQL Server")...)
	s.token(0xad, append(ack, 16, 0, 0, 0))
	s.done(doneFinal, 0)
	return s.out.end()
}
