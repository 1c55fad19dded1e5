package trino

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Type OIDs of pg_type that are told from others.
const (
	oidText    = 25
	oidNumeric = 1700
)

// kind is a type of Postgres that values of a remote one have.
type kind struct {
	name       string // as Postgres spells it
	oid, array uint32
	typmod     int32
	typ        arrow.DataType
}

// kinds are those of the types without arguments that matter.
var kinds = map[string]kind{
	"boolean":   {"boolean", 16, 1000, -1, arrow.FixedWidthTypes.Boolean},
	"tinyint":   {"smallint", 21, 1005, -1, arrow.PrimitiveTypes.Int16}, // the next wider one: Postgres has none of one byte
	"smallint":  {"smallint", 21, 1005, -1, arrow.PrimitiveTypes.Int16},
	"integer":   {"integer", 23, 1007, -1, arrow.PrimitiveTypes.Int32},
	"bigint":    {"bigint", 20, 1016, -1, arrow.PrimitiveTypes.Int64},
	"real":      {"real", 700, 1021, -1, arrow.PrimitiveTypes.Float32},
	"double":    {"double precision", 701, 1022, -1, arrow.PrimitiveTypes.Float64},
	"varchar":   {"text", oidText, 1009, -1, arrow.BinaryTypes.String},
	"varbinary": {"bytea", 17, 1001, -1, arrow.BinaryTypes.Binary},
	"date":      {"date", 1082, 1182, -1, arrow.FixedWidthTypes.Date32},
	"time":      {"time without time zone", 1083, 1183, -1, arrow.FixedWidthTypes.Time64us},
	"timestamp": {"timestamp without time zone", 1114, 1115, -1, &arrow.TimestampType{Unit: arrow.Microsecond}},
	"timestamp with time zone": {"timestamp with time zone", 1184, 1185, -1,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
	"uuid":                   {"uuid", 2950, 2951, -1, &arrow.FixedSizeBinaryType{ByteWidth: 16}},
	"json":                   {"jsonb", oidText, 0, -1, arrow.BinaryTypes.String},
	"ipaddress":              {"inet", oidText, 0, -1, arrow.BinaryTypes.String},
	"unknown":                {"text", oidText, 0, -1, arrow.BinaryTypes.String}, // of NULL
	"interval day to second": {"interval", 1186, 0, -1, arrow.FixedWidthTypes.MonthDayNanoInterval},
	"interval year to month": {"interval", 1186, 0, -1, arrow.FixedWidthTypes.MonthDayNanoInterval},
}

// typeName is a type as the server spells it, taken apart.
type typeName struct {
	base string // timestamp with time zone, for timestamp(3) with time zone
	args []string
}

func parseType(text string) typeName {
	text = strings.ToLower(strings.TrimSpace(text))
	from := strings.IndexByte(text, '(')
	if from < 0 {
		return typeName{base: text}
	}
	depth, start := 0, from+1
	var args []string
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"':
			if n := strings.IndexByte(text[i+1:], '"'); n >= 0 {
				i += n + 1
			}
		case '(':
			depth++
		case ',', ')':
			if text[i] == ')' {
				depth--
			}
			if depth == 0 || depth == 1 && text[i] == ',' {
				args = append(args, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
			if depth == 0 {
				return typeName{base: text[:from] + text[i+1:], args: args}
			}
		}
	}
	return typeName{base: text}
}

// number returns an argument that is one, -1 for none.
func (t typeName) number(i int) int {
	if i < len(t.args) {
		if n, err := strconv.Atoi(t.args[i]); err == nil {
			return n
		}
	}
	return -1
}

// kind returns what the values of a type are that is no array; false where it has no counterpart.
func (t typeName) kind() (kind, bool) {
	n := t.number(0)
	switch t.base {
	case "decimal":
		scale := max(t.number(1), 0)
		return kind{"numeric(" + strconv.Itoa(n) + "," + strconv.Itoa(scale) + ")", oidNumeric, 1231, int32(n<<16|scale) + 4,
			&arrow.Decimal128Type{Precision: int32(n), Scale: int32(scale)}}, n > 0 && n <= 38 && scale <= n
	case "char":
		return kind{"character(" + strconv.Itoa(n) + ")", 1042, 1014, int32(n) + 4, arrow.BinaryTypes.String}, n > 0
	case "varchar":
		if n > 0 && n <= mostLength {
			return kind{"character varying(" + strconv.Itoa(n) + ")", 1043, 1015, int32(n) + 4, arrow.BinaryTypes.String}, true
		}
	}
	k, ok := kinds[t.base]
	return k, ok
}

// mostLength is how long a character varying may be declared in Postgres.
const mostLength = 10485760

// postgresName is the type that IMPORT FOREIGN SCHEMA gives a column of a remote type, empty for none. What nests is a document,
// but for arrays of what does not.
func postgresName(remote string) string {
	t := parseType(remote)
	switch t.base {
	case "array":
		if len(t.args) == 1 {
			if k, ok := parseType(t.args[0]).kind(); ok && k.array != 0 {
				return k.name + "[]"
			}
		}
		return "jsonb"
	case "map", "row":
		return "jsonb"
	}
	k, ok := t.kind()
	if !ok || k.oid == 1042 && t.number(0) > mostLength {
		return ""
	}
	return k.name
}

// field returns what a column of a result is; HV004 for a type without a counterpart.
func (c *remoteColumn) field() (engines.Field, kind, bool, error) {
	t := parseType(c.Type)
	list := t.base == "array" && len(t.args) == 1
	if list {
		t = parseType(t.args[0])
	}
	k, ok := t.kind()
	if !ok || list && k.array == 0 {
		return engines.Field{}, k, false, pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "type %s of column %q has no counterpart in Postgres", c.Type, c.Name),
			`Declare the foreign table's column as text or jsonb, with option remote_type.`)
	}
	f := engines.Field{Name: c.Name, OID: k.oid, Typmod: k.typmod}
	if list {
		f.OID = k.array
	}
	return f, k, list, nil
}
