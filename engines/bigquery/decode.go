package bigquery

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// decoder makes record batches of messages, whose memory they use. It reads them as one long stream of Arrow.
type decoder struct {
	reader *ipc.Reader
	next   *ipc.Message
}

// newDecoder begins with the message that says which columns there are.
func newDecoder(schema []byte) (*decoder, error) {
	d := &decoder{}
	err := d.offer(schema)
	if err == nil {
		d.reader, err = ipc.NewReaderFromMessageReader(d)
	}
	if err != nil {
		return nil, malformed(err)
	}
	return d, nil
}

func (d *decoder) schema() *arrow.Schema { return d.reader.Schema() }

// decode returns the record batch of a message, which is valid until the next call.
func (d *decoder) decode(data []byte) (arrow.RecordBatch, error) {
	if err := d.offer(data); err != nil {
		return nil, malformed(err)
	}
	if !d.reader.Next() {
		return nil, malformed(errors.Join(d.reader.Err(), errMessage))
	}
	return d.reader.RecordBatch(), nil
}

var errMessage = errors.New("a message of Arrow holds no rows")

// offer reads an encapsulated message: the length of what describes it, perhaps behind a mark, that, and the values.
func (d *decoder) offer(data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil { // of one that is none
			err = fmt.Errorf("a message of Arrow is malformed: %v", p)
		}
	}()
	const mark = 0xFFFFFFFF
	if len(data) >= 8 && binary.LittleEndian.Uint32(data) == mark {
		data = data[4:]
	}
	if len(data) < 4 {
		return io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint32(data)
	if data = data[4:]; uint64(n) > uint64(len(data)) {
		return io.ErrUnexpectedEOF
	}
	d.next = ipc.NewMessage(memory.NewBufferBytes(data[:n]), memory.NewBufferBytes(data[n:]))
	_ = d.next.Type()
	return nil
}

// Message is the one that was offered last; once.
func (d *decoder) Message() (*ipc.Message, error) {
	m := d.next
	if d.next = nil; m == nil {
		return nil, io.EOF
	}
	return m, nil
}

// Retain and Release are the reader's, whose messages need neither.
func (d *decoder) Retain() {}

// Release does nothing.
func (d *decoder) Release() {}
