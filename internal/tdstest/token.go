package tdstest

import (
	"encoding/binary"
)

// What a DONE token says (MS-TDS 2.2.7.6).
const (
	doneFinal     = 0x00
	doneError     = 0x02
	doneCount     = 0x10
	doneAttention = 0x20
)

// token writes one whose length stands before it.
func (s *session) token(kind byte, body []byte) {
	out := binary.LittleEndian.AppendUint16([]byte{kind}, uint16(len(body)))
	_, _ = s.out.Write(append(out, body...)) // a socket that is closed says so at the end
}

// done ends an answer.
func (s *session) done(status uint16, rows int64) {
	out := binary.LittleEndian.AppendUint16([]byte{0xfd}, status)
	out = binary.LittleEndian.AppendUint16(out, 0)
	_, _ = s.out.Write(binary.LittleEndian.AppendUint64(out, uint64(rows)))
}

// attended says that a statement has stopped.
func (s *session) attended() {
	s.server.attend()
	s.done(doneAttention, 0)
}

// environment tells of a setting of the connection (2.2.7.9).
func (s *session) environment(kind byte, value string) {
	s.token(0xe3, append(append([]byte{kind}, short(value)...), 0))
}

// fail ends an answer with an error (2.2.7.10).
func (s *session) fail(number int32, text string) {
	out := binary.LittleEndian.AppendUint32(nil, uint32(number))
	out = append(out, 1, 16)
	out = append(out, long(text)...)
	out = append(out, short("fake")...)
	out = append(out, short("")...)
	s.token(0xaa, binary.LittleEndian.AppendUint32(out, 1))
	s.done(doneError, 0)
}
