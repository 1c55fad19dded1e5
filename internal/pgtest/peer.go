package pgtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Site is one database of a target, for tests that choose their messages themselves.
type Site struct {
	target   Target
	database string
	home     *pgx.Conn
	known    map[uint32]string // what relations are called
}

// NewSite makes a database of a target with relations; it is dropped when the test ends.
func NewSite(t testing.TB, target Target, tables string) *Site {
	ctx := t.Context()
	site := &Site{target: target, database: target.database(t, ctx), known: map[uint32]string{}}
	home, err := target.connectHome(ctx, site.database)
	if err != nil {
		t.Fatal(err)
	}
	site.home = home
	t.Cleanup(func() { _ = home.Close(context.WithoutCancel(ctx)) })
	s := &script{ctx: ctx, target: target, database: site.database, home: home}
	list, err := parseTables(tables)
	if err == nil {
		err = s.makeTables(list)
	}
	if err != nil {
		t.Fatalf("%s: %v", target.Name, err)
	}
	return site
}

// Drop drops the site's database before the test ends.
func (s *Site) Drop(ctx context.Context) error {
	if err := s.home.Close(ctx); err != nil {
		return err
	}
	return s.target.admin(ctx, "DROP DATABASE "+s.database+" WITH (FORCE)")
}

// Name is the name of the site's target.
func (s *Site) Name() string { return s.target.Name }

// Exec runs statements through the target, each in a transaction of its own.
func (s *Site) Exec(ctx context.Context, statements ...string) (err error) {
	conn, err := s.target.connect(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%s: %s: %w", s.target.Name, sql, err)
		}
	}
	return nil
}

// learn remembers what relations are called, which a peer may drop before its answers are read.
func (s *Site) learn(ctx context.Context) error {
	if len(s.known) > 0 {
		return nil
	}
	rows, err := s.home.Query(ctx, "SELECT oid, oid::regclass::text FROM pg_class WHERE oid >= $1", uint32(firstUserOID))
	if err != nil {
		return err
	}
	var oid uint32
	var name string
	_, err = pgx.ForEachRow(rows, []any{&oid, &name}, func() error {
		s.known[oid] = name
		return nil
	})
	return err
}

// Peer is a frontend that is logged in at a site.
type Peer struct {
	conn    *conn
	printer printer
}

// Connect logs in.
func (s *Site) Connect(ctx context.Context) (*Peer, error) {
	if err := s.learn(ctx); err != nil {
		return nil, err
	}
	c, err := dial(s.target.Addr)
	if err != nil {
		return nil, err
	}
	var refused error
	err = c.startup(map[string]string{"user": "postgres", "database": s.database}, func(m pgproto3.BackendMessage) {
		if e, ok := m.(*pgproto3.ErrorResponse); ok {
			refused = fmt.Errorf("login: %s %s", e.Code, e.Message)
		}
	})
	if err = errors.Join(err, refused); err != nil {
		_ = c.Close()
		return nil, err
	}
	return &Peer{c, printer{names: s}}, nil
}

// relation implements names by what the site had before its first peer: what a peer makes and drops would have a name at
// times.
func (s *Site) relation(oid uint32) string {
	if name, ok := s.known[oid]; ok {
		return name
	}
	return "new"
}

func (s *Site) typeName(uint32) string { return "new" }

// Close says goodbye and waits until the server has hung up: then nothing of the session is left.
func (p *Peer) Close(wait time.Duration) {
	if p.Send([]string{"Terminate"}) == nil {
		for typ, err := "", error(nil); typ != "EOF" && err == nil; {
			typ, _, err = p.Receive(wait)
		}
	}
	_ = p.conn.Close()
}

// Send writes messages, one line each in the language of scripts, in one write.
func (p *Peer) Send(lines []string) error {
	buf, err := encodeLines(strings.Join(lines, "\n"))
	if err != nil {
		return err
	}
	return p.conn.write(buf)
}

// Receive returns the next message, its type and its line as scripts print it. The end of the connection is a line EOF.
func (p *Peer) Receive(wait time.Duration) (typ, line string, err error) {
	m, err := p.conn.receive(wait)
	if errors.Is(err, errClosed) {
		return "EOF", "EOF", nil
	}
	if err != nil {
		return "", "", err
	}
	return typeOf(m), p.printer.line(m), nil
}
