package startup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Codes that stand in place of a protocol version.
const (
	protocolMajor = 3
	protocol30    = protocolMajor << 16
	protocol32    = protocol30 | 2 // the newest that is spoken here: cancel keys of up to 256 bytes
	codeCancel    = 1234<<16 | 5678
	codeSSL       = 1234<<16 | 5679
	codeGSS       = 1234<<16 | 5680
)

const (
	maxPacket    = 10000 // MAX_STARTUP_PACKET_LENGTH: bytes behind the length word
	maxCancelKey = 256
)

// errPacketLength is answered by closing the connection, as Postgres does: what speaks here is no client.
var errPacketLength = errors.New("invalid length of startup packet")

// param is one startup parameter.
type param struct{ name, value string }

// packet is a startup packet: a version or request code, and what follows.
type packet struct {
	version uint32
	params  []param
}

func (p *packet) major() uint32 { return p.version >> 16 }
func (p *packet) minor() uint32 { return p.version & 0xffff }

// readPacket reads the body of a startup packet: everything behind its length word.
func readPacket(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:])) - 4
	if n < 4 || n > maxPacket {
		return nil, errPacketLength
	}
	return readGrowing(r, nil, int(n))
}

// code returns the version or request code of a packet's body.
func code(body []byte) uint32 { return binary.BigEndian.Uint32(body) }

// decodeCancel reads the body of a CancelRequest.
func decodeCancel(body []byte) (*pgproto3.CancelRequest, error) {
	m := &pgproto3.CancelRequest{}
	if key := len(body) - 8; key < 4 || key > maxCancelKey {
		return nil, errors.New("invalid length of cancel request packet")
	}
	return m, m.Decode(body)
}

// decodePacket reads the body of a startup message. Parameters of another major version are not looked at.
func decodePacket(body []byte) (packet, error) {
	p := packet{version: code(body)}
	if p.major() != protocolMajor {
		return p, nil
	}
	rest := body[4:]
	for len(rest) > 0 && rest[0] != 0 {
		name, behind, ok := cutString(rest)
		if !ok || len(behind) == 0 {
			break
		}
		value, behind, ok := cutString(behind)
		if !ok {
			return p, errLayout()
		}
		p.params = append(p.params, param{name, value})
		rest = behind
	}
	if len(rest) != 1 || rest[0] != 0 {
		return p, errLayout()
	}
	return p, nil
}

func errLayout() error {
	return fatal("08P01", "invalid startup packet layout: expected terminator as last byte")
}

// cutString splits b behind its first NUL.
func cutString(b []byte) (s string, behind []byte, ok bool) {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", nil, false
	}
	return string(b[:n]), b[n+1:], true
}

// get returns the value of a parameter, the last one where it is given twice.
func (p *packet) get(name string) string {
	for i := len(p.params) - 1; i >= 0; i-- {
		if p.params[i].name == name {
			return p.params[i].value
		}
	}
	return ""
}

func (p *packet) parameters() map[string]string {
	m := make(map[string]string, len(p.params))
	for _, kv := range p.params {
		m[kv.name] = kv.value
	}
	return m
}

// extensionPrefix marks protocol extensions, none of which is spoken here.
const extensionPrefix = "_pq_."

// extensions returns the names of protocol extensions that the client asks for.
func (p *packet) extensions() []string {
	var names []string
	for _, kv := range p.params {
		if strings.HasPrefix(kv.name, extensionPrefix) {
			names = append(names, kv.name)
		}
	}
	return names
}

// replication reports whether the packet asks for a replication connection. A value that is no boolean is left for home
// to complain of.
func (p *packet) replication() bool {
	switch v := strings.ToLower(p.get("replication")); v {
	case "":
		return false
	case "o": // neither on nor off
		return true
	default:
		for _, no := range []string{"false", "no", "off", "0"} {
			if strings.HasPrefix(no, v) {
				return false
			}
		}
		return true
	}
}

// asked returns the version to ask home for: the client's, as far as it is spoken here.
func (p *packet) asked() uint32 { return max(protocol30, min(p.version, protocol32)) }

// forHome encodes the packet that home gets: the client's parameters in their order, no extensions.
func (p *packet) forHome() []byte {
	out := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 0}, p.asked())
	for _, kv := range p.params {
		if strings.HasPrefix(kv.name, extensionPrefix) {
			continue
		}
		out = append(out, kv.name...)
		out = append(out, 0)
		out = append(out, kv.value...)
		out = append(out, 0)
	}
	out = append(out, 0)
	binary.BigEndian.PutUint32(out, uint32(len(out)))
	return out
}

// bare encodes a packet with the version alone.
func (p *packet) bare() []byte {
	out := binary.BigEndian.AppendUint32(nil, 8)
	return binary.BigEndian.AppendUint32(out, p.version)
}
