package tests

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// leakProtocol is a way to send the statements of an attempt.
type leakProtocol struct {
	name     string
	extended bool
	format   int16
}

var leakProtocols = []leakProtocol{{"simple", false, 0}, {"text", true, 0}, {"binary", true, 1}}

// leakClient is a connection of which all is noted that the server says.
type leakClient struct {
	conn     net.Conn
	frontend *pgproto3.Frontend
	status   byte     // of the last ReadyForQuery
	said     []string // since take was called, one line for each message
	format   []pgproto3.FieldDescription
	types    *pgtype.Map
	cancel   pgproto3.CancelRequest
}

// dialLeak connects, and takes the connection from pgconn once it is logged in.
func dialLeak(url string, settings ...string) (*leakClient, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	h, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	c := &leakClient{conn: h.Conn, frontend: h.Frontend, status: 'I', types: pgtype.NewMap(), cancel: pgproto3.CancelRequest{ProcessID: h.PID, SecretKey: h.SecretKey}}
	for _, sql := range settings {
		if err := c.send(sql, leakProtocols[0]); err != nil {
			return nil, err
		}
	}
	c.take()
	return c, nil
}

// take returns what was said since it was called last.
func (c *leakClient) take() []string {
	said := c.said
	c.said = nil
	return said
}

// clear leaves nothing of an attempt.
func (c *leakClient) clear(settings ...string) error {
	all := []string{"DISCARD ALL"}
	if c.status != 'I' {
		all = []string{"ROLLBACK", "DISCARD ALL"}
	}
	for _, sql := range append(all, settings...) {
		if err := c.send(sql, leakProtocols[0]); err != nil {
			return err
		}
	}
	c.take()
	return nil
}

// send runs one statement. A line that begins with "@parse name" or "@run name" does half of it, in the extended protocol; "@open
// portal" and "@fetch portal rows" likewise. "@cancel" cancels the statement behind it while it runs.
func (c *leakClient) send(sql string, p leakProtocol) error {
	word, all, _ := strings.Cut(sql, " ")
	name, rest, _ := strings.Cut(all, " ")
	switch {
	case word == "@cancel":
		done := make(chan struct{})
		defer func(ended <-chan struct{}) {
			close(done)
			<-ended
		}(c.cancelling(done))
		before := len(c.said)
		err := c.send(all, p)
		c.said = slices.DeleteFunc(c.said, func(line string) bool { // whether that comes first is chance
			before--
			return before < 0 && strings.HasPrefix(line, "fields ")
		})
		return err
	case word == "@open":
		c.frontend.Send(&pgproto3.Parse{Query: rest})
		c.frontend.Send(&pgproto3.Bind{DestinationPortal: name, ResultFormatCodes: []int16{p.format}})
		c.frontend.Send(&pgproto3.Describe{ObjectType: 'P', Name: name})
		c.frontend.Send(&pgproto3.Sync{})
	case word == "@fetch":
		n, err := strconv.ParseUint(rest, 10, 32)
		if err != nil {
			return err
		}
		c.frontend.Send(&pgproto3.Execute{Portal: name, MaxRows: uint32(n)})
		c.frontend.Send(&pgproto3.Sync{})
	case word == "@parse":
		c.frontend.Send(&pgproto3.Parse{Name: name, Query: rest})
		c.frontend.Send(&pgproto3.Sync{})
	case word == "@run":
		c.run(name, p.format)
	case p.extended:
		c.frontend.Send(&pgproto3.Parse{Query: sql})
		c.run("", p.format)
	default:
		c.frontend.Send(&pgproto3.Query{String: sql})
	}
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if err := c.frontend.Flush(); err != nil {
		return err
	}
	return c.read()
}

// cancelling asks again and again to cancel what the session does, until done is closed. The channel is closed once it asks no more.
func (c *leakClient) cancelling(done <-chan struct{}) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if conn, err := net.DialTimeout("tcp", c.conn.RemoteAddr().String(), patience); err == nil {
				if text, err := c.cancel.Encode(nil); err == nil {
					_, _ = conn.Write(text)
					_, _ = conn.Read(make([]byte, 1)) // it ends once the request is dealt with
				}
				_ = conn.Close()
			}
		}
	}()
	return ended
}

func (c *leakClient) run(statement string, format int16) {
	c.frontend.Send(&pgproto3.Bind{PreparedStatement: statement, ResultFormatCodes: []int16{format}})
	c.frontend.Send(&pgproto3.Describe{ObjectType: 'P'})
	c.frontend.Send(&pgproto3.Execute{})
	c.frontend.Send(&pgproto3.Sync{})
}

// read notes messages up to ReadyForQuery.
func (c *leakClient) read() error {
	for {
		m, err := c.frontend.Receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.ReadyForQuery:
			c.status = m.TxStatus
			return nil
		case *pgproto3.CopyInResponse:
			c.frontend.Send(&pgproto3.CopyFail{Message: "no rows"})
			if err := c.frontend.Flush(); err != nil {
				return err
			}
		default:
			if line := c.line(m); line != "" {
				c.said = append(c.said, line)
			}
		}
	}
}

// firstOwnOID is the first OID that differs between a table and its twin.
const firstOwnOID = 16384

// line is what a message tells.
func (c *leakClient) line(m pgproto3.BackendMessage) string {
	switch m := m.(type) {
	case *pgproto3.RowDescription:
		c.format = append(c.format[:0], m.Fields...)
		var out []string
		for _, f := range m.Fields {
			out = append(out, fmt.Sprint(string(f.Name), ":", min(f.DataTypeOID, firstOwnOID), ":", f.TypeModifier))
		}
		return "fields " + strings.Join(out, " ")
	case *pgproto3.DataRow:
		var out []string
		for i, v := range m.Values {
			out = append(out, c.value(i, v))
		}
		return "row " + strings.Join(out, "|")
	case *pgproto3.PortalSuspended:
		return "suspended"
	case *pgproto3.CommandComplete:
		return "tag " + string(m.CommandTag)
	case *pgproto3.ErrorResponse:
		return "ERROR " + m.Code + " " + strings.Join([]string{m.Message, m.Detail, m.Hint, m.Where, m.InternalQuery, m.ConstraintName}, " / ")
	case *pgproto3.NoticeResponse:
		return "NOTICE " + m.Code + " " + m.Message + " / " + m.Detail
	case *pgproto3.CopyData:
		return "copy " + legible(m.Data)
	case *pgproto3.NotificationResponse:
		return "notify " + m.Channel + " " + m.Payload
	case *pgproto3.ParameterStatus:
		return "parameter " + m.Name + " " + m.Value
	}
	return ""
}

// value shows a value, decoded where it came in binary form.
func (c *leakClient) value(i int, v []byte) string {
	if v == nil {
		return "NULL"
	}
	if i < len(c.format) && c.format[i].Format == 1 && c.format[i].DataTypeOID != pgtype.JSONOID && c.format[i].DataTypeOID != pgtype.XMLOID {
		if t, ok := c.types.TypeForOID(c.format[i].DataTypeOID); ok {
			if value, err := t.Codec.DecodeValue(c.types, t.OID, 1, v); err == nil {
				return fmt.Sprint(value)
			}
		}
	}
	return legible(v)
}

// legible is the bytes of a text as they are, of others their digits and whatever text is in them.
func legible(v []byte) string {
	s := string(v)
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return s
	}
	return hex.EncodeToString(v) + " " + strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '.'
	}, s)
}

// leakCode is the SQLSTATE of a line, empty for all but errors.
func leakCode(line string) string {
	if rest, ok := strings.CutPrefix(line, "ERROR "); ok {
		return rest[:5]
	}
	return ""
}

// What differs from one run of the same to the next: times, memory, OIDs in error contexts, and names made up for the run.
var passing = []struct {
	what *regexp.Regexp
	for_ string
}{
	{regexp.MustCompile(`\b(sl_(da|db|pa|pb|xa|xb|ba|bb|tw)|[fb][xoh])\b`), "{s}"},
	{regexp.MustCompile(`\bn\d+_`), "{n}"},
	{regexp.MustCompile(`((?i:time)(?:": |: |>|=))[\d.]+`), "${1}T"},
	{regexp.MustCompile(`\b(lake_|other_|brick_|)(raw|bare|plain)\b`), "${1}S"},
	{regexp.MustCompile(`sluice_\d+_`), "sluice_N_"},
	{regexp.MustCompile(`Buffers: .*`), "Buffers"}, // of home's own, from Postgres 18 on: the catalog's pages are among them
}

// lasting is said without what passes.
func lasting(said []string) []string {
	out := make([]string, len(said))
	for i, line := range said {
		out[i] = last(line)
	}
	return out
}

func last(line string) string {
	for _, p := range passing {
		line = p.what.ReplaceAllString(line, p.for_)
	}
	return line
}

// TestLegible has the noted form of binary values show what they say.
func TestLegible(t *testing.T) {
	c := &leakClient{types: pgtype.NewMap(), format: []pgproto3.FieldDescription{{DataTypeOID: pgtype.Int4OID, Format: 1}, {DataTypeOID: pgtype.ByteaOID}}}
	for _, v := range []struct {
		place int
		bytes string
		want  string
	}{{0, "\x00\x75\x7f\x21", "7700257"}, {1, "\x00hush", "0068757368 .hush"}, {1, "plain", "plain"}} {
		if got := c.value(v.place, []byte(v.bytes)); got != v.want {
			t.Errorf("%q is shown as %q, want %q", v.bytes, got, v.want)
		}
	}
}
