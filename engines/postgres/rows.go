package postgres

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/sluicedb/sluice/engines"
)

// texts runs a catalog query and returns its rows in text form; nil is NULL. It is for bounded results only.
func (e *Engine) texts(ctx context.Context, sql string, args ...string) ([][]*string, error) {
	list := make([]*string, len(args))
	for i := range args {
		list[i] = &args[i]
	}
	s, err := e.Open(ctx, engines.Query{SQL: sql, Args: list})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return collect(ctx, s)
}

// collect reads a bounded result.
func collect(ctx context.Context, s engines.Stream) (rows [][]*string, err error) {
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		data := b.(engines.Frames).Data
		for len(data) > 0 {
			size, ok := rowSize(data)
			if !ok {
				return nil, malformed()
			}
			row, ok := fieldsOf(data[headerSize:size], len(s.Fields()))
			if !ok {
				return nil, malformed()
			}
			rows = append(rows, row)
			data = data[size:]
		}
	}
}

// rowSize returns the size of the DataRow message that data begins with, header included.
func rowSize(data []byte) (int, bool) {
	if len(data) < headerSize+2 || data[0] != 'D' {
		return 0, false
	}
	size := 1 + int(binary.BigEndian.Uint32(data[1:]))
	return size, size >= headerSize+2 && size <= len(data)
}

func fieldsOf(body []byte, columns int) ([]*string, bool) {
	if int(binary.BigEndian.Uint16(body)) != columns {
		return nil, false
	}
	row, body := make([]*string, columns), body[2:]
	for i := range row {
		if len(body) < 4 {
			return nil, false
		}
		n := int(int32(binary.BigEndian.Uint32(body)))
		body = body[4:]
		if n > len(body) {
			return nil, false
		}
		if n >= 0 {
			v := string(body[:n])
			row[i], body = &v, body[n:]
		}
	}
	return row, len(body) == 0
}
