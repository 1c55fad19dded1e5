package encode_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/encode"
)

// encodeOne writes one value in both formats; a panic or a broken frame is what the fuzzers look for.
func encodeOne(t *testing.T, oid uint32, typmod int32, a arrow.Array) (text, bin []byte, err error) {
	f := engines.Field{Name: "x", OID: oid, Typmod: typmod}
	if text, _, err = one(t, f, encode.Text, a, encode.Home); err != nil {
		return nil, nil, err
	}
	bin, _, err = one(t, f, encode.Binary, a, encode.Home)
	return text, bin, err
}

func FuzzText(f *testing.F) {
	f.Add("abc", int32(7))
	f.Add("日本   ", int32(6))
	f.Add("\x00\xff", int32(-1))
	f.Fuzz(func(t *testing.T, s string, typmod int32) {
		a := arr(arrow.BinaryTypes.String, s)
		for _, oid := range []uint32{25, 1043, 1042, 114, 3802, 1266, 1560, 1562} {
			text, _, err := encodeOne(t, oid, typmod%1000, a)
			if err == nil && !utf8.Valid(text) {
				t.Errorf("OID %d: %q is not text", oid, text)
			}
			if err == nil && (oid == 114 || oid == 3802) && !json.Valid(text) {
				t.Errorf("OID %d: %q is not JSON", oid, text)
			}
		}
		if _, _, err := encodeOne(t, 1009, -1, arr(arrow.ListOf(arrow.BinaryTypes.String), []any{s, nil, s})); err != nil && utf8.ValidString(s) {
			for _, b := range []byte(s) {
				if b == 0 {
					return
				}
			}
			t.Error(err)
		}
	})
}

func FuzzFloat(f *testing.F) {
	f.Add(uint64(0), 1)
	f.Add(math.Float64bits(1e23), 1)
	f.Add(math.Float64bits(0.1), 0)
	f.Fuzz(func(t *testing.T, bits uint64, digits int) {
		v := math.Float64frombits(bits)
		s := encode.Settings{ExtraFloatDigits: digits%18 - 15}
		text, _, err := one(t, engines.Field{OID: 701, Typmod: -1}, encode.Text, arr(arrow.PrimitiveTypes.Float64, v), s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := strconv.ParseFloat(string(text), 64)
		if err != nil && !math.IsInf(back, 0) {
			t.Fatalf("%v reads %q", v, text)
		}
		if s.ExtraFloatDigits > 0 && back != v && v == v {
			t.Errorf("%v reads back from %q as %v", v, text, back)
		}
	})
}

func FuzzNumeric(f *testing.F) {
	f.Add(int64(0), uint64(0), int32(2), int32(10<<16|2+4))
	f.Add(int64(math.MinInt64), uint64(0), int32(38), int32(-1))
	f.Fuzz(func(t *testing.T, hi int64, lo uint64, scale, typmod int32) {
		scale = min(max(scale%39, -10), 38)
		a := wide(hi, lo, scale)
		text, bin, err := encodeOne(t, 1700, typmod, a)
		if err != nil {
			return
		}
		if n := int(binary.BigEndian.Uint16(bin)); len(bin) != 8+2*n {
			t.Errorf("%x: %d digits", bin, n)
		}
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			t.Errorf("%q is not a number", text)
		}
	})
}

func FuzzTimes(f *testing.F) {
	f.Add(int64(0), int32(-1))
	f.Add(int64(math.MaxInt64), int32(3))
	f.Add(int64(math.MinInt64+1), int32(0))
	f.Fuzz(func(t *testing.T, v int64, typmod int32) {
		for _, typ := range []*arrow.TimestampType{plain, seconds, millis, nanos} {
			_, _, _ = encodeOne(t, 1114, typmod, arr(typ, int(v)))
		}
		_, _, _ = encodeOne(t, 1184, typmod, arr(zoned, int(v)))
		_, _, _ = encodeOne(t, 1082, -1, arr(arrow.FixedWidthTypes.Date32, int(int32(v))))
		_, _, _ = encodeOne(t, 1083, typmod, arr(arrow.FixedWidthTypes.Time64us, int(v)))
		iv := arrow.MonthDayNanoInterval{Months: int32(v), Days: int32(v >> 16), Nanoseconds: v}
		if _, bin, err := encodeOne(t, 1186, -1, arr(arrow.FixedWidthTypes.MonthDayNanoInterval, iv)); err != nil || len(bin) != 16 {
			t.Error(err, bin)
		}
	})
}
