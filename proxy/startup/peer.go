package startup

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	peerBuffer = 4 << 10
	frameChunk = 4 << 10 // a body is read in pieces, so that memory follows bytes that came, not a declared length
)

// errFrameLength is of a message that is longer than any that belongs here.
var errFrameLength = errors.New("invalid message length")

// peer is one side's connection with what was read ahead of it.
type peer struct {
	net.Conn
	in *bufio.Reader
}

func newPeer(c net.Conn) *peer { return &peer{Conn: c, in: bufio.NewReaderSize(c, peerBuffer)} }

// left returns what was read and not consumed.
func (p *peer) left() []byte {
	ahead, _ := p.in.Peek(p.in.Buffered())
	if len(ahead) == 0 {
		return nil
	}
	return append([]byte(nil), ahead...)
}

// secure reports that nobody can listen in on the way.
func (p *peer) secure() bool {
	_, ok := p.Conn.(*tls.Conn)
	return ok || p.local()
}

func (p *peer) local() bool { return p.LocalAddr().Network() == "unix" }

// frame reads one message of at most limit bytes of body. raw is the whole message, body its part behind the header.
func (p *peer) frame(limit int) (raw, body []byte, err error) {
	const headerSize = 5
	head := make([]byte, headerSize, headerSize+64)
	if _, err := io.ReadFull(p.in, head); err != nil {
		return nil, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[1:])) - 4
	if n < 0 || n > int64(limit) {
		return nil, nil, fmt.Errorf("%w %d of a message of type %q", errFrameLength, n+4, head[0])
	}
	raw, err = readGrowing(p.in, head, int(n))
	if err != nil {
		return nil, nil, err
	}
	return raw, raw[headerSize:], nil
}

// readGrowing appends n bytes of r to buf.
func readGrowing(r io.Reader, buf []byte, n int) ([]byte, error) {
	for n > 0 {
		piece := min(n, frameChunk)
		at := len(buf)
		buf = append(buf, make([]byte, piece)...)
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return nil, unexpected(err)
		}
		n -= piece
	}
	return buf, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// send writes messages at once.
func (p *peer) send(messages ...pgproto3.Message) error {
	var out []byte
	var err error
	for _, m := range messages {
		if out, err = m.Encode(out); err != nil {
			return err
		}
	}
	_, err = p.Write(out)
	return err
}
