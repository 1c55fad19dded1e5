package duckdb

import (
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
)

// column turns the vectors of one result column into Arrow arrays. Buffers that are not DuckDB's own are the column's
// and are used again for each batch.
type column struct {
	field  engines.Field
	typ    arrow.DataType
	width  int                                                  // bytes that a value takes in a batch, without what strings and lists hold
	build  func(c *column, lo, hi int) (arrow.ArrayData, error) // rows [lo, hi) of the vector
	weigh  func(c *column, i int) int                           // bytes that row i holds beyond width, nil for none
	child  *column                                              // of a list
	size   int                                                  // of a fixed-size list
	labels []string                                             // of an enum

	vector
	values  []byte
	wide    []uint64
	offsets []int32
}

// take points the column, and a list's child, at a chunk's vector.
func (c *column) take(v vector) {
	c.vector = v
	switch {
	case c.child == nil:
	case c.size > 0:
		c.child.take(vectorOf(bindings.ArrayVectorGetChild(v.handle), v.rows*c.size))
	default:
		c.child.take(vectorOf(bindings.ListVectorGetChild(v.handle), int(bindings.ListVectorGetSize(v.handle))))
	}
}

// data wraps buffers as the Arrow data of rows [lo, hi). The validity is DuckDB's own bitmap, and buffers hold the
// vector from its row 0 on.
func (c *column) array(lo, hi int, buffers ...[]byte) arrow.ArrayData {
	all := make([]*memory.Buffer, 1, len(buffers)+1)
	nulls := 0
	if c.valid != nil {
		all[0] = memory.NewBufferBytes(raw(c.valid, (c.rows+63)/64*8))
		nulls = array.UnknownNullCount
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(c.typ, hi-lo, all, nil, nulls, lo)
}

// ownValues returns the column's own buffer with room for rows up to hi.
func (c *column) ownValues(hi, width int) []byte {
	need := (hi*width + 7) / 8
	if cap(c.wide) < need {
		c.wide = make([]uint64, max(need, chunkRows*width/8))
	}
	return bytesOf(c.wide[:cap(c.wide)])[:hi*width]
}

// chunkRows is how many rows DuckDB puts into one chunk at most.
const chunkRows = 2048

// keepCapacity is how large a buffer of a column may be and still be used for the next batch.
const keepCapacity = 4 * engines.BatchBytes

func nullData(n int) arrow.ArrayData { return array.NewNull(n).Data() }
