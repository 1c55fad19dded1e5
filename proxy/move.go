package proxy

import (
	"context"
	"io"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// allRows is how pg_query tells ALL (FETCH_ALL of Postgres).
const allRows = math.MaxInt64

// codeNoScroll is what Postgres answers to a step back in a portal that Bind has made.
const codeNoScroll = "55000"

// ownCursor returns the portal that FETCH, MOVE or CLOSE names where the engine's rows wait in it: home does not know it.
func (s *Session) ownCursor(name string) *portal {
	if p := s.portals[name]; name != "" && p != nil && !p.home && p.fields != nil {
		return p
	}
	return nil
}

// hasCursors reports whether any portal is one of ownCursor.
func (s *Session) hasCursors() bool {
	for name := range s.portals {
		if s.ownCursor(name) != nil {
			return true
		}
	}
	return false
}

// cursorUtility returns what runs a statement on portals of ours, nil for one on others.
func (s *Session) cursorUtility(n *pg_query.Node) utility {
	fetch, close := n.GetFetchStmt(), n.GetClosePortalStmt()
	switch {
	case fetch != nil && s.ownCursor(fetch.Portalname) != nil:
		return s.fetchCursor
	case close != nil && (s.ownCursor(close.Portalname) != nil || close.Portalname == "" && s.hasCursors()):
		return s.closeCursor
	}
	return nil
}

// fetchCursor carries out FETCH and MOVE. A portal that Bind has made goes forward only.
func (s *Session) fetchCursor(ctx context.Context, x *execution) (*cursor, error) {
	n := x.statement.Node.Stmt.GetFetchStmt()
	p := s.ownCursor(n.Portalname)
	if err := p.runs(n.Portalname); err != nil {
		return nil, err
	}
	if n.Ismove && p.staysOn(n) {
		x.tag = fixedTag("MOVE 1")
		return nil, nil
	}
	skip, take, err := p.way(n)
	if err != nil {
		return nil, err
	}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	part := &part{session: s, cursor: p.cursor, portal: p, left: skip}
	if _, err := part.drain(ctx); err != nil {
		return nil, err
	}
	part.left = take
	if n.Ismove {
		moved, err := part.drain(ctx)
		x.tag = fixedTag("MOVE " + strconv.FormatInt(moved, 10))
		return nil, err
	}
	x.tag = func(rows int64) string { return "FETCH " + strconv.FormatInt(rows, 10) }
	fields := engineFields(p.fields)
	formats := make([]int16, len(fields))
	if x.bind != nil {
		for i := range formats {
			formats[i] = formatOf(x.bind.ResultFormatCodes, i)
		}
	}
	part.formats = formats
	c, err := newCursor(part, fields, formats, p.settings)
	if err == nil {
		c.ledger = p.ledger
	}
	return c, err
}

// describeFetch gives FETCH of a portal of ours the description that home does not have.
func (s *Session) describeFetch(x *execution) {
	if fields := s.fetchedFields(x.statement); fields != nil {
		x.described.rows, x.described.fields = true, fields
	}
}

// fetchedFields are what a FETCH of a portal of ours yields; nil for any other statement.
func (s *Session) fetchedFields(st *parser.Statement) []pgproto3.FieldDescription {
	n := st.Node.Stmt.GetFetchStmt()
	if n == nil || n.Ismove {
		return nil
	}
	if p := s.ownCursor(n.Portalname); p != nil {
		return withFormats(p.fields, nil)
	}
	if fields := s.fetchesHidden(st.Node.Stmt); fields != nil {
		return withFormats(fields, nil)
	}
	return nil
}

// describeControl answers the Describe of a prepared FETCH that has described its portal when it was parsed.
func (s *Session) describeControl(size int, name string, fields []pgproto3.FieldDescription) error {
	if err := s.takeHome(); err != nil {
		return err
	}
	if s.home.failed() {
		return s.drop(size)
	}
	var r request
	d, err := s.readDescription(s.ctx, r.describe('S', name)) // which complains where nothing can be described
	if err != nil {
		return s.refuse(size, err)
	}
	if d.rows { // home has the portal
		fields = s.withOrigins(d.fields, fields)
	}
	if s.home.state() == 'E' {
		return s.refuse(size, aborted())
	}
	if err := s.drop(size); err != nil {
		return err
	}
	s.say(&pgproto3.ParameterDescription{})
	s.say(&pgproto3.RowDescription{Fields: fields})
	return s.flush()
}

// closeCursor carries out CLOSE of one portal, or of all.
func (s *Session) closeCursor(ctx context.Context, x *execution) (*cursor, error) {
	if name := x.statement.Node.Stmt.GetClosePortalStmt().Portalname; name != "" {
		shadowed := s.portals[name].shadowed
		s.closePortal(name)
		x.tag = fixedTag("CLOSE CURSOR")
		if shadowed {
			_, err := s.Exec(ctx, x.statement.Text)
			return nil, err
		}
		return nil, nil
	}
	for name := range s.portals {
		if s.ownCursor(name) != nil {
			s.closePortal(name)
		}
	}
	tag, err := s.Exec(ctx, x.statement.Text)
	x.tag = fixedTag(tag)
	return nil, err
}

// start opens the result at the first Execute or FETCH.
func (p *portal) start(ctx context.Context) error {
	if p.ran {
		return nil
	}
	p.ran = true
	c, err := p.open(ctx)
	p.cursor = c
	if c != nil && p.ledger != nil {
		c.ledger = p.ledger
	}
	return err
}

// onRow reports whether the portal stands on a row: it has given one and not met the end.
func (p *portal) onRow() bool { return p.position > 0 && !p.ended }

// staysOn reports whether a statement asks for the row that the portal stands on.
func (p *portal) staysOn(n *pg_query.FetchStmt) bool {
	return n.HowMany == 0 && n.Direction != pg_query.FetchDirection_FETCH_ABSOLUTE && p.onRow()
}

// way returns how many rows a FETCH or MOVE passes over and how many it then takes, by the rules of Postgres'
// PortalRunFetch for a portal that cannot scroll.
func (p *portal) way(n *pg_query.FetchStmt) (skip, take int64, err error) {
	noScroll := pgerr.Hint(pgerr.New(codeNoScroll, "cursor can only scan forward"), "Declare it with SCROLL option to enable backward scan.")
	count, atStart := n.HowMany, p.position == 0 && !p.ended
	switch n.Direction {
	case pg_query.FetchDirection_FETCH_FORWARD, pg_query.FetchDirection_FETCH_BACKWARD:
		forward := n.Direction == pg_query.FetchDirection_FETCH_FORWARD
		if count < 0 {
			forward, count = !forward, -count
		}
		switch {
		case count == 0 && !p.onRow():
			return 0, 0, nil
		case !forward && n.Ismove && count == allRows && atStart:
			return 0, 0, nil
		case !forward || count == 0:
			return 0, 0, noScroll
		}
		return 0, count, nil
	case pg_query.FetchDirection_FETCH_RELATIVE:
		if count < 0 || count == 0 && p.onRow() {
			return 0, 0, noScroll
		}
		return max(count-1, 0), min(count, 1), nil
	}
	here := p.position
	if p.ended {
		here++
	}
	switch {
	case count == 0 && atStart:
		return 0, 0, nil
	case count <= here || count-1 <= p.position/2 && !atStart:
		return 0, 0, noScroll
	}
	return count - here - 1, 1, nil
}

// advance notes that a portal has given rows, and whether it met the end.
func (p *portal) advance(rows int64, ended bool) {
	p.position += rows
	p.ended = p.ended || ended
}

// part is a stream of the next rows of a portal's cursor, which stay its own.
type part struct {
	session *Session
	cursor  *cursor
	portal  *portal
	left    int64
	formats []int16 // in which the values are wanted; nil where they are not looked at
}

func (p *part) Fields() []engines.Field { return p.cursor.stream.Fields() }
func (p *part) Close() error            { return nil }

// Next returns rows of the cursor's batch in hand, or of its next.
func (p *part) Next(ctx context.Context) (engines.Batch, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	run := p.session.begin()
	defer run.end()
	defer run.spend(p.portal.ledger)()
	c := p.cursor
	for c.batch == nil || c.row >= c.batch.NumRows() {
		if err := c.fetch(ctx); err != nil {
			p.portal.advance(0, err == io.EOF)
			return nil, err
		}
	}
	n := int(min(p.left, int64(c.batch.NumRows()-c.row)))
	batch, err := c.take(n)
	p.left -= int64(n)
	p.portal.advance(int64(n), false)
	if f, ok := batch.(engines.Frames); ok && p.formats != nil {
		return p.session.reformat(ctx, f, engineFields(p.portal.fields), p.portal.formats, p.formats)
	}
	return batch, err
}

// drain passes over the rows that are left and returns how many there were.
func (p *part) drain(ctx context.Context) (rows int64, err error) {
	for {
		batch, err := p.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += int64(batch.NumRows())
	}
}

// take cuts the next n rows out of the batch in hand.
func (c *cursor) take(n int) (engines.Batch, error) {
	switch b := c.batch.(type) {
	case engines.Frames:
		from := c.frame
		c.frame = skipFrames(b.Data, from, n)
		c.row += n
		return engines.Frames{Data: b.Data[from:c.frame], Rows: n}, nil
	case engines.Columns:
		from := c.row
		c.row += n
		c.ready.rows = 0
		return engines.Columns{Record: b.Record.NewSlice(int64(from), int64(c.row))}, nil
	default:
		return nil, pgerr.New(pgerr.InternalError, "a batch of unknown form %T", b)
	}
}
