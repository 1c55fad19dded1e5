package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/proxy/encode"
	"github.com/sluicedb/sluice/proxy/wire"
)

// longestStatement is how many characters the text of a statement may have that rows stand in: what a Trino takes where nobody has set
// query.max-length.
const longestStatement = 1_000_000

// errUnsendable says that rows are too many to stand in a statement's text, or that a value cannot.
var errUnsendable = errors.New("rows that a statement cannot have in its text")

// sendValues reads the inputs whose rows stand in the text of the statement that a server gets, and has x run that text. Where they
// cannot stand there, it has x run as it would without sluice.federation_server.
func (s *Session) sendValues(ctx context.Context, x *execution, observe observer) error {
	if x.plan == nil || !x.plan.Sends() {
		return nil
	}
	sql, err := s.withValues(ctx, x, observe)
	if s.home.failed() {
		return err
	}
	if cerr := s.closeUnread(ctx); err == nil {
		err = cerr
	}
	if err == errUnsendable || dataException(err) { // others have the last word about values
		return s.planWithout(ctx, x)
	}
	if err == nil {
		sent := *x.plan // plans are shared
		sent.RemoteSQL, sent.Inputs = sql, nil
		x.plan = &sent
	}
	return err
}

// planWithout plans a statement anew without the server that joins.
func (s *Session) planWithout(ctx context.Context, x *execution) error {
	req := x.request
	req.Federation, req.Facts = nil, s.askFacts(ctx, x.facts.User)
	var err error
	if x.plan, err = s.build(req, x); err == nil {
		err = s.checkPrivileges(ctx, x, &req)
	}
	return err
}

// withValues returns the text of a statement with the rows in it.
func (s *Session) withValues(ctx context.Context, x *execution, observe observer) (string, error) {
	streams, err := s.openSent(ctx, x)
	defer func() {
		for _, stream := range streams {
			if stream != nil {
				_ = stream.Close() // what was wrong has been said
			}
		}
	}()
	if err != nil {
		return "", err
	}
	d, err := dialect.Of(x.plan.Server)
	if err != nil {
		return "", err
	}
	v := &values{dialect: d}
	v.rows, v.left = plan.MostValues(x.plan.Server)
	var pairs []string
	for i := range streams {
		if observe != nil {
			streams[i] = observe(i, streams[i])
		}
		text, err := v.read(ctx, &x.plan.Inputs[i], streams[i])
		if err != nil {
			return "", err
		}
		pairs = append(pairs, x.plan.Values(i), text)
	}
	sql := strings.NewReplacer(pairs...).Replace(x.plan.RemoteSQL)
	if utf8.RuneCountInString(dialect.Declared(x.plan.Server, sql)) > longestStatement {
		return "", errUnsendable
	}
	return sql, nil
}

// openSent opens the inputs, those of home in one snapshot.
func (s *Session) openSent(ctx context.Context, x *execution) ([]engines.Stream, error) {
	streams := make([]engines.Stream, len(x.plan.Inputs))
	var ofHome []int
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		if in.Server == nil {
			ofHome = append(ofHome, i)
			continue
		}
		stream, err := s.openStream(ctx, x, x.inputQuery(in, []int16{encode.Binary}))
		if err != nil {
			return streams, err
		}
		streams[i] = stream
	}
	home, err := s.openInputs(ctx, x, ofHome, nil)
	for i, h := range home {
		streams[ofHome[i]] = h
	}
	return streams, err
}

// values writes rows as VALUES of texts, which the statement casts.
type values struct {
	dialect dialect.Dialect
	rows    int64 // that an input may have
	left    int64 // bytes that all may have together
}

// read writes the rows of a stream; errUnsendable where they cannot be sent.
func (v *values) read(ctx context.Context, in *plan.Input, stream engines.Stream) (string, error) {
	if formats, ok := framesOf(stream); ok && slices.Contains(formats, encode.Text) {
		return "", errUnsendable
	}
	fields := inputFields(in)
	var encoder *encode.Encoder
	var b strings.Builder
	var frames []byte
	for rows := int64(0); ; {
		batch, err := stream.Next(ctx)
		switch {
		case err == io.EOF && ctx.Err() == nil && rows == 0:
			return "SELECT " + strings.Repeat("NULL, ", len(fields)-1) + "NULL WHERE false", nil
		case err == io.EOF && ctx.Err() == nil:
			return "VALUES " + strings.TrimSuffix(b.String(), ", "), nil
		case err != nil:
			return "", err
		}
		if rows += int64(batch.NumRows()); rows > v.rows {
			return "", errUnsendable
		}
		switch r := batch.(type) {
		case engines.Frames:
			frames = r.Data
		case engines.Columns:
			if encoder == nil {
				encoder, err = encode.New(fields, []int16{encode.Binary}, stream.Fields(), encode.Home)
			}
			if err == nil {
				frames, err = encoder.Append(frames[:0], r.Record, 0, r.NumRows())
			}
			if err != nil {
				return "", err
			}
		}
		if !v.add(&b, fields, frames) {
			return "", errUnsendable
		}
	}
}

// add writes the rows of DataRow messages (protocol chapter "Message Formats") in binary form.
func (v *values) add(b *strings.Builder, fields []engines.Field, frames []byte) bool {
	for len(frames) > 0 {
		size := 1 + int(binary.BigEndian.Uint32(frames[1:]))
		row := frames[wire.HeaderSize+2 : size]
		from := b.Len()
		for i := range fields {
			b.WriteString([]string{"(", ", "}[min(i, 1)])
			n := int32(binary.BigEndian.Uint32(row))
			if row = row[4:]; n < 0 {
				b.WriteString("NULL")
				continue
			}
			text, ok := valueText(fields[i].OID, row[:n])
			if !ok {
				return false
			}
			b.WriteString(v.dialect.Literal(text))
			row = row[n:]
		}
		b.WriteString("), ")
		if v.left -= int64(b.Len() - from); v.left < 0 {
			return false
		}
		frames = frames[size:]
	}
	return true
}
