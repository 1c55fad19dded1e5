package bigquery

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/jackc/pgx/v5/pgconn"
	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Type OIDs of pg_type.
const (
	oidBool        = 16
	oidBytea       = 17
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidFloat4      = 700
	oidFloat8      = 701
	oidBpchar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidNumeric     = 1700
	oidUUID        = 2950
	oidJSONB       = 3802
)

// arrays are the types of arrays by that of their elements.
var arrays = map[uint32]uint32{
	oidBool: 1000, oidBytea: 1001, oidInt8: 1016, oidText: 1009, oidFloat8: 1022, oidDate: 1182, oidTime: 1183, oidTimestamp: 1115,
	oidTimestampTZ: 1185, oidNumeric: 1231,
}

// numericTypmod is that of numeric(precision, scale).
func numericTypmod(precision, scale int) int32 { return int32(precision<<16|scale) + 4 }

// natural is what Postgres calls a column that rows come with.
func natural(f arrow.Field) (engines.Field, error) {
	out := engines.Field{Name: f.Name, Typmod: -1}
	list, isList := f.Type.(*arrow.ListType)
	t := f.Type
	if isList {
		t = list.Elem()
	}
	switch t := t.(type) {
	case *arrow.BooleanType:
		out.OID = oidBool
	case *arrow.Int64Type:
		out.OID = oidInt8
	case *arrow.Float64Type:
		out.OID = oidFloat8
	case *arrow.Decimal128Type:
		out.OID, out.Typmod = oidNumeric, numericTypmod(int(t.Precision), int(t.Scale))
	case *arrow.Decimal256Type: // which holds a digit more than its precision says
		out.OID, out.Typmod = oidNumeric, numericTypmod(int(t.Precision)+1, int(t.Scale))
	case *arrow.StringType:
		out.OID = oidText
	case *arrow.BinaryType:
		out.OID = oidBytea
	case *arrow.Date32Type:
		out.OID = oidDate
	case *arrow.Time64Type:
		out.OID = oidTime
	case *arrow.TimestampType:
		if out.OID = oidTimestamp; t.TimeZone != "" {
			out.OID = oidTimestampTZ
		}
	case *arrow.MonthDayNanoIntervalType:
		out.OID = oidInterval
	}
	if isList {
		out.OID, out.Typmod = arrays[out.OID], -1
	}
	if out.OID == 0 {
		return out, unmapped(f.Name, f.Type.String())
	}
	return out, nil
}

func unmapped(column, remote string) *pgconn.PgError {
	return pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "type %s of column %q has no counterpart in Postgres", remote, column),
		"Declare the foreign table's column as jsonb: it is read as JSON then.")
}

// kind is how a type of BigQuery is read: the type that it has at home, and the names that the REST API has for it beside that of SQL.
var kinds = map[string]string{
	"BOOL": "boolean", "INT64": "bigint", "FLOAT64": "double precision", "STRING": "text", "BYTES": "bytea", "DATE": "date",
	"TIME": "time without time zone", "DATETIME": "timestamp without time zone", "TIMESTAMP": "timestamp with time zone", "JSON": "jsonb",
	"GEOGRAPHY": "text", "INTERVAL": "text", "STRUCT": "jsonb", "NUMERIC": "numeric(38,9)", "BIGNUMERIC": "numeric(77,38)",
}

// listed are the types whose arrays have a counterpart. Those of others are read as JSON.
var listed = map[string]bool{
	"BOOL": true, "INT64": true, "FLOAT64": true, "STRING": true, "BYTES": true, "DATE": true, "TIME": true, "DATETIME": true, "TIMESTAMP": true, "NUMERIC": true,
}

// legacy are names that the REST API has for types.
var legacy = map[string]string{"BOOLEAN": "BOOL", "INTEGER": "INT64", "FLOAT": "FLOAT64", "RECORD": "STRUCT", "DECIMAL": "NUMERIC", "BIGDECIMAL": "BIGNUMERIC"}

// importedType spells the type that IMPORT FOREIGN SCHEMA gives a column, and its remote type as option remote_type has that. The
// type is empty where there is none.
func importedType(f *rest.TableFieldSchema) (postgres, remote string) {
	base := strings.ToUpper(f.Type)
	if name := legacy[base]; name != "" {
		base = name
	}
	postgres, remote = kinds[base], base
	switch {
	case (base == "NUMERIC" || base == "BIGNUMERIC") && f.Precision > 0:
		args := "(" + strconv.FormatInt(f.Precision, 10) + "," + strconv.FormatInt(f.Scale, 10) + ")"
		postgres, remote = "numeric"+args, base+args
	case base == "TIMESTAMP" && f.TimestampPrecision != nil && *f.TimestampPrecision > 6: // more digits than Postgres has
		postgres, remote = "text", base+"("+strconv.FormatInt(*f.TimestampPrecision, 10)+")"
	case base == "STRING" && f.Collation != "":
		remote += " COLLATE " + f.Collation
	}
	if strings.EqualFold(f.Mode, "REPEATED") {
		remote = "ARRAY<" + remote + ">"
		switch {
		case postgres == "":
		case listed[base] && remote != "ARRAY<TIMESTAMP(12)>":
			postgres += "[]"
		default:
			postgres = "jsonb"
		}
	}
	return postgres, remote
}
