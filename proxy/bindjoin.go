package proxy

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// An input whose keys restrict another one is held whole, up to so much.
const (
	bindRows  = 10_000
	bindBytes = 4 << 20
)

// bind reads the inputs whose keys may restrict others, those of home or those of engines, and has the others asked for the
// rows with these keys alone. What was read is what the feed yields first.
func (s *Session) bind(ctx context.Context, x *execution, f *federatedStream, ofHome bool) error {
	for _, b := range x.plan.Binds {
		from := &x.plan.Inputs[b.From]
		if (from.Server == nil) != ofHome {
			continue
		}
		p, err := f.prefix(ctx, b.From)
		if err != nil {
			return err
		}
		keys, err := p.keys(b)
		if err != nil {
			return err
		}
		if keys == nil {
			continue
		}
		to := &x.plan.Inputs[b.To]
		text := spellKeys(keys, to.Arrays)
		if f.bound[b.To] = &text; to.Server != nil {
			if f.open[b.To], err = s.remoteFeed(ctx, x, to, &text); err != nil {
				return err
			}
		}
	}
	return nil
}

// prefix reads the first rows of an input, once, and has its first scan begin with them.
func (f *federatedStream) prefix(ctx context.Context, input int) (*prefix, error) {
	if p := f.prefixes[input]; p != nil {
		return p, nil
	}
	open := f.open[input]
	rest, err := open(ctx)
	if err != nil {
		return nil, err
	}
	p := &prefix{Stream: rest}
	f.prefixes[input] = p
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	f.open[input] = func(ctx context.Context) (engines.Stream, error) {
		if p.opened.Swap(true) { // of two scans of one input the second is a stream of its own
			return open(ctx)
		}
		return p, nil
	}
	return p, nil
}

// read holds the rows of the stream up to the bounds.
func (p *prefix) read(ctx context.Context) error {
	rows, bytes := 0, 0
	for rows <= bindRows && bytes <= bindBytes {
		batch, err := p.Stream.Next(ctx)
		if err == io.EOF && ctx.Err() == nil {
			p.whole = true
			return nil
		}
		if err != nil {
			return err
		}
		held, size, err := hold(batch)
		if err != nil {
			return err
		}
		p.held = append(p.held, held)
		rows, bytes = rows+batch.NumRows(), bytes+size
	}
	return nil
}

// hold copies a batch, which is valid only until the next.
func hold(batch engines.Batch) (engines.Batch, int, error) {
	switch b := batch.(type) {
	case engines.Frames:
		return engines.Frames{Data: slices.Clone(b.Data), Rows: b.Rows}, len(b.Data), nil
	case engines.Columns:
		size := 0
		columns := make([]arrow.Array, b.Record.NumCols())
		for i, c := range b.Record.Columns() {
			own, err := array.Concatenate([]arrow.Array{c, array.MakeArrayOfNull(memory.DefaultAllocator, c.DataType(), 0)}, memory.DefaultAllocator)
			if err != nil {
				return nil, 0, pgerr.From(err)
			}
			columns[i] = own
			size += int(own.Data().SizeInBytes())
		}
		return engines.Columns{Record: array.NewRecordBatch(b.Record.Schema(), columns, b.Record.NumRows())}, size, nil
	default:
		return nil, 0, pgerr.New(pgerr.InternalError, "a batch of unknown form %T", batch)
	}
}

// keys returns the distinct keys of the rows held, nil where these are not all.
func (p *prefix) keys(b plan.Bind) ([]string, error) {
	if !p.whole {
		return nil, nil
	}
	seen, list := map[string]bool{}, []string{}
	add := func(key string) {
		if !seen[key] {
			seen[key] = true
			list = append(list, key)
		}
	}
	for _, batch := range p.held {
		var err error
		switch v := batch.(type) {
		case engines.Frames:
			err = frameKeys(v, b, add)
		case engines.Columns:
			err = columnKeys(v.Record.Column(b.Column), add)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func columnKeys(c arrow.Array, add func(string)) error {
	for i := range c.Len() {
		if c.IsNull(i) {
			continue
		}
		switch c := c.(type) {
		case *array.Int16, *array.Int32, *array.Int64, *array.String:
			add(c.ValueStr(i))
		default:
			return pgerr.New(pgerr.InternalError, "a key of type %s came", c.DataType())
		}
	}
	return nil
}

// frameKeys reads one field of DataRow messages in binary form.
func frameKeys(f engines.Frames, b plan.Bind, add func(string)) error {
	for data := f.Data; len(data) > 0; {
		row := data[wire.HeaderSize+2:]
		data = data[skipFrames(data, 0, 1):]
		for i := 0; ; i++ {
			n := int(int32(binary.BigEndian.Uint32(row)))
			row = row[4:]
			if i == b.Column {
				if n >= 0 {
					add(keyText(row[:n], b.Type))
				}
				break
			}
			row = row[max(n, 0):]
		}
	}
	return nil
}

func keyText(v []byte, oid uint32) string {
	switch oid {
	case 20:
		return strconv.FormatInt(int64(binary.BigEndian.Uint64(v)), 10)
	case 21:
		return strconv.Itoa(int(int16(binary.BigEndian.Uint16(v))))
	case 23:
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(v))))
	}
	return string(v)
}

// spellKeys writes keys as an array of a Postgres, or of JSON, whose strings are read as numbers where these are asked for.
func spellKeys(keys []string, postgres bool) string {
	if !postgres {
		text, _ := json.Marshal(keys) // strings always have a form
		return string(text)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + arrayEscape.Replace(k) + `"`)
	}
	b.WriteByte('}')
	return b.String()
}

var arrayEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
