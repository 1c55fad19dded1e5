package duckdb

import (
	"encoding/binary"

	"github.com/sluicedb/sluice/pgerr"
)

// eachField reads DataRow messages of so many columns: type, length, number of fields, and each field's length and
// bytes. It calls field for each, with nil for NULL, and end behind each row.
func eachField(data []byte, columns int, field func(i int, v []byte) error, end func() error) error {
	for len(data) > 0 {
		if len(data) < 7 || data[0] != 'D' {
			return malformed()
		}
		size := 1 + int64(binary.BigEndian.Uint32(data[1:]))
		if size < 7 || size > int64(len(data)) {
			return malformed()
		}
		if n := int(binary.BigEndian.Uint16(data[5:])); n != columns {
			return pgerr.New(pgerr.ProtocolViolation, "a row of %d fields came where %d were expected", n, columns)
		}
		if err := fieldsOf(data[7:size], columns, field); err != nil {
			return err
		}
		if err := end(); err != nil {
			return err
		}
		data = data[size:]
	}
	return nil
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
