package postgres

import (
	"encoding/binary"
	"io"

	"github.com/sluicedb/sluice/engines"
)

// A buffer begins small, for a point lookup needs no more; grows where reads fill it; and grows beyond bufferSize only
// for a single frame that is larger, as its bytes arrive.
const (
	smallBuffer = 8 << 10
	bufferSize  = 256 << 10
	headerSize  = 5
	maxFrame    = 0x3fffffff
)

// reader reads frames of the backend.
type reader struct {
	src      io.Reader
	buf      []byte
	pos, end int
	full     bool // the last read filled the buffer
}

// frame returns the next frame, header included. It is valid until the next call.
func (r *reader) frame() (typ byte, frame []byte, err error) {
	for {
		if size, ok := r.whole(); ok {
			frame = r.buf[r.pos : r.pos+size]
			r.pos += size
			return frame[0], frame, nil
		}
		if err := r.read(); err != nil {
			return 0, nil, err
		}
	}
}

// rows returns the run of whole DataRow frames that begins here, no more than a batch should have, and how many they are;
// none where another frame comes first. It waits for a first frame only.
func (r *reader) rows() (data []byte, n int, err error) {
	for {
		start, size := r.pos, 0
		for r.pos < r.end && r.buf[r.pos] == 'D' {
			next, ok := r.whole()
			if !ok || n > 0 && size+next > engines.BatchBytes {
				break
			}
			r.pos += next
			size += next
			n++
		}
		if n > 0 {
			return r.buf[start:r.pos], n, nil
		}
		if r.pos < r.end && r.buf[r.pos] != 'D' {
			return nil, 0, nil
		}
		if err := r.read(); err != nil {
			return nil, 0, err
		}
	}
}

// whole returns the size of the next frame if all of it is there.
func (r *reader) whole() (int, bool) {
	if r.end-r.pos < headerSize {
		return 0, false
	}
	size := 1 + int(binary.BigEndian.Uint32(r.buf[r.pos+1:]))
	return size, size <= r.end-r.pos
}

func (r *reader) read() error {
	if r.end-r.pos >= headerSize {
		if n := binary.BigEndian.Uint32(r.buf[r.pos+1:]); n < 4 || n > maxFrame {
			return malformed()
		}
	}
	r.makeRoom()
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	r.full = r.end == len(r.buf)
	switch {
	case n > 0:
		return nil
	case err == nil:
		return io.ErrNoProgress
	default:
		return err
	}
}

// makeRoom leaves room for a read behind end. What it moves has not been given out: a batch is over with the next call.
func (r *reader) makeRoom() {
	left := r.end - r.pos
	size := max(len(r.buf), smallBuffer)
	switch {
	case left == len(r.buf) && left > 0: // one frame is larger than the buffer
		size = 2 * left
	case len(r.buf) > bufferSize && left < bufferSize/2:
		size = bufferSize
	case r.full && size < bufferSize:
		size = min(4*size, bufferSize)
	}
	if size != len(r.buf) {
		bigger := make([]byte, size)
		copy(bigger, r.buf[r.pos:r.end])
		r.buf = bigger
	} else if r.pos > 0 {
		copy(r.buf, r.buf[r.pos:r.end])
	} else {
		return
	}
	r.pos, r.end = 0, left
}

// rest lets go of a buffer while nothing is expected.
func (r *reader) rest() {
	if r.pos == r.end {
		r.pos, r.end, r.full = 0, 0, false
		if len(r.buf) > smallBuffer {
			r.buf = nil
		}
	}
}
