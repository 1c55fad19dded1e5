package clickbench

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestShape(t *testing.T) {
	if n := len(Columns()); n != 105 {
		t.Errorf("%d columns, ClickBench has 105", n)
	}
	if n := len(Queries()); n != 43 {
		t.Errorf("%d queries, ClickBench has 43", n)
	}
}

func TestWrite(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []io.Writer{&a, &b} {
		if err := Write(w, 50); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same rows differ")
	}
	lines := strings.Split(strings.TrimSuffix(a.String(), "\n"), "\n")
	if len(lines) != 50 {
		t.Errorf("%d rows", len(lines))
	}
	for _, line := range lines {
		if n := strings.Count(line, "\t") + 1; n != 105 {
			t.Fatalf("a row of %d fields: %q", n, line)
		}
	}
}
