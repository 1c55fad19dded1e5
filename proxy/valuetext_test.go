package proxy

import (
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestValueText spells what a Postgres would send in binary form.
func TestValueText(t *testing.T) {
	const beyond = "beyond"
	at := func(text string) time.Time {
		v, err := time.Parse("2006-01-02 15:04:05.999999", text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	numeric := func(text string) (n pgtype.Numeric) {
		if err := n.Scan(text); err != nil {
			t.Fatal(err)
		}
		return n
	}
	m := pgtype.NewMap()
	for _, c := range []struct {
		oid   uint32
		value any
		want  string
	}{
		{boolOID, true, "true"}, {boolOID, false, "false"},
		{int2OID, int16(math.MinInt16), "-32768"}, {int4OID, int32(math.MinInt32), "-2147483648"}, {int8OID, int64(math.MinInt64), "-9223372036854775808"},
		{float4OID, float32(0.1), "0.1"}, {float8OID, math.Copysign(0, -1), "-0"}, {float8OID, 5e-324, "5e-324"},
		{float8OID, math.Inf(1), "Infinity"}, {float8OID, math.Inf(-1), "-Infinity"}, {float4OID, float32(math.NaN()), "NaN"},
		{dateOID, at("2024-02-29 00:00:00"), "2024-02-29"}, {dateOID, at("0001-01-01 00:00:00"), "0001-01-01"}, {dateOID, at("9999-12-31 00:00:00"), "9999-12-31"},
		{dateOID, at("0000-12-31 00:00:00"), beyond}, {dateOID, pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true}, beyond},
		{timestampOID, at("1969-12-31 23:59:59.999999"), "1969-12-31 23:59:59.999999"}, {timestampOID, at("9999-12-31 23:59:59.999999"), "9999-12-31 23:59:59.999999"},
		{timestampOID, at("9999-12-31 23:59:59.999999").Add(time.Microsecond), beyond}, {timestampOID, at("0001-01-01 00:00:00").Add(-time.Microsecond), beyond},
		{timestampOID, pgtype.Timestamp{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, beyond},
		{timestamptzOID, at("2024-02-29 12:30:00.5"), "2024-02-29 12:30:00.500000 UTC"}, {timestamptzOID, pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, beyond},
		{numericOID, numeric("0"), "0"}, {numericOID, numeric("0.00"), "0.00"}, {numericOID, numeric("-0.010"), "-0.010"}, {numericOID, numeric("10000"), "10000"},
		{numericOID, numeric("100000000.0001"), "100000000.0001"}, {numericOID, numeric("-99999999999999999999999999999999999.999"), "-99999999999999999999999999999999999.999"},
		{numericOID, numeric("0.000000001"), "0.000000001"}, {numericOID, pgtype.Numeric{NaN: true, Valid: true}, beyond},
		{uuidOID, [16]byte{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}, "00112233-4455-6677-8899-aabbccddeeff"}, {25, "it's é", "it's é"},
	} {
		v, err := m.Encode(c.oid, pgtype.BinaryFormatCode, c.value, nil)
		if err != nil {
			t.Fatalf("%v: %v", c.value, err)
		}
		got, ok := valueText(c.oid, v)
		if !ok {
			got = beyond
		}
		if got != c.want {
			t.Errorf("%v of type %d: %s; want %s", c.value, c.oid, got, c.want)
		}
	}
}
