package clickhouse

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// codedValues are coded values as they come: what their dictionary holds, and places in it.
func codedValues(flags uint64, keys []byte, places ...byte) []byte {
	out := append(little(flags, uint64(bytes.Count(keys, []byte{1}))), keys...)
	return append(append(out, little(uint64(len(places)))...), places...)
}

// TestCoded reads values that have something before them in a block: of LowCardinality as the HTTP interface sends them, in other
// types too, and JSON.
func TestCoded(t *testing.T) {
	keys := []byte("\x01 \x01a\x01b") // the first one is the default, or NULL
	parts := append(codedValues(0x600, keys, 1, 2), codedValues(0x600, keys, 2)...)
	for _, c := range []struct {
		typ  string
		data []byte
		rows int
		want []string
	}{
		{"LowCardinality(String)", codedValues(0x600, keys, 2, 1, 0, 2), 4, []string{"b", "a", " ", "b"}},
		{"LowCardinality(Nullable(String))", codedValues(0x600, keys, 2, 0, 1), 3, []string{"b", "(null)", "a"}},
		{"LowCardinality(String)", parts, 3, []string{"a", "b", "b"}},
		{"SimpleAggregateFunction(any, LowCardinality(String))", codedValues(0x600, keys, 1), 1, []string{"a"}},
		{"Array(LowCardinality(String))", append(little(2, 2), codedValues(0x600, keys, 1, 2)...), 2, []string{`["a","b"]`, "[]"}},
		{"JSON", []byte("\x02{}\x07{\"a\":1}"), 2, []string{"{}", `{"a":1}`}},
		{"Array(LowCardinality(String))", little(0), 1, []string{"[]"}},
	} {
		got, err := readCoded(t, c.typ, append(little(1), c.data...), c.rows)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.typ, got, err, c.want)
		}
	}
	for want, data := range map[string][]byte{
		"0A000": append(little(2), codedValues(0x600, keys, 1)...), "08P01": append(little(1), codedValues(0x600, keys, 3)...),
		"54000": append(little(1), little(0x600, 1<<40)...),
	} {
		if _, err := readCoded(t, "LowCardinality(String)", data, 1); code(err) != want {
			t.Errorf("%x: %v; want %s", data, err, want)
		}
	}
	col, err := newColumn("x", "Array(JSON(a Int8))", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := col.load(&reader{Reader: bufio.NewReader(bytes.NewReader(little(3))), left: maxBlock}, 1); code(err) != "0A000" {
		t.Errorf("documents in columns: %v", err)
	}
	for _, flags := range []uint64{0x700, 0x400, 0x604} {
		if _, err := readCoded(t, "LowCardinality(String)", append(little(1), codedValues(flags, keys, 1)...), 1); code(err) != "0A000" {
			t.Errorf("%x: %v", flags, err)
		}
	}
	if _, err := readCoded(t, "LowCardinality(String)", append(little(1), codedValues(0x600, keys, 1)[:20]...), 1); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

// TestCodedBooleans reads what a server says of a LowCardinality, for instance whether it is equal to a text, where home has a Boolean.
func TestCodedBooleans(t *testing.T) {
	data := append(append(little(1, 0x600, 2), 0, 1), append(little(4), 1, 0, 0, 1)...)
	for typ, want := range map[string][]string{
		"LowCardinality(UInt8)": {"true", "false", "false", "true"}, "LowCardinality(Nullable(UInt8))": {"true", "(null)", "(null)", "true"},
	} {
		col, err := newColumn("x", typ, 0)
		if err != nil {
			t.Fatal(err)
		}
		col.declare([]engines.Field{{OID: oidBool}}, 0)
		got, err := readInto(t, col, data, 4)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", typ, got, err, want)
		}
	}
}

func readCoded(t *testing.T, typ string, data []byte, rows int) ([]string, error) {
	t.Helper()
	col, err := newColumn("x", typ, 0)
	if err != nil {
		t.Fatal(err)
	}
	return readInto(t, col, data, rows)
}

// readInto reads a column's values where those of LowCardinality have a dictionary.
func readInto(t *testing.T, col *column, data []byte, rows int) ([]string, error) {
	t.Helper()
	r := &reader{Reader: bufio.NewReader(bytes.NewReader(data)), left: maxBlock, coded: true}
	if err := col.load(r, rows); err != nil {
		return nil, err
	}
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("%s leaves bytes behind", col.remote)
	}
	return valueStrings(col, rows), nil
}
