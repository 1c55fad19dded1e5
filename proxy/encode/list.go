package encode

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

const (
	codeArraySubscript = "2202E"
	maxDimensions      = 6
)

// list binds one level of an Arrow list to a Postgres array.
type list struct {
	array.ListLike
	inner   *list // of a list of lists
	element bound
	oid     uint32
	quoted  bool // elements may need quotes
}

func bindList(c column) cell {
	l := newList(c, 1)
	if l == nil {
		return nil
	}
	if c.binary {
		return l.appendBinary
	}
	return l.appendText
}

func newList(c column, depth int) *list {
	a, ok := c.array.(array.ListLike)
	if !ok || depth > maxDimensions {
		return nil
	}
	oid := elements[c.field.OID]
	l := &list{ListLike: a, oid: oid, element: newBound(a.ListValues())}
	c.array = a.ListValues()
	if _, nested := c.array.(array.ListLike); nested {
		if l.inner = newList(c, depth+1); l.inner == nil {
			return nil
		}
		return l
	}
	c.field.OID = oid
	if l.element.cell = bindCell(c); l.element.cell == nil {
		return nil
	}
	switch oid {
	case oidBool, oidInt2, oidInt4, oidInt8, oidOID, oidFloat4, oidFloat8, oidNumeric, oidUUID, oidTime, oidTimeTZ:
	default:
		l.quoted = true
	}
	return l
}

// dimensions measures row i by its first elements; none for an array without elements.
func (l *list) dimensions(i int, dims []int) []int {
	from, to := l.ValueOffsets(i)
	if from == to {
		return nil
	}
	dims = append(dims, int(to-from))
	if l.inner == nil {
		return dims
	}
	if l.element.isNull(int(from)) {
		return nil
	}
	return l.inner.dimensions(int(from), dims)
}

// walk calls leaf for each element of row i in order, and open and closed around each sub-array. All sub-arrays of a
// level must be of the same length.
func (l *list) walk(i int, dims []int, open, closed func(), leaf func(null bool, cell cell, at int) error) error {
	from, to := l.ValueOffsets(i)
	if int(to-from) != dims[0] {
		return ragged()
	}
	open()
	for at := int(from); at < int(to); at++ {
		null := l.element.isNull(at)
		if l.inner == nil {
			if err := leaf(null, l.element.cell, at); err != nil {
				return err
			}
			continue
		}
		if null {
			return ragged()
		}
		if err := l.inner.walk(at, dims[1:], open, closed, leaf); err != nil {
			return err
		}
	}
	closed()
	return nil
}

func ragged() error {
	return pgerr.New(codeArraySubscript, "multidimensional arrays must have array expressions with matching dimensions")
}

// measure returns the dimensions of row i; none means an empty array, which must be empty all the way down.
func (l *list) measure(i int) ([]int, error) {
	dims := l.dimensions(i, make([]int, 0, maxDimensions))
	if len(dims) == 0 && !l.isEmpty(i) {
		return nil, ragged()
	}
	return dims, nil
}

func (l *list) isEmpty(i int) bool {
	from, to := l.ValueOffsets(i)
	if from == to {
		return true
	}
	if l.inner == nil {
		return false
	}
	for at := int(from); at < int(to); at++ {
		if l.element.isNull(at) || !l.inner.isEmpty(at) {
			return false
		}
	}
	return true
}

func (l *list) leafQuoted() bool {
	for l.inner != nil {
		l = l.inner
	}
	return l.quoted
}

func (l *list) appendText(dst []byte, i int) ([]byte, error) {
	dims, err := l.measure(i)
	if err != nil || len(dims) == 0 {
		return append(dst, '{', '}'), err
	}
	quoted := l.leafQuoted()
	comma := false
	open := func() {
		if comma {
			dst = append(dst, ',')
		}
		dst, comma = append(dst, '{'), false
	}
	closed := func() { dst, comma = append(dst, '}'), true }
	err = l.walk(i, dims, open, closed, func(null bool, cell cell, at int) error {
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		if null {
			dst = append(dst, "NULL"...)
			return nil
		}
		start := len(dst)
		var err error
		if dst, err = cell(dst, at); err == nil && quoted {
			dst = quoteElement(dst, start)
		}
		return err
	})
	return dst, err
}

// quoteElement puts the element that begins at start into quotes where Postgres would.
func quoteElement(dst []byte, start int) []byte {
	element := dst[start:]
	if len(element) > 0 && !bytes.ContainsAny(element, "{},\"\\ \t\n\r\v\f") && !bytes.EqualFold(element, []byte("NULL")) {
		return dst
	}
	escapes := bytes.Count(element, []byte{'"'}) + bytes.Count(element, []byte{'\\'})
	end := len(dst)
	for range escapes + 2 {
		dst = append(dst, 0)
	}
	dst[len(dst)-1] = '"'
	for from, to := end-1, len(dst)-2; from >= start; from-- {
		b := dst[from]
		dst[to] = b
		to--
		if b == '"' || b == '\\' {
			dst[to] = '\\'
			to--
		}
	}
	dst[start] = '"'
	return dst
}

func (l *list) appendBinary(dst []byte, i int) ([]byte, error) {
	dims, err := l.measure(i)
	if err != nil {
		return dst, err
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(dims)))
	flags := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, l.oid)
	if len(dims) == 0 {
		return dst, nil
	}
	for _, n := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))
		dst = binary.BigEndian.AppendUint32(dst, 1)
	}
	nothing := func() {}
	err = l.walk(i, dims, nothing, nothing, func(null bool, cell cell, at int) error {
		if null {
			dst[flags+3] = 1
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			return nil
		}
		length := len(dst)
		var err error
		if dst, err = cell(append(dst, 0, 0, 0, 0), at); err == nil {
			binary.BigEndian.PutUint32(dst[length:], uint32(len(dst)-length-4))
		}
		return err
	})
	return dst, err
}
