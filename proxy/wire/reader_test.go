package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"
)

func frame(typ byte, body []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(body)+4))
	return append(out, body...)
}

// relay passes src through a Reader, dropping frames of type drop (-1: none), and returns what was forwarded.
func relay(src io.Reader, size int, drop int) ([]byte, error) {
	var out []byte
	r := NewReader(src, size, nil)
	r.BeforeRead = func() error { out = append(out, r.Take()...); return nil }
	for {
		typ, n, err := r.Header()
		if err != nil {
			out = append(out, r.Take()...)
			if err == io.EOF {
				err = nil
			}
			return out, err
		}
		if int(typ) == drop {
			out = append(out, r.Take()...)
			err = r.Drop(n)
		} else {
			err = r.Walk(n)
		}
		if err != nil {
			return out, err
		}
	}
}

// TestReaderRelays passes frames of all sizes through small buffers, byte by byte too.
func TestReaderRelays(t *testing.T) {
	var in, want []byte
	for n := range 300 {
		f := frame("DQ"[n%2], bytes.Repeat([]byte{byte(n)}, n*7))
		in = append(in, f...)
		if f[0] == 'D' {
			want = append(want, f...)
		}
	}
	for _, size := range []int{8, 64, 4096} {
		for name, src := range map[string]io.Reader{"whole": bytes.NewReader(in), "bytes": iotest.OneByteReader(bytes.NewReader(in))} {
			got, err := relay(src, size, 'Q')
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, buffer %d: %d bytes, error %v, want %d bytes", name, size, len(got), err, len(want))
			}
		}
	}
}

// TestReaderFrame hands out a frame larger than the buffer whole, with the frames behind it intact.
func TestReaderFrame(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 100_000)
	r := NewReader(bytes.NewReader(append(frame('Q', big), frame('S', nil)...)), 16, nil)
	_, n, err := r.Header()
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Frame(n)
	if err != nil || !bytes.Equal(got[HeaderSize:], big) {
		t.Fatalf("got %d bytes, error %v", len(got), err)
	}
	if err := r.Drop(n); err != nil {
		t.Fatal(err)
	}
	if typ, n, err := r.Header(); typ != 'S' || n != 5 || err != nil {
		t.Fatalf("next frame: %q %d %v", typ, n, err)
	}
}

// TestReaderLengths refuses lengths that no Postgres accepts, before any of the body is read.
func TestReaderLengths(t *testing.T) {
	for _, n := range []uint32{0, 3, 0x40000000, 0x7fffffff, 0x80000000, 0xffffffff} {
		head := binary.BigEndian.AppendUint32([]byte{'Q'}, n)
		if _, _, err := NewReader(bytes.NewReader(head), 16, nil).Header(); err == nil {
			t.Errorf("length %#x was accepted", n)
		}
	}
}

// TestReaderTruncated tells a frame that was cut from an orderly end.
func TestReaderTruncated(t *testing.T) {
	whole := frame('Q', []byte("select 1\x00"))
	r := NewReader(bytes.NewReader(whole[:len(whole)-2]), 16, nil)
	_, n, err := r.Header()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Frame(n); err != io.ErrUnexpectedEOF {
		t.Fatalf("error %v, want unexpected EOF", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(frame('Q', []byte("select 1\x00")), uint8(8))
	f.Add([]byte{'D', 0xff, 0xff, 0xff, 0xff, 1}, uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		got, err := relay(bytes.NewReader(in), int(size)+1, -1)
		if !bytes.HasPrefix(in, got) {
			t.Fatalf("forwarded %x of %x (%v)", got, in, err)
		}
	})
}
