package proxy

import (
	"context"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
	"github.com/sluicedb/sluice/proxy/wire"
)

// spellLimit bounds what all inputs together may add to a statement, in bytes: the proxy holds it all, and so does home.
const spellLimit = 64 << 20

// spellAll puts the inputs of a statement into its text, as a read-only transaction takes no temporary tables.
func (s *Session) spellAll(ctx context.Context, x *execution) error {
	var pairs []string // of placeholders and literals
	left := spellLimit
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		columns, err := s.spell(ctx, x, in, left)
		if err != nil {
			return err
		}
		for i, c := range columns {
			times := strings.Count(x.plan.HomeSQL, quoted(in, i)) // references that need the same share an input
			if left -= times * len(c.text); left < 0 {
				return tooLong(in)
			}
			pairs = append(pairs, quoted(in, i), c.literal())
		}
	}
	spelled := *x.plan // plans are shared
	spelled.HomeSQL = strings.NewReplacer(pairs...).Replace(spelled.HomeSQL)
	x.plan = &spelled
	return nil
}

// quoted is the literal that stands for the i-th column of an input.
func quoted(in *plan.Input, i int) string { return "'" + in.Placeholder(i) + "'" }

// spell reads an input and returns the values of its columns, limit bytes at most.
func (s *Session) spell(ctx context.Context, x *execution, in *plan.Input, limit int) ([]spelling, error) {
	stream, err := s.openStream(ctx, x, x.inputQuery(in, nil))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var encoder *encode.Encoder
	if _, ok := framesOf(stream); !ok {
		if encoder, err = encode.New(spelledFields(in), nil, stream.Fields(), encode.Home); err != nil {
			return nil, err
		}
	}
	columns := make([]spelling, len(in.Columns))
	for i := range columns {
		columns[i].escape = s.setting("client_encoding") != "UTF8"
	}
	var frames []byte
	for {
		batch, err := stream.Next(ctx)
		switch {
		case err == io.EOF && ctx.Err() == nil:
			return columns, nil
		case err != nil:
			return nil, err
		}
		switch rows := batch.(type) {
		case engines.Frames:
			spellRows(columns, rows.Data)
		case engines.Columns:
			if frames, err = encoder.Append(frames[:0], rows.Record, 0, rows.NumRows()); err != nil {
				return nil, err
			}
			spellRows(columns, frames)
		}
		size := 0
		for i := range columns {
			size += len(columns[i].text)
		}
		if size > limit {
			return nil, tooLong(in)
		}
	}
}

// spelledFields are the columns of an input as they are written, behind what screens it.
func spelledFields(in *plan.Input) []engines.Field {
	if in.Relation.Server == nil {
		return inputFields(in)
	}
	return asTheyCome(inputFields(in), in.Relation, in.Columns)
}

func tooLong(in *plan.Input) error {
	e := pgerr.New(pgerr.ProgramLimitExceeded, "foreign table %q has too many rows to be joined at home in a read-only transaction", in.Relation.Name)
	return pgerr.Hint(e, "There they are written into the statement, up to %d MB. Use a read-write transaction, or narrow the rows by a condition that EXPLAIN shows as remote filter.", spellLimit>>20)
}

// spellRows adds the values of DataRow messages (protocol chapter "Message Formats") in text form.
func spellRows(columns []spelling, frames []byte) {
	for len(frames) > 0 {
		size := 1 + int(binary.BigEndian.Uint32(frames[1:]))
		row := frames[wire.HeaderSize+2 : size]
		for i := range columns {
			n := int32(binary.BigEndian.Uint32(row))
			row = row[4:]
			if n < 0 {
				columns[i].null()
				continue
			}
			columns[i].add(row[:n])
			row = row[n:]
		}
		frames = frames[size:]
	}
}

// spelling is an array literal within an escape string constant (E'{…}'), as far as it is written: that means the same
// whatever standard_conforming_strings says.
type spelling struct {
	text   []byte
	escape bool // nothing but ASCII may stand in the statement
}

func (p *spelling) next() {
	if len(p.text) == 0 {
		p.text = append(p.text, "E'{"...)
	} else {
		p.text = append(p.text, ',')
	}
}

func (p *spelling) null() {
	p.next()
	p.text = append(p.text, "NULL"...)
}

func (p *spelling) add(value []byte) {
	p.next()
	p.text = append(p.text, '"')
	for len(value) > 0 {
		c := value[0]
		switch {
		case c == '\\': // escaped in the array, and each of these in the string
			p.text = append(p.text, `\\\\`...)
		case c == '"':
			p.text = append(p.text, `\\"`...)
		case c == '\'':
			p.text = append(p.text, `''`...)
		case c >= utf8.RuneSelf && p.escape:
			r, n := utf8.DecodeRune(value)
			p.text = appendRune(p.text, r)
			value = value[n:]
			continue
		default:
			p.text = append(p.text, c)
		}
		value = value[1:]
	}
	p.text = append(p.text, '"')
}

// appendRune writes a character as \UXXXXXXXX.
func appendRune(dst []byte, r rune) []byte {
	dst = append(dst, `\U`...)
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[r>>shift&15])
	}
	return dst
}

// literal ends the literal and returns it.
func (p *spelling) literal() string {
	if len(p.text) == 0 {
		return "'{}'"
	}
	p.text = append(p.text, "}'"...)
	return string(p.text)
}
