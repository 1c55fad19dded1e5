package duckdb

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sluicedb/sluice/engines"
)

// framed is a stream of DataRow messages in one batch.
type framed struct {
	fields []engines.Field
	batch  engines.Frames
	read   bool
}

func (f *framed) Fields() []engines.Field { return f.fields }
func (f *framed) Close() error            { return nil }
func (f *framed) Next(context.Context) (engines.Batch, error) {
	if f.read {
		return nil, io.EOF
	}
	f.read = true
	return f.batch, nil
}

// frames makes rows of a number and a value in binary form of values in Postgres' text.
func frames(t *testing.T, oid uint32, values ...string) *framed {
	m := pgtype.NewMap()
	f := &framed{fields: []engines.Field{{Name: "i", OID: 23, Typmod: -1}, {Name: "v", OID: oid, Typmod: -1}}}
	for i, text := range values {
		row := pgproto3.DataRow{Values: [][]byte{{0, 0, byte(i >> 8), byte(i)}, nil}}
		if text != "NULL" {
			typ, _ := m.TypeForOID(oid)
			value, err := typ.Codec.DecodeValue(m, oid, pgtype.TextFormatCode, []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if infinity, ok := value.(pgtype.InfinityModifier); ok {
				value = map[uint32]any{
					pgtype.DateOID:        pgtype.Date{InfinityModifier: infinity, Valid: true},
					pgtype.TimestampOID:   pgtype.Timestamp{InfinityModifier: infinity, Valid: true},
					pgtype.TimestamptzOID: pgtype.Timestamptz{InfinityModifier: infinity, Valid: true},
				}[oid]
			}
			if row.Values[1], err = m.Encode(oid, pgtype.BinaryFormatCode, value, []byte{}); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if f.batch.Data, err = row.Encode(f.batch.Data); err != nil {
			t.Fatal(err)
		}
		f.batch.Rows++
	}
	return f
}

// TestFeedBinary feeds values in Postgres' binary form.
func TestFeedBinary(t *testing.T) {
	f := federation(t)
	many := make([]string, 5000)
	for i := range many {
		many[i] = strings.Repeat("x", i%40) + strconv.Itoa(i)
	}
	for _, test := range []struct {
		oid    uint32
		typ    string
		values []string
		want   string // of the values, as DuckDB spells them; empty: the same
	}{
		{16, "BOOLEAN", []string{"t", "NULL", "f"}, "true NULL false"},
		{21, "SMALLINT", []string{"-32768", "NULL", "7"}, ""},
		{23, "INTEGER", []string{"-2147483648", "NULL", "7"}, ""},
		{20, "BIGINT", []string{"-9223372036854775808", "NULL", "7"}, ""},
		{700, "FLOAT", []string{"1.5", "NULL", "-2.5"}, ""},
		{701, "DOUBLE", []string{"1.5", "NULL", "5e-324"}, ""},
		{1700, "DECIMAL(4,2)", []string{"0.00", "NULL", "-99.99", "99.90", "10.00"}, ""},
		{1700, "DECIMAL(9,2)", []string{"0.01", "-9999999.99", "1000000.00", "10000.00"}, ""},
		{1700, "DECIMAL(18,6)", []string{"-999999999999.999999", "0.000001", "100000000.000000"}, ""},
		{1700, "DECIMAL(18,0)", []string{"-999999999999999999", "100000000000000000", "12345"}, ""},
		{1700, "DECIMAL(38,10)", []string{"-9999999999999999999999999999.9999999999", "0.0000000001", "18446744073.7095516160", "-1.0000000000", "10000000000000000000000000000.0000000000"}, "-9999999999999999999999999999.9999999999 0.0000000001 18446744073.7095516160 -1.0000000000 22003"},
		{1700, "DECIMAL(38,0)", []string{"-18446744073709551616", "18446744073709551615", "99999999999999999999999999999999999999"}, ""},
		{25, "VARCHAR", many, ""},
		{17, "BLOB", []string{`\x`, `\x00ff`, "NULL"}, ""},
		{1082, "DATE", []string{"2024-02-29", "1999-12-31", "infinity", "-infinity", "NULL"}, ""},
		{1083, "TIME", []string{"23:59:59.999999", "00:00:00"}, ""},
		{1114, "TIMESTAMP", []string{"2024-02-29 12:34:56.789", "1969-12-31 23:59:59.999999", "infinity", "-infinity"}, ""},
		{1184, "TIMESTAMPTZ", []string{"2024-02-29 12:34:56+00", "infinity"}, ""},
		{1186, "INTERVAL", []string{"14 mon 3 day 04:05:06.789", "-1 mon"}, "14 months 3 days 14706789000 microseconds -1 months 0 days 0 microseconds"},
		{2950, "UUID", []string{"00112233-4455-6677-8899-aabbccddeeff", "ffffffff-0000-0000-0000-000000000001"}, ""},
		{1700, "DECIMAL(10,2)", []string{"NaN"}, "22003"},
		{1700, "DECIMAL(10,2)", []string{"1.001"}, "22003"},
		{1700, "DECIMAL(10,2)", []string{"1000000000000000000000"}, "22003"},
	} {
		rowsIn := frames(t, test.oid, test.values...)
		feed := engines.Feed{
			Columns: []engines.FeedColumn{{Name: "i", Type: "INTEGER"}, {Name: "v", Type: test.typ}},
			Open:    func(context.Context) (engines.Stream, error) { return rowsIn, nil },
		}
		want := test.want
		if want == "" {
			want = strings.Join(test.values, " ")
		}
		var got []string
		rows, err := federate(t, f, "SELECT v FROM sluice_feed(1) ORDER BY i", feed)
		for _, r := range rows {
			got = append(got, r[0])
		}
		if err != nil && !strings.HasSuffix(want, code(err)) || err == nil && !slices.Equal(strings.Fields(strings.Join(got, " ")), strings.Fields(want)) {
			t.Errorf("%s: got %v, %v, want %s", test.typ, got, err, want)
		}
	}
}

// TestFeedMalformed feeds what is no row: an error, and nothing worse.
func TestFeedMalformed(t *testing.T) {
	f := federation(t)
	good := frames(t, 23, "1").batch.Data
	for _, data := range [][]byte{{'D'}, good[:len(good)-1], append([]byte{'X'}, good[1:]...), append(slices.Clone(good), 0)} {
		for _, typ := range []string{"INTEGER", "BIGINT", "DECIMAL(10,2)", "INTERVAL", "INTEGER[]"} {
			s := &framed{fields: make([]engines.Field, 2), batch: engines.Frames{Data: data, Rows: 1}}
			feed := engines.Feed{
				Columns: []engines.FeedColumn{{Name: "i", Type: "INTEGER"}, {Name: "v", Type: typ}},
				Open:    func(context.Context) (engines.Stream, error) { return s, nil },
			}
			if rows, err := federate(t, f, "SELECT * FROM sluice_feed(1)", feed); err == nil {
				t.Errorf("%x as %s gives %v", data, typ, rows)
			}
		}
	}
}
