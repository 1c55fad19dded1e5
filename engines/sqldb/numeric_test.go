package sqldb

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
)

// Decimals of few digits are what they are by the long way, or are left to it.
func TestFewDigits(t *testing.T) {
	for _, c := range []struct {
		text             string
		precision, scale int
		want             int64
		ok               bool
	}{
		{"0", 12, 2, 0, true}, {"-0.00", 12, 2, 0, true}, {"1", 12, 2, 100, true}, {"-1.5", 12, 2, -150, true}, {".5", 12, 2, 50, true}, {"5.", 12, 2, 500, true},
		{"9999999999.99", 12, 2, 999999999999, true}, {"10000000000", 12, 2, 0, false}, {"1.005", 12, 2, 0, false}, {"1.500", 12, 2, 0, false},
		{"999999999999999999", 38, 0, 999999999999999999, true}, {"1000000000000000000", 38, 0, 0, false}, {"9.9", 38, 20, 0, false},
		{"", 12, 2, 0, false}, {"-", 12, 2, 0, false}, {".", 12, 2, 0, false}, {"1e2", 12, 2, 0, false}, {"1.2.3", 12, 2, 0, false}, {"--1", 12, 2, 0, false}, {"+1", 12, 2, 0, false},
	} {
		n, ok := fewDigits(c.text, c.precision, c.scale)
		if n != c.want || ok != c.ok {
			t.Errorf("%q as numeric(%d,%d): %d, %v", c.text, c.precision, c.scale, n, ok)
		}
		if raw, rawOK := fewDigits([]byte(c.text), c.precision, c.scale); raw != n || rawOK != ok {
			t.Errorf("%q: bytes are %d, %v", c.text, raw, rawOK)
		}
		if !c.ok {
			continue
		}
		short := newColumn(engines.Field{Name: "x", OID: oidNumeric, Typmod: decimal(int32(c.precision), int32(c.scale))}, false)
		if err := short.append(c.text); err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := short.take(1).(*array.Decimal128).Value(0).LowBits(); int64(got) != c.want {
			t.Errorf("%q: %d instead of %d", c.text, int64(got), c.want)
		}
	}
}

// Floats of few digits are what their shortest spelling says, or are left to the long way.
func TestShortFloat(t *testing.T) {
	for _, c := range []struct {
		value            float64
		precision, scale int
		want             int64
		ok               bool
	}{
		{0.1, 12, 2, 10, true}, {-0.07, 12, 2, -7, true}, {0.125, 12, 2, 0, false}, {0.30000000000000004, 20, 15, 0, false}, {0.3, 20, 15, 300000000000000, true},
		{1e15, 38, 0, 0, false}, {999999999999999, 38, 0, 999999999999999, true}, {100, 2, 0, 0, false}, {math.NaN(), 12, 2, 0, false}, {math.Inf(1), 12, 2, 0, false}, {5e-324, 12, 2, 0, false},
		{1.005, 12, 3, 1005, true}, {4.35, 12, 2, 435, true}, {math.Copysign(0, -1), 12, 2, 0, true},
	} {
		n, ok := shortFloat(c.value, c.precision, c.scale)
		if n != c.want || ok != c.ok {
			t.Errorf("%v as numeric(%d,%d): %d, %v", c.value, c.precision, c.scale, n, ok)
		}
	}
	for range 100_000 { // what is taken is what the shortest spelling says
		f := float64(rand.Int64N(1e12)) / []float64{1, 10, 100, 1000, 3, 7}[rand.IntN(6)]
		n, ok := shortFloat(f, 38, 4)
		if want, short := fewDigits(strconv.FormatFloat(f, 'f', -1, 64), 38, 4); ok && (!short || n != want) {
			t.Fatalf("%v: %d instead of %d, %v", f, n, want, short)
		}
	}
}
