package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/encode"
	"github.com/sluicedb/sluice/proxy/limit"
)

// copyFields returns the columns that a COPY (SELECT …) TO yields: home describes the SELECT, not the COPY.
func (s *Session) copyFields(ctx context.Context, st *parser.Statement) ([]engines.Field, error) {
	text, offset, ok := st.InnerText()
	if !ok {
		return nil, nil
	}
	d, err := s.describe(ctx, ownPrefix+"copied", text, nil)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Position > 0 {
		pe.Position += int32(offset)
	}
	if err != nil {
		return nil, err
	}
	return engineFields(d.fields), nil
}

// checkCopy has home check the options of a COPY that it runs over shipped inputs.
func (s *Session) checkCopy(ctx context.Context, x *execution) error {
	if x.plan.OptionsSQL == "" {
		return nil
	}
	_, err := s.Exec(ctx, x.plan.OptionsSQL)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Position > 0 {
		pe.Position -= int32(x.plan.Shift)
	}
	return err
}

// copyOut sends a result that one engine computes whole as COPY data, and sets the tag.
func (s *Session) copyOut(ctx context.Context, x *execution) error {
	format := x.plan.Copy
	code := encode.Text
	if format.Binary {
		code = encode.Binary
	}
	codes := make([]uint16, len(format.Fields))
	for i := range codes {
		codes[i] = uint16(code)
	}
	begins := &pgproto3.CopyOutResponse{OverallFormat: byte(code), ColumnFormatCodes: codes}
	stream, err := s.openWhole(ctx, x, []int16{code}, nil)
	if err != nil {
		if dataException(err) { // Postgres evaluates nothing before
			s.say(begins)
		}
		return err
	}
	defer stream.Close()
	var encoder *encode.Encoder
	if _, ok := framesOf(stream); ok {
		err = sameTypes(format.Fields, stream.Fields())
	} else {
		encoder, err = encode.New(format.Fields, []int16{code}, stream.Fields(), s.encodeSettings(x))
	}
	if err != nil {
		return err
	}
	s.say(begins)
	if err := s.flush(); err != nil {
		return err
	}
	c := &copying{stream: stream, encoder: encoder, format: code, single: true}
	rows, err := c.run(ctx, x.ledger.admitting(s.writeClient))
	var over *limit.Exceeded
	if errors.As(err, &over) {
		rows, err = x.ledger.Rows, c.cut(over, x.ledger.Rows, s.writeClient)
	}
	if err != nil {
		return s.cause(err)
	}
	s.say(&pgproto3.CopyDone{})
	if over != nil {
		s.truncated(over)
	}
	x.tag = copyTag(rows)
	return nil
}

// copying turns a stream into COPY data, one batch at a time.
type copying struct {
	stream  engines.Stream
	encoder *encode.Encoder
	format  int16
	single  bool // a message for each row, as Postgres sends and clients expect them
	begun   bool // the header of the binary form is out
	buf     []byte
}

// run writes the whole stream as CopyData messages and returns the number of rows.
func (c *copying) run(ctx context.Context, write func([]byte) error) (rows int64, err error) {
	for {
		batch, err := c.stream.Next(ctx)
		if err == io.EOF && ctx.Err() == nil {
			break
		}
		if err != nil {
			return rows, err
		}
		if err := c.append(batch, write); err != nil {
			return rows, err
		}
		rows += int64(batch.NumRows())
	}
	if c.format == encode.Binary {
		at := len(c.buf)
		c.buf = append(c.buf, encode.CopyTrailer...)
		c.header(at)
	}
	return rows, write(c.buf)
}

// append encodes a batch and writes what makes a good write.
func (c *copying) append(batch engines.Batch, write func([]byte) error) (err error) {
	if frames, ok := batch.(engines.Frames); ok {
		return c.appendFrames(frames, write)
	}
	columns := batch.(engines.Columns)
	encode := c.encoder.AppendCopyText
	if c.format == 1 {
		encode = c.encoder.AppendCopy
	}
	step := columns.NumRows()
	if c.single {
		step = 1
	}
	for row := 0; row < columns.NumRows(); row += step {
		at := len(c.buf)
		if c.buf, err = encode(c.buf, columns.Record, row, step); err != nil {
			return err
		}
		if c.format == 1 {
			c.header(at)
		}
		if len(c.buf) >= flushBytes {
			if err := write(c.buf); err != nil {
				return err
			}
			c.buf = c.buf[:0]
		}
	}
	return nil
}

// appendFrames writes rows that came as frames, some at a time.
func (c *copying) appendFrames(b engines.Frames, write func([]byte) error) error {
	for data := b.Data; len(data) > 0; {
		at := len(c.buf)
		var err error
		switch {
		case c.format != encode.Binary:
			c.buf, data, err = encode.AppendCopyLine(c.buf, data)
		default:
			c.buf, data = encode.AppendCopyTuples(c.buf, data, c.single)
			c.header(at)
		}
		if err != nil {
			return err
		}
		if len(c.buf) >= flushBytes {
			if err := write(c.buf); err != nil {
				return err
			}
			c.buf = c.buf[:0]
		}
	}
	return nil
}

// header puts the header of the binary form into the first message, which begins at at, as Postgres does.
func (c *copying) header(at int) {
	if c.begun {
		return
	}
	c.begun = true
	const messageHead = 5
	signature := encode.CopyHeader[messageHead:]
	c.buf = slices.Insert(c.buf, at+messageHead, signature...)
	length := c.buf[at+1 : at+messageHead]
	binary.BigEndian.PutUint32(length, binary.BigEndian.Uint32(length)+uint32(len(signature)))
}
