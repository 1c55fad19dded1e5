package duckdb

import (
	"encoding/binary"
	"math"

	"github.com/sluicedb/sluice/pgerr"
)

// eachField reads DataRow messages of so many columns: type, length, number of fields, and each field's length and
// bytes. It calls field for each, with nil for NULL, and end behind each row.
func eachField(data []byte, columns int, field func(i int, v []byte) error, end func() error) error {
	_, err := someFrames(data, math.MaxInt, columns, field, end)
	return err
}

// someFrames is eachField for the first messages, up to a number of them. It returns what is left of data.
func someFrames(data []byte, most, columns int, field func(i int, v []byte) error, end func() error) ([]byte, error) {
	for ; most > 0 && len(data) > 0; most-- {
		if len(data) < 7 || data[0] != 'D' {
			return nil, malformed()
		}
		size := 1 + int64(binary.BigEndian.Uint32(data[1:]))
		if size < 7 || size > int64(len(data)) {
			return nil, malformed()
		}
		if n := int(binary.BigEndian.Uint16(data[5:])); n != columns {
			return nil, pgerr.New(pgerr.ProtocolViolation, "a row of %d fields came where %d were expected", n, columns)
		}
		if err := fieldsOf(data[7:size], columns, field); err != nil {
			return nil, err
		}
		if err := end(); err != nil {
			return nil, err
		}
		data = data[size:]
	}
	return data, nil
}

func fieldsOf(data []byte, columns int, field func(i int, v []byte) error) error {
	for i := range columns {
		if len(data) < 4 {
			return malformed()
		}
		n := int(int32(binary.BigEndian.Uint32(data)))
		data = data[4:]
		var v []byte
		if n > len(data) {
			return malformed()
		}
		if n >= 0 {
			v, data = data[:n:n], data[n:]
		}
		if err := field(i, v); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		return malformed()
	}
	return nil
}

func malformed() error { return pgerr.New(pgerr.ProtocolViolation, "malformed DataRow message") }
