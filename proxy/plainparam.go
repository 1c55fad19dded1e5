package proxy

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sluicedb/sluice/proxy/encode"
)

// plainTexts returns the parameters in text form where each is one that home could read in no other way, nor refuse; false
// where home must be asked.
func (s *Session) plainTexts(x *execution) ([]*string, bool) {
	if x.bind == nil || len(x.bind.Parameters) != len(x.described.params) {
		return nil, false
	}
	texts := make([]*string, len(x.bind.Parameters))
	for i, value := range x.bind.Parameters {
		if value == nil {
			continue
		}
		text, ok := s.plainText(x.described.params[i], value, formatOf(x.bind.ParameterFormatCodes, i))
		if !ok {
			return nil, false
		}
		texts[i] = &text
	}
	return texts, true
}

// plainText reads an integer as home would write it, or a text that needs no conversion.
func (s *Session) plainText(oid uint32, value []byte, format int16) (string, bool) {
	if format != encode.Text && format != encode.Binary {
		return "", false
	}
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		n, ok := plainInteger(value, format, integerBytes[oid])
		text := strconv.FormatInt(n, 10)
		return text, ok && (format == encode.Binary || text == string(value))
	case pgtype.TextOID, pgtype.VarcharOID:
		utf := s.setting("client_encoding") == "UTF8" && s.setting("server_encoding") == "UTF8"
		return string(value), utf && utf8.Valid(value) && bytes.IndexByte(value, 0) < 0
	}
	return "", false
}

var integerBytes = map[uint32]int{pgtype.Int2OID: 2, pgtype.Int4OID: 4, pgtype.Int8OID: 8}

func plainInteger(value []byte, format int16, size int) (int64, bool) {
	if format == encode.Text {
		n, err := strconv.ParseInt(string(value), 10, 8*size)
		return n, err == nil
	}
	if len(value) != size {
		return 0, false
	}
	switch size {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(value))), true
	case 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true
	default:
		return int64(binary.BigEndian.Uint64(value)), true
	}
}
