package bigquery

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
	"github.com/sluicedb/sluice/pgerr"
)

// TestConvert brings values to the type that home has, or refuses them by column.
func TestConvert(t *testing.T) {
	e := open(t, server(fake.Start(t)))
	numeric := func(p, s int) engines.Field { return engines.Field{OID: oidNumeric, Typmod: numericTypmod(p, s)} }
	typed := func(oid uint32) engines.Field { return engines.Field{OID: oid, Typmod: -1} }
	for _, c := range []struct {
		sql   string
		field engines.Field
		want  string // values, or a SQLSTATE
	}{
		{"unnest([-32768, NULL, 32767])", typed(oidInt2), "-32768|(null)|32767"},
		{"32768", typed(oidInt2), "22003"},
		{"unnest([-2147483648, 2147483647])", typed(oidInt4), "-2147483648|2147483647"},
		{"2147483648", typed(oidInt4), "22003"},
		{"unnest([0.1, NULL, 'Infinity'::DOUBLE])", typed(oidFloat4), "0.1|(null)|+Inf"},
		{"1e39::DOUBLE", typed(oidFloat4), "22003"},
		{"1e-60::DOUBLE", typed(oidFloat4), "22003"},
		{"unnest([1.005, -1.005, 1.004, NULL]::DECIMAL(38,9)[])", numeric(12, 2), "1.01|-1.01|1|(null)"},
		{"99.5::DECIMAL(38,9)", numeric(2, 0), "22003"},
		{"unnest(['99999999999999999999999999999', '-0.000000001']::DECIMAL(38,9)[])", numeric(38, 9), "99999999999999999999999999999|-1e-09"},
		{"unnest(['0.00000000005', '-0.00000000015']::DECIMAL(38,20)[])", numeric(38, 10), "1e-10|-2e-10"},
		{"'99999999999999999999999999999999999999'::DECIMAL(38,0)", numeric(38, 0), "99999999999999999999999999999999999999"},
		{"'99999999999999999999999999999999999999'::DECIMAL(38,0)", numeric(38, 1), "22003"},
		{"1.5::DECIMAL(38,20)", typed(oidNumeric), "1.5"},
		{"'1.5'", typed(oidNumeric), "1.5"},
		{"'00112233-4455-6677-8899-aabbccddeeff'", typed(oidUUID), "ABEiM0RVZneImaq7zN3u/w=="},
		{"'0011'", typed(oidUUID), "22P02"},
		{"unnest(['éa  ', NULL])", engines.Field{OID: oidBpchar, Typmod: 6}, "éa|(null)"},
		{"'abc'", engines.Field{OID: oidVarchar, Typmod: 6}, "22001"},
		{"'{}'", typed(oidJSONB), "{}"},
		{"'x'", typed(oidInt8), "HV004"},
		{"1", typed(oidText), "HV004"},
		{"1", typed(oidBool), "HV004"},
		{"DATETIME '2024-01-01 00:00:00'", typed(oidTimestampTZ), "HV004"},
		{"[1, 2]::BIGINT[]", typed(1007), "[1,2]"},
		{"[1, 2]::BIGINT[]", typed(1009), "HV004"},
	} {
		c.field.Name = "x"
		rows, err := read(t, e, engines.Query{SQL: "SELECT " + c.sql + " AS y", Fields: []engines.Field{c.field}})
		got := code(err)
		if err == nil {
			var values []string
			for _, r := range rows {
				values = append(values, r[0])
			}
			got = strings.Join(values, "|")
		} else if pe := pgerr.From(err); !strings.Contains(pe.Where+pe.Message, `column "x"`) || !strings.Contains(pe.Where, "lake") {
			t.Errorf("%s: %+v", c.sql, pe)
		}
		if got != c.want {
			t.Errorf("%s as %d: %s (%v), want %s", c.sql, c.field.OID, got, err, c.want)
		}
	}
}

// TestDecode refuses messages that are cut.
func TestDecode(t *testing.T) {
	schema, rows := sample(t)
	for at := range len(schema) {
		if _, err := decoded(schema[:at], rows); code(err) != "08P01" && at < len(schema)-8 {
			t.Fatalf("%d bytes of a schema: %v", at, err)
		}
	}
	for at := range len(rows) {
		if _, err := decoded(schema, rows[:at]); code(err) != "08P01" && at < len(rows)-64 {
			t.Fatalf("%d bytes of rows: %v", at, err)
		}
	}
	if got, err := decoded(schema, rows); err != nil || got != "[1 2]" {
		t.Error(got, err)
	}
	old := rows[4:] // as older versions of the format have it
	if got, err := decoded(schema, old); err != nil || got != "[1 2]" {
		t.Error(got, err)
	}
}

// sample is the messages of a schema and of two numbers.
func sample(t *testing.T) (schema, rows []byte) {
	t.Helper()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues([]int64{1, 2}, nil)
	record := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{b.NewArray()}, 2)
	first := ipc.GetSchemaPayload(record.Schema(), memory.DefaultAllocator)
	second, err := ipc.GetRecordBatchPayload(record)
	if err != nil {
		t.Fatal(err)
	}
	var out [2]bytes.Buffer
	for i, p := range []ipc.Payload{first, second} {
		if _, err := p.WritePayload(&out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out[0].Bytes(), out[1].Bytes()
}

func decoded(schema, rows []byte) (string, error) {
	d, err := newDecoder(schema)
	if err != nil {
		return "", err
	}
	record, err := d.decode(rows)
	if err != nil {
		return "", err
	}
	if numbers, ok := record.Column(0).(*array.Int64); ok {
		return fmt.Sprint(numbers.Int64Values()), nil
	}
	return record.Column(0).DataType().String(), nil
}
