package encode

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/proxy/wire"
)

// CopyHeader is what a COPY BINARY stream begins with, as one CopyData message: signature, flags, and no extension.
var CopyHeader = []byte("d\x00\x00\x00\x17PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// CopyTrailer is what a COPY BINARY stream ends with, as one CopyData message.
var CopyTrailer = []byte("d\x00\x00\x00\x06\xff\xff")

// copyMessage is the size that a CopyData message aims at. Home cares for the stream of bytes only, not for where
// messages begin, and few large messages cost it less than one for each row.
const copyMessage = 32 << 10

// AppendCopy adds CopyData messages that hold rows [row0, row0+n) of rec as tuples of COPY BINARY. All formats must be
// Binary. On an error it returns dst with the whole rows that came before the one that failed.
func (e *Encoder) AppendCopy(dst []byte, rec arrow.RecordBatch, row0, n int) ([]byte, error) {
	if err := e.bind(rec, false); err != nil {
		return dst, err
	}
	for row, end := row0, row0+n; row < end; {
		start := len(dst)
		dst = append(dst, 'd', 0, 0, 0, 0)
		var err error
		for row < end && len(dst)-start < copyMessage && err == nil {
			at := len(dst)
			if dst, err = e.appendBody(dst, row); err == nil && len(dst)-at > maxMessage {
				err = tooLarge()
			}
			if err != nil {
				dst = dst[:at]
			}
			row++
		}
		if len(dst) == start+5 {
			return dst[:start], err
		}
		binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// AppendCopyText adds CopyData messages that hold rows [row0, row0+n) of rec as lines of COPY's text format. All formats
// must be Text. A column whose type is none of Append's is written as its values naturally read, for home to make sense
// of. On an error it returns dst with the whole rows that came before the one that failed.
func (e *Encoder) AppendCopyText(dst []byte, rec arrow.RecordBatch, row0, n int) ([]byte, error) {
	if err := e.bind(rec, true); err != nil {
		return dst, err
	}
	for row := row0; row < row0+n; row++ {
		start := len(dst)
		var err error
		if dst, err = e.appendLine(append(dst, 'd', 0, 0, 0, 0), row); err == nil && len(dst)-start > maxMessage {
			err = tooLarge()
		}
		if err != nil {
			return dst[:start], err
		}
		binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	}
	return dst, nil
}

func (e *Encoder) appendLine(dst []byte, row int) ([]byte, error) {
	for j := range e.bound {
		if j > 0 {
			dst = append(dst, '\t')
		}
		b := &e.bound[j]
		if b.isNull(row) {
			dst = append(dst, '\\', 'N')
			continue
		}
		at := len(dst)
		var err error
		if dst, err = b.cell(dst, row); err != nil {
			return dst, e.locate(err, j)
		}
		dst = escapeField(dst, at)
	}
	return append(dst, '\n'), nil
}

// escapes maps the bytes that a field of COPY's text format cannot hold as they are.
var escapes = [256]byte{'\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r'}

// escapeField escapes the field that begins at at, from its end backwards, in place.
func escapeField(dst []byte, at int) []byte {
	extra := 0
	for _, b := range dst[at:] {
		if escapes[b] != 0 {
			extra++
		}
	}
	if extra == 0 {
		return dst
	}
	end := len(dst)
	for range extra {
		dst = append(dst, 0)
	}
	for from, to := end-1, len(dst)-1; from < to; from-- {
		if e := escapes[dst[from]]; e != 0 {
			dst[to], dst[to-1] = e, '\\'
			to -= 2
		} else {
			dst[to] = dst[from]
			to--
		}
	}
	return dst
}

// AppendCopyTuples adds one CopyData message with rows of frames, DataRow messages in binary form, as tuples of COPY
// BINARY: what a DataRow holds is just such a tuple. It takes one row, or as many as make a good message, and returns the
// frames that are left.
func AppendCopyTuples(dst, frames []byte, single bool) (message, left []byte) {
	start := len(dst)
	dst = append(dst, 'd', 0, 0, 0, 0)
	for {
		size := 1 + int(binary.BigEndian.Uint32(frames[1:]))
		dst = append(dst, frames[wire.HeaderSize:size]...)
		frames = frames[size:]
		if single || len(frames) == 0 || len(dst)-start >= copyMessage {
			break
		}
	}
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst, frames
}

// AppendCopyLine adds one CopyData message with the first row of frames, DataRow messages in text form, as a line of
// COPY's text format, and returns the frames that are left.
func AppendCopyLine(dst, frames []byte) (message, left []byte, err error) {
	size := 1 + int(binary.BigEndian.Uint32(frames[1:]))
	row, left := frames[wire.HeaderSize+2:size], frames[size:]
	start := len(dst)
	dst = append(dst, 'd', 0, 0, 0, 0)
	for first := true; len(row) > 0; first = false {
		if !first {
			dst = append(dst, '\t')
		}
		n := int32(binary.BigEndian.Uint32(row))
		row = row[4:]
		if n < 0 {
			dst = append(dst, '\\', 'N')
			continue
		}
		at := len(dst)
		dst = escapeField(append(dst, row[:n]...), at)
		row = row[n:]
	}
	if dst = append(dst, '\n'); len(dst)-start > maxMessage {
		return dst[:start], left, tooLarge()
	}
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst, left, nil
}
