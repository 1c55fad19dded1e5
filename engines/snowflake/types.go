package snowflake

import (
	"strconv"
	"strings"

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
	oidJSON        = 114
	oidFloat4      = 700
	oidFloat8      = 701
	oidBpchar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidTimeTZ      = 1266
	oidBit         = 1560
	oidVarbit      = 1562
	oidNumeric     = 1700
	oidUUID        = 2950
	oidJSONB       = 3802
)

var typeNames = map[uint32]string{
	oidBool: "boolean", oidBytea: "bytea", oidInt8: "bigint", oidInt2: "smallint", oidInt4: "integer", oidText: "text", oidJSON: "json",
	oidFloat4: "real", oidFloat8: "double precision", oidBpchar: "character", oidVarchar: "character varying", oidDate: "date", oidTime: "time",
	oidTimestamp: "timestamp", oidTimestampTZ: "timestamp with time zone", oidInterval: "interval", oidTimeTZ: "time with time zone", oidBit: "bit",
	oidVarbit: "bit varying", oidNumeric: "numeric", oidUUID: "uuid", oidJSONB: "jsonb",
}

// remoteColumn is a column of a result as the server describes it.
type remoteColumn struct {
	name, kind       string
	precision, scale int
}

// kinds are the types that columns of a result have at home, by the server's name; of fixed ones digits say more. What is nested, or of
// places on earth, comes as JSON.
var kinds = map[string]uint32{
	"boolean": oidBool, "real": oidFloat8, "text": oidText, "binary": oidBytea, "date": oidDate, "time": oidTime, "timestamp_ntz": oidTimestamp,
	"timestamp_ltz": oidTimestampTZ, "timestamp_tz": oidTimestampTZ, "variant": oidJSONB, "object": oidJSONB, "array": oidJSONB, "map": oidJSONB,
	"geography": oidJSONB, "geometry": oidJSONB,
}

// integerOf is the smallest integer type that holds whole numbers of so many digits; numeric where there is none.
func integerOf(precision int) uint32 {
	switch {
	case precision <= 4:
		return oidInt2
	case precision <= 9:
		return oidInt4
	case precision <= 18:
		return oidInt8
	}
	return oidNumeric
}

// field is the column as Postgres knows it; HV004 for a type that it has no counterpart of.
func (c remoteColumn) field() (engines.Field, error) {
	f := engines.Field{Name: c.name, OID: kinds[c.kind], Typmod: -1}
	if c.kind == "fixed" {
		if f.OID = oidNumeric; c.scale == 0 {
			f.OID = integerOf(c.precision)
		}
		if f.OID == oidNumeric {
			f.Typmod = int32(c.precision<<16|c.scale) + 4
		}
	}
	if f.OID == 0 {
		return f, pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "type %s of column %q has no counterpart in Postgres", strings.ToUpper(c.kind), c.name),
			"Make a view at Snowflake that casts it, for instance to VARCHAR, and import that.")
	}
	return f, nil
}

// describe spells the column's type as the server's users do.
func (c remoteColumn) describe() string {
	switch c.kind {
	case "fixed":
		return "NUMBER(" + strconv.Itoa(c.precision) + "," + strconv.Itoa(c.scale) + ")"
	case "real":
		return "FLOAT"
	case "text":
		return "VARCHAR"
	}
	return strings.ToUpper(c.kind)
}

// catalogKinds are the names that results have for the types of the information schema, where they differ.
var catalogKinds = map[string]string{"NUMBER": "fixed", "FLOAT": "real"}

// postgresName spells the type that IMPORT FOREIGN SCHEMA gives a column of the information schema. It is empty where there is none.
func postgresName(typ string, precision, scale int) string {
	kind := catalogKinds[typ]
	if kind == "" {
		kind = strings.ToLower(typ)
	}
	f, err := remoteColumn{kind: kind, precision: precision, scale: scale}.field()
	switch {
	case err != nil:
		return ""
	case f.OID == oidNumeric:
		return "numeric(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	}
	return typeNames[f.OID]
}
