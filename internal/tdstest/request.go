package tdstest

import (
	"encoding/binary"
	"errors"
)

var errRequest = errors.New("a request cannot be read")

// cursor reads parts of a message. What is beyond its end is zero, and bad is true then.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.bad = true
		return make([]byte, 8)
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) byte() int   { return int(c.take(1)[0]) }
func (c *cursor) uint16() int { return int(binary.LittleEndian.Uint16(c.take(2))) }
func (c *cursor) uint32() int { return int(binary.LittleEndian.Uint32(c.take(4))) }

// request reads a batch (2.2.6.7), or a call of sp_executesql (2.2.6.6) with the values of its parameters.
func request(m message) (sql string, args []*string, err error) {
	c := &cursor{rest: m.body}
	c.take(c.uint32() - 4) // headers
	if m.kind == sqlBatch {
		return fromUCS2(c.rest), nil, nil
	}
	const numbered, executeSQL = 0xffff, 10
	if m.kind != rpc || c.uint16() != numbered || c.uint16() != executeSQL {
		return "", nil, errRequest
	}
	c.uint16() // options
	var values []*string
	for len(c.rest) > 0 && !c.bad {
		values = append(values, c.parameter())
	}
	if c.bad || len(values) < 2 || values[0] == nil {
		return "", nil, errRequest
	}
	return *values[0], values[2:], nil // behind the statement and the declarations
}

// parameter reads one that is a text, or NULL.
func (c *cursor) parameter() *string {
	c.take(2 * c.byte())
	c.byte() // status
	switch c.byte() {
	case 0x1f: // NULLTYPE
		return nil
	case 0xe7: // NVARCHARTYPE
	default:
		c.bad = true
		return nil
	}
	most := c.uint16()
	c.take(5) // collation
	if most == 0xffff {
		return c.parts()
	}
	n := c.uint16()
	if n == 0xffff {
		return nil
	}
	text := fromUCS2(c.take(n))
	return &text
}

// parts reads a text that comes in parts (2.2.5.2.3).
func (c *cursor) parts() *string {
	if binary.LittleEndian.Uint64(c.take(8)) == 1<<64-1 {
		return nil
	}
	var all []byte
	for n := c.uint32(); n > 0 && !c.bad; n = c.uint32() {
		all = append(all, c.take(n)...)
	}
	text := fromUCS2(all)
	return &text
}
