package encode

import (
	"encoding/binary"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/array"
)

// allFields is an interval typmod's mask when no fields are named; its low half is the precision.
const allFields = 0x7fff

// limitedFields reports whether a typmod is that of an interval year to month and the like.
func limitedFields(typmod int32) bool { return typmod >= 0 && typmod>>16&allFields != allFields }

func bindInterval(c column) cell {
	a, ok := c.array.(*array.MonthDayNanoInterval)
	if !ok {
		return nil
	}
	digits := int32(-1)
	if limitedFields(c.field.Typmod) {
		return nil
	}
	if c.field.Typmod >= 0 {
		digits = c.field.Typmod & 0xffff
	}
	values := a.MonthDayNanoIntervalValues()
	return func(dst []byte, i int) ([]byte, error) {
		v := values[i]
		time := round(v.Nanoseconds/1000, digits)
		if c.binary {
			dst = binary.BigEndian.AppendUint64(dst, uint64(time))
			dst = binary.BigEndian.AppendUint32(dst, uint32(v.Days))
			return binary.BigEndian.AppendUint32(dst, uint32(v.Months)), nil
		}
		return appendInterval(dst, int64(v.Months), int64(v.Days), time), nil
	}
}

// appendInterval writes IntervalStyle postgres. A part that follows a negative one gets a sign in any case.
func appendInterval(dst []byte, months, days, time int64) []byte {
	start := len(dst)
	before := false // the part before was negative
	for _, part := range [...]struct {
		value int64
		unit  string
	}{{months / 12, "year"}, {months % 12, "mon"}, {days, "day"}} {
		if part.value == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if before && part.value > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, part.value, 10)
		dst = append(append(dst, ' '), part.unit...)
		if part.value != 1 {
			dst = append(dst, 's')
		}
		before = part.value < 0
	}
	if time == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	left := uint64(time)
	switch {
	case time < 0:
		dst, left = append(dst, '-'), -left
	case before:
		dst = append(dst, '+')
	}
	hours := left / (3600 * micros)
	if hours < 10 {
		dst = append(dst, '0')
	}
	dst = appendUint(dst, hours)
	dst = append2(append(dst, ':'), int(left/(60*micros)%60))
	dst = append2(append(dst, ':'), int(left/micros%60))
	return appendFraction(dst, int64(left%micros))
}
