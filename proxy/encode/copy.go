package encode

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
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
	if err := e.bind(rec); err != nil {
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
