package certify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
)

// Drain reads s to its end and returns the number of rows that came, also when an error ended it.
func Drain(ctx context.Context, s engines.Stream) (int64, error) {
	var rows int64
	for {
		b, err := s.Next(ctx)
		switch {
		case err == io.EOF:
			return rows, nil
		case err != nil:
			return rows, err
		case b.NumRows() < 1:
			return rows, errors.New("a batch without rows")
		}
		rows += int64(b.NumRows())
	}
}

// verify checks that b holds rows i, i+1, … of Harness.Rows, of the width given.
func verify(b engines.Batch, i int64, width int) error {
	switch b := b.(type) {
	case engines.Columns:
		return verifyColumns(b, i, width)
	case engines.Frames:
		return verifyFrames(b, i, width)
	default:
		return fmt.Errorf("unknown form of batch %T", b)
	}
}

func verifyColumns(b engines.Columns, i int64, width int) error {
	if b.Record.NumCols() != 2 {
		return fmt.Errorf("%d columns", b.Record.NumCols())
	}
	ints, ok1 := b.Record.Column(0).(*array.Int64)
	texts, ok2 := b.Record.Column(1).(*array.String)
	if !ok1 || !ok2 {
		return fmt.Errorf("columns are %s", b.Record.Schema())
	}
	for row := range b.NumRows() {
		if ints.Value(row) != i+int64(row) || len(texts.Value(row)) != width {
			return fmt.Errorf("row %d is (%d, %d bytes)", i+int64(row), ints.Value(row), len(texts.Value(row)))
		}
	}
	return nil
}

func verifyFrames(b engines.Frames, i int64, width int) error {
	data := b.Data
	for row := range b.NumRows() {
		if len(data) < 11 || data[0] != 'D' {
			return errors.New("not a DataRow message")
		}
		size := 1 + int(binary.BigEndian.Uint32(data[1:]))
		n := int(binary.BigEndian.Uint32(data[7:]))
		if size > len(data) || size != 15+n+width {
			return fmt.Errorf("row %d has %d bytes", i+int64(row), size)
		}
		if got := string(data[11 : 11+n]); got != strconv.FormatInt(i+int64(row), 10) {
			return fmt.Errorf("row %d is %s", i+int64(row), got)
		}
		data = data[size:]
	}
	if len(data) > 0 {
		return errors.New("bytes behind the last row")
	}
	return nil
}

// readRows reads whole batches until at least n rows of Harness.Rows came, and checks them.
func readRows(ctx context.Context, s engines.Stream, n int64, width int) (rows int64, batches int, err error) {
	return readFrom(ctx, s, 0, n, width)
}

// readFrom is readRows where some rows were read before.
func readFrom(ctx context.Context, s engines.Stream, before, n int64, width int) (rows int64, batches int, err error) {
	for rows = before; rows < n; {
		b, err := s.Next(ctx)
		if err != nil {
			return rows, batches, err
		}
		if err := verify(b, rows, width); err != nil {
			return rows, batches, err
		}
		rows += int64(b.NumRows())
		batches++
	}
	return rows, batches, nil
}

// appendTexts adds the only field of each row.
func appendTexts(dst []string, b engines.Frames) []string {
	for data := b.Data; len(data) > 0; {
		size := 1 + int(binary.BigEndian.Uint32(data[1:]))
		value := "(null)"
		if int32(binary.BigEndian.Uint32(data[7:])) >= 0 {
			value = string(data[11:size])
		}
		dst = append(dst, value)
		data = data[size:]
	}
	return dst
}
