package tdstest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"unicode/utf16"
)

// Types of messages (MS-TDS 2.2.3.1.1).
const (
	sqlBatch, rpc, tabular, attention, login7, prelogin = 1, 3, 4, 6, 16, 18
)

// Bits of a packet's status.
const (
	endOfMessage    = 0x01
	resetConnection = 0x08
)

// message is what a client sends.
type message struct {
	kind  byte
	reset bool
	body  []byte
}

// readMessage puts the packets of one message together.
func readMessage(in io.Reader) (m message, err error) {
	var header [8]byte
	for {
		if _, err = io.ReadFull(in, header[:]); err != nil {
			return m, err
		}
		size := int(binary.BigEndian.Uint16(header[2:])) - len(header)
		if size < 0 || len(m.body)+size > 1<<24 {
			return m, errors.New("a packet has a bad size")
		}
		m.kind, m.reset = header[0], m.reset || header[1]&resetConnection != 0
		start := len(m.body)
		m.body = append(m.body, make([]byte, size)...)
		if _, err = io.ReadFull(in, m.body[start:]); err != nil {
			return m, err
		}
		if header[1]&endOfMessage != 0 {
			return m, nil
		}
	}
}

// answer writes the packets of one message.
type answer struct {
	out    *bufio.Writer
	packet []byte // its header, and what it has of the message
	number byte
}

const packetSize = 16384

func newAnswer(socket net.Conn) *answer {
	return &answer{out: bufio.NewWriterSize(socket, packetSize), packet: make([]byte, 8, packetSize)}
}

// Write adds to the message.
func (a *answer) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		n := min(len(rest), packetSize-len(a.packet))
		a.packet = append(a.packet, rest[:n]...)
		rest = rest[n:]
		if len(a.packet) == packetSize && len(rest) > 0 {
			if err := a.send(0); err != nil {
				return 0, err
			}
		}
	}
	return len(data), nil
}

// end sends what is left of the message.
func (a *answer) end() error {
	if err := a.send(endOfMessage); err != nil {
		return err
	}
	a.number = 0
	return a.out.Flush()
}

func (a *answer) send(status byte) error {
	a.number++
	a.packet[0], a.packet[1], a.packet[6] = tabular, status, a.number
	binary.BigEndian.PutUint16(a.packet[2:], uint16(len(a.packet)))
	_, err := a.out.Write(a.packet)
	a.packet = a.packet[:8]
	return err
}

// flush sends whole packets, so that rows come before the next are made.
func (a *answer) flush() error {
	if len(a.packet) > 8 {
		if err := a.send(0); err != nil {
			return err
		}
	}
	return a.out.Flush()
}

// ucs2 is a text as the protocol has it.
func ucs2(text string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func fromUCS2(data []byte) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

// short is a text behind the number of its characters, in one byte (B_VARCHAR) or two (US_VARCHAR).
func short(text string) []byte {
	return append([]byte{byte(len(utf16.Encode([]rune(text))))}, ucs2(text)...)
}

func long(text string) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, uint16(len(utf16.Encode([]rune(text))))), ucs2(text)...)
}
