package encode

import (
	"bytes"
	"encoding/hex"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

const (
	codeCharacterNotInRepertoire = "22021"
	codeStringTooLong            = "22001"
)

// texts gives the bytes of each row of a column of strings. clean says that all of them are valid text, for one look at
// a whole buffer costs less than one at each value.
type texts struct {
	value func(i int) []byte
	clean bool
}

// stringsOf returns the values of a column of strings, or of bytes that will be looked at as strings.
func stringsOf(c column) (texts, bool) {
	switch a := c.array.(type) {
	case *array.String:
		offsets, data := a.ValueOffsets(), a.ValueBytes()
		base := int32(0)
		if len(offsets) > 0 {
			base = offsets[0]
		}
		return texts{
			value: func(i int) []byte { return data[offsets[i]-base : offsets[i+1]-base] },
			clean: isPlain(data),
		}, true
	case *array.LargeString:
		return texts{value: func(i int) []byte { return []byte(a.Value(i)) }}, true
	case *array.StringView:
		return texts{value: func(i int) []byte { return []byte(a.Value(i)) }}, true
	case *array.Binary:
		return texts{value: a.Value}, true
	case *array.LargeBinary:
		return texts{value: a.Value}, true
	case *array.BinaryView:
		return texts{value: a.Value}, true
	}
	return texts{}, false
}

// isPlain reports whether b is ASCII without zero bytes, so that any part of it is valid text.
func isPlain(b []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if (w|(w-ones))&tops != 0 {
			return false
		}
	}
	for _, c := range b {
		if c == 0 || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// checkText refuses what a Postgres text in UTF8 cannot hold.
func checkText(v []byte) error {
	if bytes.IndexByte(v, 0) >= 0 {
		return pgerr.New(codeCharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": 0x00`)
	}
	if utf8.Valid(v) {
		return nil
	}
	for len(v) > 0 {
		r, n := utf8.DecodeRune(v)
		if r == utf8.RuneError && n == 1 {
			return pgerr.New(codeCharacterNotInRepertoire, `invalid byte sequence for encoding "UTF8": %s`, sequence(v))
		}
		v = v[n:]
	}
	return nil
}

// sequence spells the bytes that Postgres would name: as many as the first one announces.
func sequence(v []byte) string {
	n := 1
	switch b := v[0]; {
	case b >= 0xf0 && b < 0xf8:
		n = 4
	case b >= 0xe0 && b < 0xf0:
		n = 3
	case b >= 0xc0 && b < 0xe0:
		n = 2
	}
	out := ""
	for i, b := range v[:min(n, len(v))] {
		if i > 0 {
			out += " "
		}
		out += "0x" + hex.EncodeToString([]byte{b})
	}
	return out
}

func bindText(c column) cell {
	t, ok := stringsOf(c)
	if !ok {
		return nil
	}
	limit := int(c.field.Typmod) - 4
	if c.field.Typmod >= 4 && (c.field.OID == oidVarchar || c.field.OID == oidBpchar) {
		pad := c.field.OID == oidBpchar
		return func(dst []byte, i int) ([]byte, error) {
			v := t.value(i)
			if !t.clean {
				if err := checkText(v); err != nil {
					return dst, err
				}
			}
			return appendLimited(dst, v, limit, pad)
		}
	}
	if t.clean {
		return func(dst []byte, i int) ([]byte, error) { return append(dst, t.value(i)...), nil }
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := t.value(i)
		if err := checkText(v); err != nil {
			return dst, err
		}
		return append(dst, v...), nil
	}
}

// appendLimited writes v as varchar(n), or with pad as char(n). Only spaces may stand beyond the limit, and are cut.
func appendLimited(dst, v []byte, limit int, pad bool) ([]byte, error) {
	n := len(v)
	if n > limit || pad {
		n = utf8.RuneCount(v)
	}
	if n > limit {
		cut := 0
		for range limit {
			_, size := utf8.DecodeRune(v[cut:])
			cut += size
		}
		if len(bytes.TrimRight(v[cut:], " ")) > 0 {
			name := "character varying"
			if pad {
				name = "character"
			}
			return dst, pgerr.New(codeStringTooLong, "value too long for type %s(%d)", name, limit)
		}
		return append(dst, v[:cut]...), nil
	}
	dst = append(dst, v...)
	if pad {
		for ; n < limit; n++ {
			dst = append(dst, ' ')
		}
	}
	return dst, nil
}

func bindBytea(c column) cell {
	var value func(i int) []byte
	switch a := c.array.(type) {
	case *array.Binary:
		value = a.Value
	case *array.LargeBinary:
		value = a.Value
	case *array.BinaryView:
		value = a.Value
	case *array.FixedSizeBinary:
		value = a.Value
	default:
		return nil
	}
	switch {
	case c.binary:
		return func(dst []byte, i int) ([]byte, error) { return append(dst, value(i)...), nil }
	case c.settings.ByteaEscape:
		return func(dst []byte, i int) ([]byte, error) { return appendEscaped(dst, value(i)), nil }
	default:
		return func(dst []byte, i int) ([]byte, error) {
			return hex.AppendEncode(append(dst, '\\', 'x'), value(i)), nil
		}
	}
}

// appendEscaped writes bytea_output = escape.
func appendEscaped(dst, v []byte) []byte {
	for _, b := range v {
		switch {
		case b == '\\':
			dst = append(dst, '\\', '\\')
		case b < 0x20 || b > 0x7e:
			dst = append(dst, '\\', '0'+b>>6, '0'+b>>3&7, '0'+b&7)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
