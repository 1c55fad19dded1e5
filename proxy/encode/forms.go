package encode

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

const codeBitLength = "22026"

func bindUUID(c column) cell {
	a, ok := c.array.(*array.FixedSizeBinary)
	if !ok || a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth != 16 {
		return nil
	}
	if c.binary {
		return func(dst []byte, i int) ([]byte, error) { return append(dst, a.Value(i)...), nil }
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := a.Value(i)
		dst = append(hex.AppendEncode(dst, v[:4]), '-')
		dst = append(hex.AppendEncode(dst, v[4:6]), '-')
		dst = append(hex.AppendEncode(dst, v[6:8]), '-')
		dst = append(hex.AppendEncode(dst, v[8:10]), '-')
		return hex.AppendEncode(dst, v[10:]), nil
	}
}

// bindBit binds bit(n) and bit varying(n), from strings of 0 and 1.
func bindBit(c column) cell {
	t, ok := stringsOf(c)
	if !ok {
		return nil
	}
	limit, fixed := int(c.field.Typmod), c.field.OID == oidBit
	return func(dst []byte, i int) ([]byte, error) {
		v := t.value(i)
		for _, b := range v {
			if b != '0' && b != '1' {
				return dst, pgerr.New(pgerr.InvalidTextRepr, `"%c" is not a valid binary digit`, b)
			}
		}
		switch {
		case limit <= 0:
		case fixed && len(v) != limit:
			return dst, pgerr.New(codeBitLength, "bit string length %d does not match type bit(%d)", len(v), limit)
		case len(v) > limit:
			return dst, pgerr.New(codeStringTooLong, "bit string too long for type bit varying(%d)", limit)
		}
		if !c.binary {
			return append(dst, v...), nil
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(v)))
		for k := 0; k < len(v); k += 8 {
			b := byte(0)
			for j := k; j < min(k+8, len(v)); j++ {
				b |= (v[j] - '0') << (7 - j%8)
			}
			dst = append(dst, b)
		}
		return dst, nil
	}
}

// bindTimeTZ binds time with time zone, from strings such as 10:00:00.5+05:30.
func bindTimeTZ(c column) cell {
	t, ok := stringsOf(c)
	if !ok {
		return nil
	}
	return func(dst []byte, i int) ([]byte, error) {
		clock, offset, ok := parseTimeTZ(t.value(i))
		if !ok {
			return dst, pgerr.New("22007", "invalid input syntax for type time with time zone: %q", t.value(i))
		}
		clock = round(clock, c.field.Typmod)
		if c.binary {
			dst = binary.BigEndian.AppendUint64(dst, uint64(clock))
			return binary.BigEndian.AppendUint32(dst, uint32(int32(-offset))), nil // Postgres counts to the west
		}
		return appendOffset(appendClock(dst, clock), offset), nil
	}
}

// parseTimeTZ reads hh:mm:ss[.ffffff]±hh[:mm[:ss]].
func parseTimeTZ(v []byte) (clock int64, offset int, ok bool) {
	h, v, ok1 := digits2(v, 0)
	m, v, ok2 := digits2(v, ':')
	s, v, ok3 := digits2(v, ':')
	if !ok1 || !ok2 || !ok3 || h > 24 || m > 59 || s > 60 {
		return 0, 0, false
	}
	clock = int64(h*3600+m*60+s) * micros
	if len(v) > 0 && v[0] == '.' {
		v = v[1:]
		for unit := int64(micros / 10); len(v) > 0 && v[0] >= '0' && v[0] <= '9'; v = v[1:] {
			clock += int64(v[0]-'0') * unit
			unit /= 10
		}
	}
	if len(v) == 0 || v[0] != '+' && v[0] != '-' || clock > dayMicros {
		return 0, 0, false
	}
	west := v[0] == '-'
	h, v, ok = digits2(v[1:], 0)
	offset = h * 3600
	for unit := 60; ok && len(v) > 0 && unit > 0; unit /= 60 {
		m, v, ok = digits2(v, ':')
		offset += m * unit
	}
	if west {
		offset = -offset
	}
	return clock, offset, ok && len(v) == 0
}

// digits2 reads two digits behind the byte given, if any.
func digits2(v []byte, behind byte) (n int, rest []byte, ok bool) {
	if behind != 0 {
		if len(v) == 0 || v[0] != behind {
			return 0, v, false
		}
		v = v[1:]
	}
	if len(v) < 2 || v[0] < '0' || v[0] > '9' || v[1] < '0' || v[1] > '9' {
		return 0, v, false
	}
	return int(v[0]-'0')*10 + int(v[1]-'0'), v[2:], true
}
