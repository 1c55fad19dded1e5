package proxy

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
)

// flushBytes is how much is encoded before it is written to the client.
const flushBytes = 64 << 10

// cursor is an open result on its way to a client. It holds at most one batch.
type cursor struct {
	stream  engines.Stream
	encoder *encode.Encoder // for Columns; made at the first batch

	batch engines.Batch
	row   int // of batch, next to deliver
	frame int // of a Frames batch, offset of that row
	ended bool
	ready ready
	// unwritable is why no row can be written.
	unwritable error
	ledger     *ledger // nil for none
}

// ready are DataRow messages of the next rows of a Columns batch, which the client has not asked for yet.
type ready struct {
	data []byte
	at   int // offset of the first of them that is left
	rows int // how many are left
}

func (r *ready) take(n int) []byte {
	from := r.at
	r.at, r.rows = skipFrames(r.data, from, n), r.rows-n
	return r.data[from:r.at]
}

// deliver is the one terminal: it sends up to limit rows (0: all) of a result to the client as DataRow messages and
// returns how many it sent and whether rows may be left. Whoever computed the result, at most one batch of it is held,
// and a client that does not read stalls the engine.
func (s *Session) deliver(ctx context.Context, c *cursor, limit int64) (rows int64, more bool, err error) {
	for limit == 0 || rows < limit {
		if c.batch == nil || c.row >= c.batch.NumRows() {
			if err := c.fetch(ctx); err == io.EOF {
				return rows, false, nil
			} else if err != nil {
				return rows, false, s.ends(c, s.cause(err))
			}
			continue
		}
		n := c.batch.NumRows() - c.row
		if limit > 0 {
			n = int(min(int64(n), limit-rows))
		}
		n, err = s.deliverRows(c, n)
		if rows += int64(n); err != nil {
			return rows, false, s.ends(c, err)
		}
	}
	return rows, true, nil
}

// fetch replaces the batch, at the end by io.EOF.
func (c *cursor) fetch(ctx context.Context) (err error) {
	if c.ended {
		return io.EOF
	}
	c.row, c.frame, c.ready.rows = 0, 0, 0
	if c.batch, err = c.stream.Next(ctx); err == nil {
		return nil
	}
	c.ended, c.batch = true, nil
	if err == io.EOF && ctx.Err() != nil { // a driver may end a cancelled result as if it were whole
		return context.Cause(ctx)
	}
	return err
}

// deliverRows sends up to n rows of the batch in hand and returns how many.
func (s *Session) deliverRows(c *cursor, n int) (int, error) {
	if c.unwritable != nil {
		return 0, c.unwritable
	}
	var err, over error
	at := len(s.out)
	switch b := c.batch.(type) {
	case engines.Frames:
		from := c.frame
		c.frame = skipFrames(b.Data, from, n)
		s.out = append(s.out, b.Data[from:c.frame]...)
	case engines.Columns:
		if c.ready.rows > 0 {
			n = min(n, c.ready.rows)
			s.out = append(s.out, c.ready.take(n)...)
			break
		}
		n = min(n, encodeAtOnce)
		if s.out, err = c.encoder.Append(s.out, b.Record, c.row, n); err != nil { // the rows before the one that failed are there
			n = countFrames(s.out[at:])
		}
	default:
		return 0, pgerr.New(pgerr.InternalError, "a batch of unknown form %T", b)
	}
	if c.ledger != nil {
		var length int
		length, n, over = c.ledger.Admit(s.out[at:], n)
		s.out = s.out[:at+length]
	}
	c.row += n
	if err = cmp.Or(over, err); len(s.out) >= flushBytes {
		err = cmp.Or(s.flush(), err)
	}
	return n, err
}

// encodeAtOnce is how many rows are encoded before it is seen how long they are.
const encodeAtOnce = 512

// encodeAhead encodes the rows that the next Execute will want if it is like the one before, of those in hand and no more than
// flushBytes or so, while the client reads what it was given. An error waits until the row is asked for.
func (c *cursor) encodeAhead(limit int64) {
	b, ok := c.batch.(engines.Columns)
	if !ok || c.ready.rows > 0 || c.unwritable != nil {
		return
	}
	want := int(min(limit, int64(b.NumRows()-c.row)))
	for c.ready.data, c.ready.at = c.ready.data[:0], 0; c.ready.rows < want && len(c.ready.data) < flushBytes; {
		n := min(want-c.ready.rows, encodeAtOnce/4)
		data, err := c.encoder.Append(c.ready.data, b.Record, c.row+c.ready.rows, n)
		if err != nil {
			return
		}
		c.ready.data, c.ready.rows = data, c.ready.rows+n
	}
}

// skipFrames returns the offset behind n messages that start at from.
func skipFrames(data []byte, from, n int) int {
	for ; n > 0; n-- {
		from += 1 + int(binary.BigEndian.Uint32(data[from+1:]))
	}
	return from
}
