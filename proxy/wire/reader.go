package wire

import (
	"encoding/binary"
	"io"

	"github.com/sluicedb/sluice/pgerr"
)

// HeaderSize is the size in bytes of a frame's header: its type and its length word.
const HeaderSize = 5

// MaxFrame is the largest frame that a Postgres accepts (1 GiB - 1, MaxAllocSize).
const MaxFrame = 0x3fffffff

// A buffer begins small, so that a thousand idle sessions hold little; grows where reads fill it; and is let go when it
// is empty and has grown beyond its size, or was not needed for some reads.
const (
	keepBuffer  = 64 << 10
	smallBuffer = 1 << 10
	smallReads  = 8
)

// Reader walks the frames of one side. Walked frames stay in the buffer until Take hands them out as one run, so that
// a relay writes many frames with one system call. It is used by one goroutine.
type Reader struct {
	// BeforeRead is called before any read that may block, with the walked run not yet taken. It is where a relay
	// forwards the run.
	BeforeRead func() error

	src   io.Reader
	size  int  // that a buffer has where much is read
	full  bool // the last read filled the buffer
	small int  // reads in a row that a small buffer would have held
	buf   []byte
	start int // first byte not taken
	pos   int // first byte not walked
	end   int // end of what was read
}

// NewReader returns a Reader over src with a buffer of size bytes; left is what was read from src before.
func NewReader(src io.Reader, size int, left []byte) *Reader {
	r := &Reader{src: src, size: size, buf: make([]byte, max(min(size, smallBuffer), len(left)))}
	r.end = copy(r.buf, left)
	return r
}

// Take returns the run of bytes that were walked and not taken, valid until the next call.
func (r *Reader) Take() []byte {
	run := r.buf[r.start:r.pos]
	r.start = r.pos
	return run
}

// ErrLength is a length word that no Postgres accepts.
var ErrLength error = pgerr.New(pgerr.ProtocolViolation, "invalid message length")

// Header returns the type of the next frame and its whole size, header included, without walking it. Lengths that no
// Postgres accepts are ErrLength.
func (r *Reader) Header() (typ byte, size int, err error) {
	for r.end-r.pos < HeaderSize {
		if err := r.read(); err != nil {
			return 0, 0, err
		}
	}
	typ = r.buf[r.pos]
	n := binary.BigEndian.Uint32(r.buf[r.pos+1:])
	if n < 4 || n > MaxFrame {
		return typ, 0, ErrLength
	}
	return typ, int(n) + 1, nil
}

// Next returns the type of the next frame if its whole header is there without a read, else 0.
func (r *Reader) Next() byte {
	if r.end-r.pos < HeaderSize {
		return 0
	}
	return r.buf[r.pos]
}

// Frame returns the next size bytes, as Header gave them, without walking them. The buffer grows as bytes arrive,
// never ahead of them. Valid until the next call.
func (r *Reader) Frame(size int) ([]byte, error) {
	for r.end-r.pos < size {
		if err := r.read(); err != nil {
			return nil, unexpected(err)
		}
	}
	return r.buf[r.pos : r.pos+size], nil
}

// Prefix returns up to n of the next frame's size bytes without walking them: fewer only if the frame is shorter.
func (r *Reader) Prefix(n, size int) ([]byte, error) { return r.Frame(min(n, size)) }

// Walk steps over size bytes, which stay for Take. Bytes that are not there yet are read and handed to BeforeRead as
// they come, so that a frame of any size passes through a small buffer.
func (r *Reader) Walk(size int) error {
	for {
		n := min(size, r.end-r.pos)
		r.pos += n
		size -= n
		if size == 0 {
			return nil
		}
		if err := r.read(); err != nil {
			return unexpected(err)
		}
	}
}

// Drop steps over size bytes that must not be forwarded. What was walked before must have been taken.
func (r *Reader) Drop(size int) error {
	for {
		n := min(size, r.end-r.pos)
		r.pos += n
		r.start = r.pos
		size -= n
		if size == 0 {
			return nil
		}
		if err := r.read(); err != nil {
			return unexpected(err)
		}
	}
}

// read reads at least one byte behind end, after BeforeRead has taken the walked run.
func (r *Reader) read() error {
	if r.BeforeRead != nil {
		if err := r.BeforeRead(); err != nil {
			return err
		}
	}
	r.makeRoom()
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	r.full = r.end == len(r.buf)
	if r.small++; r.end > smallBuffer {
		r.small = 0
	}
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

func (r *Reader) makeRoom() {
	if r.start == r.end {
		r.start, r.pos, r.end = 0, 0, 0
		switch {
		case len(r.buf) > keepBuffer:
			r.buf = make([]byte, r.size)
		case r.full && len(r.buf) < r.size:
			r.buf = make([]byte, min(4*len(r.buf), r.size))
		case r.small >= smallReads && len(r.buf) > smallBuffer:
			r.buf = make([]byte, min(r.size, smallBuffer))
		}
		return
	}
	if r.end < len(r.buf) {
		return
	}
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
	} else {
		bigger := make([]byte, 2*len(r.buf))
		copy(bigger, r.buf[:r.end])
		r.buf = bigger
	}
	r.pos -= r.start
	r.end -= r.start
	r.start = 0
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
