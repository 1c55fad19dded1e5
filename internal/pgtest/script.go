package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Verify runs the script at path against bare Postgres and compares, or rewrites the file under -rewrite.
func Verify(t *testing.T, path string, postgres Target) {
	s := newScript(t, postgres)
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		out := s.run(t, d)
		if strings.Contains(out, failed) {
			d.Fatalf(t, "the script itself is wrong:\n%s", out)
		}
		return out
	})
}

// VerifyLike runs the script at path against a target that must answer as bare Postgres did. Where a file
// path.proxy-diff exists, it stands for path: the same commands, with a first line that gives the reason. Of a script with
// tables that is so where these are foreign.
func VerifyLike(t *testing.T, path string, target Target) {
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		t.Skip("-rewrite takes the answers of bare Postgres only")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff, err := os.ReadFile(path + ".proxy-diff"); err == nil && (target.Foreign != nil || !UsesTables(path)) {
		if !strings.HasPrefix(string(diff), "# reason: ") {
			t.Fatalf("%s.proxy-diff must begin with a line \"# reason: …\"", path)
		}
		text = diff
	}
	s := newScript(t, target)
	var wrong int
	datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
		if got := s.run(t, d); got != d.Expected && wrong < 5 {
			wrong++
			t.Logf("%s: %s\n%s\nPostgres:\n%s%s:\n%s", d.Pos, d.FullCmd(), clip(d.Input), d.Expected, target.Name, got)
		}
		return d.Expected
	})
	if wrong > 0 {
		t.Errorf("%s differs from Postgres", target.Name)
	}
}

// UsesTables says whether the script at path has a table command, so that a run with foreign tables differs from one
// with plain ones.
func UsesTables(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.Contains("\n"+string(text), "\ntable\n")
}

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "…"
	}
	return s
}

// failed begins the output of a command that could not be carried out.
const failed = "FAILED: "

// script is the state of one run: a database and the connections to it.
type script struct {
	ctx      context.Context
	target   Target
	database string
	home     *pgx.Conn // the administrator's, around the target
	side     *pgconn.PgConn
	conns    map[string]*conn
}

func newScript(t *testing.T, target Target) *script {
	ctx := t.Context()
	s := &script{ctx: ctx, target: target, conns: map[string]*conn{}}
	s.database = target.database(t, ctx)
	home, err := target.connectHome(ctx, s.database)
	if err != nil {
		t.Fatal(err)
	}
	s.home = home
	t.Cleanup(func() {
		for _, c := range s.conns {
			_ = c.Close()
		}
		if s.side != nil {
			_ = s.side.Close(context.WithoutCancel(ctx))
		}
		_ = s.home.Close(context.WithoutCancel(ctx))
	})
	return s
}

// run executes one command of a script and returns its output.
func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	commands := map[string]func(*testing.T, *datadriven.TestData) (string, error){
		"send": s.send, "until": s.until, "sql": s.sql, "table": s.table, "query": s.query,
		"connect": s.connect, "dial": s.dial, "bytes": s.bytes, "close": s.close, "cancel": s.cancel,
	}
	f, ok := commands[d.Cmd]
	if !ok {
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	out, err := f(t, d)
	if err != nil {
		out += failed + err.Error() + "\n"
	}
	return out
}

// connName is the argument conn, or the name of the connection that exists without being asked for.
func connName(d *datadriven.TestData) string {
	if a, ok := d.Arg("conn"); ok {
		return a.Vals[0]
	}
	return "main"
}

// conn returns the connection that a command names, and logs in where it is the first to name it.
func (s *script) conn(d *datadriven.TestData) (*conn, error) {
	name := connName(d)
	if c, ok := s.conns[name]; ok {
		return c, nil
	}
	c, _, err := s.login(name, nil, d)
	return c, err
}

func (s *script) login(name string, extra map[string]string, d *datadriven.TestData) (*conn, string, error) {
	c, err := dial(s.target.Addr)
	if err != nil {
		return nil, "", err
	}
	s.conns[name] = c
	params := map[string]string{"user": "postgres", "database": s.database}
	for k, v := range extra {
		params[k] = v
	}
	var out []string
	var refused error
	p := s.printer(d)
	err = c.startup(params, func(m pgproto3.BackendMessage) {
		if e, ok := m.(*pgproto3.ErrorResponse); ok {
			refused = fmt.Errorf("login: %s %s", e.Code, e.Message)
		}
		out = append(out, p.line(m))
	})
	slices.Sort(out) // parameters may come in any order
	return c, strings.Join(out, "\n") + "\n", errors.Join(err, refused)
}

func (s *script) printer(d *datadriven.TestData) printer {
	return printer{names: s, codeOnly: d.HasArg("codeOnly")}
}

// connect logs in with the startup parameters given, one "name value" a line, and prints what came, sorted.
func (s *script) connect(_ *testing.T, d *datadriven.TestData) (string, error) {
	extra := map[string]string{}
	for _, line := range strings.Split(d.Input, "\n") {
		if k, v, ok := strings.Cut(line, " "); ok {
			extra[k] = v
		}
	}
	_, out, err := s.login(connName(d), extra, d)
	if d.HasArg("quiet") && err == nil {
		out = ""
	}
	return out, err
}

// dial opens a connection and sends nothing, for scripts that begin before login.
func (s *script) dial(_ *testing.T, d *datadriven.TestData) (string, error) {
	c, err := dial(s.target.Addr)
	if err == nil {
		s.conns[connName(d)] = c
	}
	return "", err
}

// bytes reads as many bytes as the argument n says, for answers that are not messages: they precede the login.
func (s *script) bytes(t *testing.T, d *datadriven.TestData) (string, error) {
	c, err := s.conn(d)
	if err != nil {
		return "", err
	}
	var n int
	d.ScanArgs(t, "n", &n)
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	buf := make([]byte, n)
	got, err := io.ReadFull(c, buf)
	return fmt.Sprintf("%q\n", buf[:got]), err
}

// close drops a connection without Terminate.
func (s *script) close(_ *testing.T, d *datadriven.TestData) (string, error) {
	c, err := s.conn(d)
	if err != nil {
		return "", err
	}
	delete(s.conns, connName(d))
	return "", c.Close()
}

// cancel asks the target to cancel what a connection runs; with the argument flip, under a wrong secret.
func (s *script) cancel(_ *testing.T, d *datadriven.TestData) (string, error) {
	c, err := s.conn(d)
	if err != nil {
		return "", err
	}
	var flip byte
	if d.HasArg("flip") {
		flip = 1
	}
	return "", c.cancel(s.target.Addr, flip)
}

// send writes all messages of its input at once.
func (s *script) send(_ *testing.T, d *datadriven.TestData) (string, error) {
	c, err := s.conn(d)
	if err != nil {
		return "", err
	}
	buf, err := encodeLines(d.Input)
	if err != nil {
		return "", err
	}
	return "", c.write(buf)
}

// until reads messages until those that its input names have come, in that order, and prints each. EOF stands for the
// end of the connection. Arguments: ignore=(Type,…), codeOnly.
func (s *script) until(_ *testing.T, d *datadriven.TestData) (string, error) {
	c, err := s.conn(d)
	if err != nil {
		return "", err
	}
	var ignore []string
	if a, ok := d.Arg("ignore"); ok {
		ignore = a.Vals
	}
	p := s.printer(d)
	var b strings.Builder
	wanted := strings.Fields(d.Input)
	for len(wanted) > 0 {
		m, err := c.receive(patience)
		if errors.Is(err, errClosed) {
			b.WriteString("EOF\n")
			if len(wanted) == 1 && wanted[0] == "EOF" {
				return b.String(), nil
			}
		}
		if err != nil {
			return b.String(), fmt.Errorf("waiting for %s: %w", strings.Join(wanted, " "), err)
		}
		if typeOf(m) == wanted[0] {
			wanted = wanted[1:]
		}
		if !slices.Contains(ignore, typeOf(m)) {
			b.WriteString(p.line(m))
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// sql runs statements at home, around the target, one after another in one simple query.
func (s *script) sql(_ *testing.T, d *datadriven.TestData) (string, error) {
	_, err := s.home.PgConn().Exec(s.ctx, d.Input).ReadAll()
	return "", err
}

// table makes relations with rows.
func (s *script) table(_ *testing.T, d *datadriven.TestData) (string, error) {
	tables, err := parseTables(d.Input)
	if err != nil {
		return "", err
	}
	return "", s.makeTables(tables)
}

func (s *script) makeTables(tables []Table) error {
	if s.target.Foreign != nil {
		return s.target.Foreign(s.ctx, s.database, tables)
	}
	for _, tb := range tables {
		if _, err := s.home.PgConn().Exec(s.ctx, tb.Create()).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// query runs statements through the target on a connection beside the script's and prints rows as fields with | in
// between, tags, and errors as their SQLSTATE.
func (s *script) query(_ *testing.T, d *datadriven.TestData) (string, error) {
	if s.side == nil {
		side, err := s.target.connect(s.ctx, s.database)
		if err != nil {
			return "", err
		}
		s.side = side
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	results, err := s.side.Exec(ctx, d.Input).ReadAll()
	var b strings.Builder
	for _, r := range results {
		for _, row := range r.Rows {
			b.WriteString(joinRow(row) + "\n")
		}
		if len(r.FieldDescriptions) == 0 && r.Err == nil {
			b.WriteString(r.CommandTag.String() + "\n")
		}
	}
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return b.String() + "ERROR " + pe.Code + "\n", nil
	}
	return b.String(), err
}

func joinRow(row [][]byte) string {
	out := make([]string, len(row))
	for i, v := range row {
		if out[i] = string(v); v == nil {
			out[i] = "NULL"
		}
	}
	return strings.Join(out, "|")
}

// relation implements names: OIDs of tables become their names.
func (s *script) relation(oid uint32) string { return s.lookup("regclass", oid) }

// typeName implements names.
func (s *script) typeName(oid uint32) string { return s.lookup("regtype", oid) }

// lookup asks home; an object that no committed transaction has made is "new".
func (s *script) lookup(kind string, oid uint32) string {
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
	defer cancel()
	var name string
	sql := fmt.Sprintf("SELECT oid::%s::text FROM %s WHERE oid = $1",
		kind, map[string]string{"regclass": "pg_class", "regtype": "pg_type"}[kind])
	if err := s.home.QueryRow(ctx, sql, oid).Scan(&name); err != nil {
		return "new"
	}
	return temporary.ReplaceAllString(name, "pg_temp.")
}

// temporary is the schema of a session's temporary tables, whose number depends on who else is connected.
var temporary = regexp.MustCompile(`^pg_temp_\d+\.`)
