package keep

import (
	"encoding/binary"
	"math"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Batch is some rows, whose values are texts as home writes them under ISO dates and UTC.
type Batch struct {
	columns int
	data    []byte
	ends    []int // of each value in data
	null    []bool
}

// Rows is how many there are.
func (b *Batch) Rows() int { return len(b.ends) / b.columns }

// Size is about what they take in memory.
func (b *Batch) Size() int { return len(b.data) + 9*len(b.ends) }

// Value returns one, nil for NULL. It is valid until Sink.Write returns.
func (b *Batch) Value(row, column int) []byte {
	i := row*b.columns + column
	if b.null[i] {
		return nil
	}
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.data[from:b.ends[i]:b.ends[i]]
}

// emptiedSize is how large buffers may be that are used again.
const emptiedSize = 4 * engines.BatchBytes

func (b *Batch) empty() {
	if cap(b.data) > emptiedSize {
		b.data = nil
	}
	b.data, b.ends, b.null = b.data[:0], b.ends[:0], b.null[:0]
}

// add takes one DataRow message (type, length, number of fields, each field's length and bytes) off the front of frames.
func (b *Batch) add(frames []byte) (rest []byte, err error) {
	if len(frames) < 7 || frames[0] != 'D' {
		return nil, malformed()
	}
	size := 1 + int64(binary.BigEndian.Uint32(frames[1:]))
	if size < 7 || size > int64(len(frames)) || int(binary.BigEndian.Uint16(frames[5:])) != b.columns {
		return nil, malformed()
	}
	row := frames[7:size]
	for range b.columns {
		if len(row) < 4 {
			return nil, malformed()
		}
		n := binary.BigEndian.Uint32(row)
		row = row[4:]
		if n == math.MaxUint32 {
			n = 0
			b.null = append(b.null, true)
		} else {
			b.null = append(b.null, false)
		}
		if int64(n) > int64(len(row)) {
			return nil, malformed()
		}
		b.data = append(b.data, row[:n]...)
		b.ends = append(b.ends, len(b.data))
		row = row[n:]
	}
	return frames[size:], nil
}

func malformed() error { return pgerr.New(pgerr.ProtocolViolation, "malformed rows are to be kept") }
