package startup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
)

func FuzzPacket(f *testing.F) {
	for _, s := range []string{
		"\x00\x00\x00\x08\x04\xd2\x16\x2f", "\x00\x00\x00\x10\x04\xd2\x16\x2e\x00\x00\x00\x01\x00\x00\x00\x02",
		"\x00\x00\x00\x14\x00\x03\x00\x00user\x00alice\x00\x00", "\x00\x00\x00\x03", "\xff\xff\xff\xff\x00\x03\x00\x00",
		"\x00\x00\x00\x13\x00\x03\x00\x02_pq_.x\x001\x00\x00", "\x00\x00\x00\x09\x00\x03\x00\x00\x00", "\x00\x00\x00\x08\x00\x04\x00\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		body, err := readPacket(bytes.NewReader(data))
		if err != nil {
			return
		}
		if n := binary.BigEndian.Uint32(data); int(n) != len(body)+4 || len(body) > maxPacket {
			t.Fatalf("%d bytes of body for a length of %d", len(body), n)
		}
		if code(body) == codeCancel {
			if m, err := decodeCancel(body); err == nil && len(m.SecretKey) != len(body)-8 {
				t.Fatal("a cancel key of another length")
			}
			return
		}
		p, err := decodePacket(body)
		if err != nil || p.major() != protocolMajor {
			return
		}
		again(t, p)
	})
}

// again checks that home gets the parameters that were read, extensions excepted.
func again(t *testing.T, p packet) {
	body, err := readPacket(bytes.NewReader(p.forHome()))
	if err != nil {
		t.Fatal(err)
	}
	q, err := decodePacket(body)
	if err != nil {
		t.Fatal(err)
	}
	want := p.parameters()
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.HasPrefix(name, extensionPrefix) })
	if !maps.Equal(q.parameters(), want) || q.version != protocol30 {
		t.Fatalf("home gets %v of %v", q.parameters(), want)
	}
}

// Memory follows bytes that came, not a declared length.
func TestReadGrowing(t *testing.T) {
	short := strings.NewReader("only this")
	if _, err := readGrowing(short, nil, maxHomeFrame); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("err = %v", err)
	}
	got := testing.AllocsPerRun(10, func() { _, _ = readGrowing(strings.NewReader("x"), nil, 1<<30) })
	if got > 5 {
		t.Errorf("%v allocations for one byte", got)
	}
	whole, err := readGrowing(strings.NewReader(strings.Repeat("x", 3*frameChunk)), []byte("head"), 3*frameChunk)
	if err != nil || len(whole) != 4+3*frameChunk {
		t.Errorf("%d bytes, %v", len(whole), err)
	}
}

func TestReplicationValues(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "false": false, "f": false, "OFF": false, "of": false, "no": false, "0": false,
		"true": true, "database": true, "on": true, "1": true, "yes": true, "o": true, "maybe": true,
	} {
		p := packet{params: []param{{"replication", value}}}
		if p.replication() != want {
			t.Errorf("replication=%s: %v", value, !want)
		}
	}
}
