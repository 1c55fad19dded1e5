package clickhouse

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// nested makes columns of types that have others in them: arrays, and what becomes JSON.
func (c *column) nested(t typeName, depth int) bool {
	switch {
	case t.name == "Array" && len(t.args) == 1:
		return c.list(t, depth)
	case t.name == "Tuple" && len(t.args) > 0:
		object := newObject(t.args, depth)
		if object == nil {
			return false
		}
		c.json(object)
	case t.name == "Map" && len(t.args) == 2:
		pair := newObject(t.args, depth)
		if pair == nil {
			return false
		}
		c.json(&dictionary{pair: pair})
	case t.name == "Nested" && len(t.args) > 0:
		return c.list(parseType("Array(Tuple("+t.text[len("Nested("):]+")"), depth)
	case t.name == "JSON":
		c.json(nil)
		c.values = &written{chars{typ: c.typ}}
	case t.text == "Point":
		return c.nested(parseType("Tuple(Float64, Float64)"), depth)
	default:
		return false
	}
	return true
}

func (c *column) json(of documents) {
	c.field.OID, c.array, c.typ, c.postgre = oidJSONB, oidJSONBs, arrow.BinaryTypes.String, "jsonb"
	c.values = &json{chars: chars{typ: c.typ}, documents: of}
}

// list makes a column of arrays. An array of arrays has the same type in Postgres.
func (c *column) list(t typeName, depth int) bool {
	child, err := newColumn(c.field.Name, t.args[0], depth+1)
	if err != nil {
		return false
	}
	c.field.OID, c.field.Typmod, c.array = child.array, child.field.Typmod, child.array
	c.typ, c.postgre = arrow.ListOf(child.typ), child.postgre
	if len(c.postgre) < 2 || c.postgre[len(c.postgre)-2:] != "[]" {
		c.postgre += "[]"
	}
	c.values = &lists{typ: c.typ, child: child}
	return true
}

// lists are arrays: where each ends, and all elements one after another.
type lists struct {
	typ     arrow.DataType
	child   *column
	raw     []byte
	offsets []byte
	total   int
}

func (l *lists) read(r *reader, rows int) (err error) {
	if l.raw, err = r.fill(l.raw, 8*rows); err != nil {
		return err
	}
	l.offsets = room(l.offsets, 4*(rows+1))
	clear(l.offsets[:4])
	last := uint64(0)
	for i := range rows {
		next := binary.LittleEndian.Uint64(l.raw[8*i:])
		if next < last {
			return malformed()
		}
		if next > maxBlock {
			return tooLarge()
		}
		binary.LittleEndian.PutUint32(l.offsets[4*(i+1):], uint32(next))
		last = next
	}
	l.total = int(last)
	return l.child.values.read(r, l.total)
}

func (l *lists) prefix(r *reader) error { return l.child.values.prefix(r) }

// span returns the elements of array i.
func (l *lists) span(i int) (from, to int) {
	return int(binary.LittleEndian.Uint32(l.offsets[4*i:])), int(binary.LittleEndian.Uint32(l.offsets[4*(i+1):]))
}

func (l *lists) data(rows int, valid []byte) arrow.ArrayData {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(l.offsets)}
	nulls := 0
	if valid != nil {
		buffers[0], nulls = memory.NewBufferBytes(valid), array.UnknownNullCount
	}
	return array.NewData(l.typ, rows, buffers, []arrow.ArrayData{l.child.values.data(l.total, nil)}, nulls, 0)
}

func (l *lists) weigh(i int) int {
	from, to := l.span(i)
	size := 4
	for k := from; k < to; k++ {
		size += l.child.values.weigh(k)
	}
	return size
}
