package proxy

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"
)

// OIDs of the types whose values are sent in a statement's text.
const (
	boolOID        = 16
	int2OID        = 21
	int4OID        = 23
	float4OID      = 700
	float8OID      = 701
	dateOID        = 1082
	timestampOID   = 1114
	timestamptzOID = 1184
	numericOID     = 1700
	uuidOID        = 2950
)

// valueText spells a value of a type, which is in binary form, as an engine of standard SQL reads it by a cast; false where such an
// engine has no such value, or may have another one for it. What has no form of its own is text.
func valueText(oid uint32, v []byte) (string, bool) {
	switch oid {
	case boolOID:
		return strconv.FormatBool(v[0] != 0), true
	case int2OID:
		return strconv.Itoa(int(int16(binary.BigEndian.Uint16(v)))), true
	case int4OID:
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(v)))), true
	case int8OID:
		return strconv.FormatInt(int64(binary.BigEndian.Uint64(v)), 10), true
	case float4OID:
		return floatText(float64(math.Float32frombits(binary.BigEndian.Uint32(v))), 32), true
	case float8OID:
		return floatText(math.Float64frombits(binary.BigEndian.Uint64(v)), 64), true
	case numericOID:
		return decimalText(v)
	case dateOID:
		return momentText(int64(int32(binary.BigEndian.Uint32(v)))*microsOfDay, "2006-01-02")
	case timestampOID:
		return momentText(int64(binary.BigEndian.Uint64(v)), "2006-01-02 15:04:05.000000")
	case timestamptzOID:
		return momentText(int64(binary.BigEndian.Uint64(v)), "2006-01-02 15:04:05.000000 UTC")
	case uuidOID:
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]), true
	}
	return string(v), true
}

func floatText(f float64, bits int) string {
	if math.IsInf(f, 0) {
		return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

const (
	microsOfDay = 86_400_000_000
	yearMicros  = 366 * microsOfDay
)

var millennium = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// momentText spells microseconds since 2000 where their year has four digits and is of our era. Those that mean infinity are not.
func momentText(micros int64, layout string) (string, bool) {
	if micros > 8000*yearMicros || micros < -2000*yearMicros {
		return "", false
	}
	t := time.UnixMicro(millennium.UnixMicro() + micros).UTC()
	return t.Format(layout), t.Year() >= 1 && t.Year() <= 9999
}

// decimalText spells a numeric with all digits of its scale; false for NaN and infinities.
func decimalText(v []byte) (string, bool) {
	digits, weight := v[8:], int(int16(binary.BigEndian.Uint16(v[2:])))
	sign, scale := binary.BigEndian.Uint16(v[4:]), int(binary.BigEndian.Uint16(v[6:]))
	const negative, odd = 0x4000, 0x8000
	if sign&odd != 0 {
		return "", false
	}
	group := func(i int) []byte { // four digits
		n := 0
		if i >= 0 && 2*i < len(digits) {
			n = int(binary.BigEndian.Uint16(digits[2*i:]))
		}
		return strconv.AppendInt(nil, int64(10_000+n), 10)[1:]
	}
	var whole, part []byte
	for i := 0; i <= weight; i++ {
		whole = append(whole, group(i)...)
	}
	for len(whole) > 1 && whole[0] == '0' {
		whole = whole[1:]
	}
	for i := weight + 1; len(part) < scale; i++ {
		part = append(part, group(i)...)
	}
	text := string(whole)
	if text == "" {
		text = "0"
	}
	if scale > 0 {
		text += "." + string(part[:scale])
	}
	if sign == negative {
		text = "-" + text
	}
	return text, true
}
