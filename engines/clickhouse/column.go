package clickhouse

import (
	"encoding/binary"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// column is one column of a result. Its buffers are used again for the next block.
type column struct {
	field   engines.Field
	remote  string // type as the server spells it
	postgre string // and as Postgres does
	array   uint32 // OID of the array type
	typ     arrow.DataType
	values  values
}

// values are a column's values in one block.
type values interface {
	// prefix reads what stands before the values of a block that has any, in those of a part before the values of the whole.
	prefix(r *reader) error
	// read takes so many values in, in place of those before.
	read(r *reader, rows int) error
	// data returns them as Arrow data, with a bitmap of which are not NULL (nil: all of them).
	data(rows int, valid []byte) arrow.ArrayData
	// weigh says what a value takes in memory.
	weigh(i int) int
}

// keepCapacity is how large a buffer may be and still be used again for less.
const keepCapacity = 4 * engines.BatchBytes

// readColumn reads a column's name and type.
func readColumn(r *reader) (*column, error) {
	name, err := r.text()
	if err != nil {
		return nil, err
	}
	typ, err := r.text()
	if err != nil {
		return nil, err
	}
	return newColumn(name, typ, 0)
}

// again reads name and type of a column that an earlier block had.
func (c *column) again(r *reader) error {
	name, err := r.text()
	if err != nil {
		return err
	}
	remote, err := r.text()
	if err == nil && remote != c.remote {
		err = pgerr.New(pgerr.FdwInvalidDataType, "column %q became of type %s", name, remote)
	}
	return err
}

// load takes in the column's values of a block.
func (c *column) load(r *reader, rows int) error {
	if rows == 0 {
		return nil
	}
	if err := c.values.prefix(r); err != nil {
		return err
	}
	return c.values.read(r, rows)
}

// header reads how many columns and rows a block has.
func header(r *reader) (columns, rows int, err error) {
	if columns, err = r.count(); err == nil {
		rows, err = r.count()
	}
	return columns, rows, err
}

// deepest is how deep types may nest.
const deepest = 20

// newColumn makes the column for a type; HV004 where it has no counterpart in Postgres.
func newColumn(name, remote string, depth int) (*column, error) {
	whole := parseType(remote)
	t, nullable := whole.plain()
	c := &column{field: engines.Field{Name: name, Typmod: -1}, remote: remote}
	if depth > deepest || !c.scalar(t) && !c.texts(t) && !c.nested(t, depth) {
		return nil, unmapped(name, remote)
	}
	c.wrap(whole, nullable)
	return c, nil
}

// wrap has values come as those of a type do: some of them NULL, or with a dictionary.
func (c *column) wrap(whole typeName, nullable bool) {
	if nullable {
		c.values = &nullables{values: c.values}
	}
	if whole.isCoded() {
		c.values = &coded{values: c.values, nullable: nullable}
	}
}

// declare makes Booleans of numbers where home has a column of these: older servers have no such type, newer ones none for what is said
// of a LowCardinality, and what they compute is 0 or 1.
func (c *column) declare(wanted []engines.Field, i int) {
	whole := parseType(c.remote)
	t, nullable := whole.plain()
	if i >= len(wanted) || wanted[i].OID != oidBool || t.text != "UInt8" {
		return
	}
	c.scalar(parseType("Bool"))
	c.wrap(whole, nullable)
}

func (c *column) scalar(t typeName) bool {
	s, ok := scalarOf(t)
	if !ok {
		return false
	}
	c.field.OID, c.field.Typmod, c.array, c.typ, c.postgre = s.oid, s.typmod, s.array, s.typ, s.name
	c.values = &fixed{scalar: s}
	if s.text != nil {
		c.values = &spelled{fixed: fixed{scalar: s}, chars: chars{typ: s.typ}}
	}
	return true
}

func (c *column) texts(t typeName) bool {
	switch {
	case t.text == "String":
		c.field.OID, c.array, c.typ, c.postgre = oidText, oidTexts, arrow.BinaryTypes.String, "text"
		c.values = &chars{typ: c.typ}
	case t.name == "FixedString" && t.number(0) > 0:
		c.field.OID, c.array, c.typ, c.postgre = oidBytea, oidByteas, arrow.BinaryTypes.Binary, "bytea"
		c.values = &padded{chars{typ: c.typ}, t.number(0)}
	default:
		return false
	}
	return true
}

// fixed are values of one size.
type fixed struct {
	scalar
	raw, out []byte
}

func (f *fixed) read(r *reader, rows int) (err error) {
	if f.raw, err = r.fill(f.raw, rows*f.width); err != nil || f.convert == nil {
		return err
	}
	f.out = room(f.out, rows*f.width*4) // no type becomes wider than that
	f.convert(f.out, f.raw, rows)
	return nil
}

func (f *fixed) prefix(*reader) error { return nil }

func (f *fixed) data(rows int, valid []byte) arrow.ArrayData {
	if f.convert == nil {
		return arrayData(f.typ, rows, valid, f.raw)
	}
	return arrayData(f.typ, rows, valid, f.out)
}

func (f *fixed) weigh(int) int { return max(f.width, 4) }

// chars are values of any length.
type chars struct {
	typ     arrow.DataType
	offsets []byte
	bytes   []byte
}

func (s *chars) begin(rows int) {
	s.offsets = room(s.offsets, 4*(rows+1))
	clear(s.offsets[:4])
	s.bytes = room(s.bytes, 0)
}

// end notes where value i ends.
func (s *chars) end(i int) { binary.LittleEndian.PutUint32(s.offsets[4*(i+1):], uint32(len(s.bytes))) }

func (s *chars) read(r *reader, rows int) error {
	if err := r.spend(4 * rows); err != nil {
		return err
	}
	s.begin(rows)
	for i := range rows {
		n, err := r.count()
		if err == nil {
			err = r.spend(n)
		}
		if err == nil {
			s.bytes, err = appendBytes(s.bytes, r, n)
		}
		if err != nil {
			return err
		}
		s.end(i)
	}
	return nil
}

func (s *chars) prefix(*reader) error { return nil }

func appendBytes(dst []byte, r *reader, n int) ([]byte, error) {
	at := len(dst)
	if at+n > cap(dst) {
		dst = append(make([]byte, 0, max(2*cap(dst), at+n, 512)), dst...)
	}
	dst = dst[:at+n]
	_, err := io.ReadFull(r, dst[at:])
	return dst, whole(err)
}

func (s *chars) data(rows int, valid []byte) arrow.ArrayData {
	return arrayData(s.typ, rows, valid, s.offsets, s.bytes)
}

func (s *chars) weigh(i int) int {
	return 4 + int(binary.LittleEndian.Uint32(s.offsets[4*(i+1):])-binary.LittleEndian.Uint32(s.offsets[4*i:]))
}

// padded are strings of one length.
type padded struct {
	chars
	n int
}

func (p *padded) read(r *reader, rows int) (err error) {
	p.begin(rows)
	for i := range rows {
		binary.LittleEndian.PutUint32(p.offsets[4*(i+1):], uint32((i+1)*p.n))
	}
	p.bytes, err = r.fill(p.bytes, rows*p.n)
	return err
}

// spelled are values of one size that are read as text.
type spelled struct {
	fixed
	chars
}

func (s *spelled) read(r *reader, rows int) error {
	if err := s.fixed.read(r, rows); err != nil {
		return err
	}
	s.begin(rows)
	for i := range rows {
		s.bytes = s.text(s.bytes, s.raw[i*s.width:(i+1)*s.width])
		s.end(i)
	}
	return r.spend(len(s.bytes))
}

func (s *spelled) data(rows int, valid []byte) arrow.ArrayData { return s.chars.data(rows, valid) }
func (s *spelled) prefix(*reader) error                        { return nil }
func (s *spelled) weigh(i int) int                             { return s.chars.weigh(i) }

// nullables are values of which some are NULL.
type nullables struct {
	values
	mask, valid []byte
}

func (n *nullables) read(r *reader, rows int) (err error) {
	if n.mask, err = r.fill(n.mask, rows); err != nil {
		return err
	}
	n.valid = room(n.valid, (rows+7)/8)
	clear(n.valid)
	for i, null := range n.mask {
		if null == 0 {
			n.valid[i/8] |= 1 << (i % 8)
		}
	}
	return n.values.read(r, rows)
}

func (n *nullables) data(rows int, _ []byte) arrow.ArrayData { return n.values.data(rows, n.valid) }

// arrayData wraps buffers as Arrow data.
func arrayData(t arrow.DataType, rows int, valid []byte, buffers ...[]byte) arrow.ArrayData {
	all := make([]*memory.Buffer, 1, len(buffers)+1)
	nulls := 0
	if valid != nil {
		all[0], nulls = memory.NewBufferBytes(valid), array.UnknownNullCount
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(t, rows, all, nil, nulls, 0)
}
