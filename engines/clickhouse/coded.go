package clickhouse

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/sluicedb/sluice/pgerr"
)

// coded are values of a type LowCardinality, which come as they are, or, where the reader says so, as the different ones among them
// and for each row the place of its value there.
type coded struct {
	values
	nullable bool // the value in place 0 is NULL
	plain    []byte
	again    bytes.Reader
	reread   reader
}

// dictionaryVersion is the only one there is.
const dictionaryVersion = 1

// Flags of a part of coded values, beside how wide its places are.
const (
	sharedKeys = 1 << 8 // some values stand in a dictionary that was sent before: not in answers
	ownKeys    = 1 << 9
	widthMask  = 3
)

func (c *coded) prefix(r *reader) error {
	if !r.coded {
		return nil
	}
	version, err := r.uint64()
	if err == nil && version != dictionaryVersion {
		err = unknownCoding()
	}
	return err
}

func unknownCoding() error {
	return pgerr.New(pgerr.FeatureNotSupported, "the foreign server sends LowCardinality in a form that is not known")
}

// read turns coded values into what they would be like as they are, and reads that.
func (c *coded) read(r *reader, rows int) error {
	if !r.coded || rows == 0 {
		return c.values.read(r, rows)
	}
	c.plain = c.plain[:0]
	if c.nullable {
		c.plain = append(room(c.plain, rows)[:0], make([]byte, rows)...)
	}
	for done := 0; done < rows; {
		n, err := c.part(r, done, rows-done)
		if err != nil {
			return err
		}
		done += n
	}
	c.again.Reset(c.plain)
	if c.reread.Reader == nil {
		c.reread.Reader = bufio.NewReader(&c.again)
	}
	c.reread.Reset(&c.again)
	c.reread.left = r.left
	err := c.values.read(&c.reread, rows)
	r.left = c.reread.left
	return err
}

// part adds the values of some rows, from the given one on, and says how many they were.
func (c *coded) part(r *reader, row, most int) (int, error) {
	flags, err := r.uint64()
	if err == nil && (flags&sharedKeys != 0 || flags&ownKeys == 0 || flags&0xff > widthMask) {
		err = unknownCoding()
	}
	if err != nil {
		return 0, err
	}
	keys, err := c.keys(r)
	if err != nil {
		return 0, err
	}
	n, err := r.uint64()
	if err == nil && (n == 0 || n > uint64(most)) {
		err = malformed()
	}
	if err != nil {
		return 0, err
	}
	width := 1 << (flags & widthMask)
	places, err := r.fill(nil, int(n)*width)
	if err != nil {
		return 0, err
	}
	var wide [8]byte
	for i := range int(n) {
		copy(wide[:], places[i*width:(i+1)*width])
		place := binary.LittleEndian.Uint64(wide[:])
		if place >= uint64(len(keys)) {
			return 0, malformed()
		}
		if err := r.spend(len(keys[place])); err != nil {
			return 0, err
		}
		if c.nullable && place == 0 {
			c.plain[row+i] = 1
		}
		c.plain = append(c.plain, keys[place]...)
	}
	return int(n), nil
}

// keys reads the different values, each as it came.
func (c *coded) keys(r *reader) ([][]byte, error) {
	n, err := r.uint64()
	if err == nil && n > maxBlock {
		err = tooLarge()
	}
	if err == nil {
		err = r.spend(24 * int(n)) // what a slice of them takes
	}
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, n)
	for i := range keys {
		if keys[i], err = c.key(r); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func (c *coded) key(r *reader) ([]byte, error) {
	width := widthOf(c.values)
	if width > 0 {
		return r.fill(nil, width)
	}
	n, err := r.count()
	if err == nil {
		err = r.spend(n + binary.MaxVarintLen32)
	}
	if err != nil {
		return nil, err
	}
	key := binary.AppendUvarint(make([]byte, 0, n+binary.MaxVarintLen32), uint64(n))
	at := len(key)
	key = key[:at+n]
	_, err = io.ReadFull(r, key[at:])
	return key, whole(err)
}

// widthOf is how many bytes a value takes as it comes, 0 for any number.
func widthOf(v values) int {
	switch v := v.(type) {
	case *nullables:
		return widthOf(v.values)
	case *fixed:
		return v.width
	case *spelled:
		return v.width
	case *padded:
		return v.n
	}
	return 0
}
