package clickhouse

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"github.com/sluicedb/sluice/pgerr"
)

// reader reads the protocol's primitives: numbers are little-endian, sizes come in groups of seven bits.
type reader struct {
	*bufio.Reader
	left  int64 // bytes that the block being read may still have
	coded bool  // values of type LowCardinality come with a dictionary
}

// maxBlock bounds the memory that one block may take. maxName bounds names and messages.
const (
	maxBlock = 256 << 20
	maxName  = 1 << 20
)

func (r *reader) size() (uint64, error) {
	v, err := binary.ReadUvarint(r.Reader)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

// count reads a size that stands for so many things in memory.
func (r *reader) count() (int, error) {
	n, err := r.size()
	if err == nil && n > maxBlock {
		err = tooLarge()
	}
	return int(n), err
}

func tooLarge() error {
	return pgerr.Hint(pgerr.New(pgerr.ProgramLimitExceeded, "the foreign server sends more than %d MiB at once", maxBlock>>20),
		`Set option "max_block_size" of the server to fewer rows.`)
}

// spend counts bytes of the block that is read.
func (r *reader) spend(n int) error {
	if r.left -= int64(n); r.left < 0 || n > math.MaxInt32 {
		return tooLarge()
	}
	return nil
}

func (r *reader) text() (string, error) {
	n, err := r.size()
	if err != nil {
		return "", err
	}
	if n > maxName {
		return "", malformed()
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), whole(err)
}

func (r *reader) skip(n int) error {
	_, err := r.Discard(n)
	return whole(err)
}

func (r *reader) int32() (int32, error) {
	var b [4]byte
	_, err := io.ReadFull(r, b[:])
	return int32(binary.LittleEndian.Uint32(b[:])), whole(err)
}

func (r *reader) uint64() (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(r, b[:])
	return binary.LittleEndian.Uint64(b[:]), whole(err)
}

// fill returns n bytes of the block, in buf where they fit.
func (r *reader) fill(buf []byte, n int) ([]byte, error) {
	if err := r.spend(n); err != nil {
		return buf, err
	}
	buf = room(buf, n)
	_, err := io.ReadFull(r, buf)
	return buf, whole(err)
}

// room returns a buffer of n bytes, buf where it is large enough but not far too large.
func room(buf []byte, n int) []byte {
	if cap(buf) < n || cap(buf) > keepCapacity && cap(buf) > 4*n {
		return make([]byte, n, max(n, 64))
	}
	return buf[:n]
}

// whole is what an end within a message means.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendTexts(dst []byte, list ...string) []byte {
	for _, s := range list {
		dst = appendText(dst, s)
	}
	return dst
}

func appendSizes(dst []byte, list ...uint64) []byte {
	for _, n := range list {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}
