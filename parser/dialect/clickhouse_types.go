package dialect

import (
	"strconv"
	"strings"
	"time"

	"github.com/sluicedb/sluice/catalog"
)

// clickHouseTypes are the types of NULLs.
var clickHouseTypes = map[uint32]string{
	boolOID: "UInt8", int2OID: "Int16", int4OID: "Int32", int8OID: "Int64", float4OID: "Float32", float8OID: "Float64", dateOID: "Date",
	timestamptzOID: "DateTime", uuidOID: "UUID", byteaOID: "FixedString(1)",
}

// readAs are the types whose columns are read as they are: the values come in the server's own type, and are checked against
// the foreign table's column one by one. A cast would cut off what does not fit.
var readAs = map[uint32]bool{
	boolOID: true, byteaOID: true, int8OID: true, int2OID: true, int4OID: true, jsonOID: true, float4OID: true, float8OID: true,
	dateOID: true, timestamptzOID: true, numericOID: true, uuidOID: true, jsonbOID: true, 3807: true, 199: true,
}

// Type returns the type of NULLs, and of masks and integers, which are cast.
func (ClickHouse) Type(oid uint32, typmod int32) string {
	t := clickHouseTypes[oid]
	switch p, s, ok := numericTypmod(typmod); {
	case t != "":
	case oid == numericOID && ok && p <= MostDigits && s >= 0 && s <= p:
		t = "Decimal(" + strconv.Itoa(p) + ", " + strconv.Itoa(s) + ")"
	default:
		t = "String"
	}
	return "Nullable(" + t + ")"
}

// clickHouseBase is the type of a column's values at the server, without what makes no other values; empty where that is not
// known. Of DateTime the time zone is left out.
func clickHouseBase(c *catalog.Column) string {
	t := strings.TrimSpace(c.Options["remote_type"])
	for _, wrapping := range []string{"LowCardinality(", "Nullable("} {
		if inner, ok := strings.CutPrefix(t, wrapping); ok {
			t = strings.TrimSuffix(inner, ")")
		}
	}
	if strings.HasPrefix(t, "DateTime(") {
		return "DateTime"
	}
	return t
}

var clickHouseIntegers = map[string]bool{
	"Int8": true, "Int16": true, "Int32": true, "Int64": true, "UInt8": true, "UInt16": true, "UInt32": true, "UInt64": true,
}

// Computes takes columns whose values at the server are those at home, as far as these are of types in the table.
func (ClickHouse) Computes(c *catalog.Column) bool {
	base, t := clickHouseBase(c), Type{OID: c.Type, Typmod: c.Typmod}
	switch {
	case t.IsInt():
		return clickHouseIntegers[base]
	case t.OID == numericOID && base == "UInt64":
		return Whole.Takes(t)
	case t.OID == numericOID:
		p, s, ok := t.Decimal()
		return ok && strings.ReplaceAll(base, " ", "") == "Decimal("+strconv.Itoa(p)+","+strconv.Itoa(s)+")"
	case t.OID == textOID:
		return base == "String"
	}
	return base != "" && base == map[uint32]string{dateOID: "Date", timestamptzOID: "DateTime", uuidOID: "UUID"}[t.OID]
}

// Empty takes any column.
func (ClickHouse) Empty(*catalog.Column) bool { return true }

// What the server has of dates and times, which it wraps around at the ends.
var (
	firstDay, lastDay       = "1970-01-01", "2105-12-31"
	firstMoment, lastMoment = time.Unix(0, 0), time.Unix(1<<32-1, 0)
)

func isClickHouseDate(text string) bool {
	return len(text) == len(firstDay) && text >= firstDay && text <= lastDay
}

// Constant prints what is in the range of the server's types.
func (d ClickHouse) Constant(text string, t Type) (string, bool) {
	switch {
	case t.OID == boolOID:
		sql := map[string]string{"true": "1", "t": "1", "false": "0", "f": "0"}[text]
		return sql, sql != ""
	case t.IsInt():
		return "CAST(" + d.Literal(text) + " AS " + d.Type(t.OID, -1) + ")", true
	case t.OID == dateOID:
		return "toDate(" + d.Literal(text) + ")", isClickHouseDate(text)
	case t.OID == uuidOID:
		return "toUUID(" + d.Literal(strings.ToLower(text)) + ")", true
	case t.OID == timestamptzOID:
		for _, layout := range []string{"2006-01-02 15:04:05-07", "2006-01-02 15:04:05-07:00"} {
			if at, err := time.Parse(layout, text); err == nil && !at.Before(firstMoment) && !at.After(lastMoment) && at.Nanosecond() == 0 {
				return "toDateTime(" + strconv.FormatInt(at.Unix(), 10) + ")", true
			}
		}
	}
	return "", false
}

// Truth is true.
func (ClickHouse) Truth() bool { return true }

// Parameter takes values of UTC, in home's spelling.
func (d ClickHouse) Parameter(placeholder string, t Type) (string, func(string) bool, bool) {
	switch {
	case t.IsInt():
		return "CAST(" + placeholder + " AS " + d.Type(t.OID, -1) + ")", nil, true
	case t.IsText():
		return "CAST(" + placeholder + " AS Nullable(String))", nil, true
	case t.OID == dateOID:
		return "toDate(" + placeholder + ")", isClickHouseDate, true
	case t.OID == uuidOID:
		return "toUUID(" + placeholder + ")", nil, true
	}
	return "", nil, false
}
