package databricks

import (
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// remoteColumn is a column as the service describes it.
type remoteColumn struct {
	Name      string `json:"name"`
	Type      string `json:"type_name"`
	Text      string `json:"type_text"`
	Precision int    `json:"type_precision"`
	Scale     int    `json:"type_scale"`
}

// kind is a type of Postgres that values of a remote one have.
type kind struct {
	oid  uint32
	name string
}

// kinds are the types whose values are read as they are, by the service's name in manifests. Postgres has no integer of one byte:
// the next wider type stands for it.
var kinds = map[string]kind{
	"BOOLEAN": {16, "boolean"}, "BYTE": {21, "smallint"}, "SHORT": {21, "smallint"}, "INT": {23, "integer"}, "LONG": {20, "bigint"},
	"FLOAT": {700, "real"}, "DOUBLE": {701, "double precision"}, "STRING": {25, "text"}, "CHAR": {25, "text"}, "BINARY": {17, "bytea"}, "DATE": {1082, "date"},
	"TIMESTAMP": {1184, "timestamp with time zone"}, "TIMESTAMP_NTZ": {1114, "timestamp without time zone"}, "NULL": {25, "text"},
}

const numericOID = 1700

// field is the column as Postgres knows it; HV004 for a type that it has no counterpart of.
func (c remoteColumn) field() (engines.Field, error) {
	f := engines.Field{Name: c.Name, Typmod: -1}
	typ := strings.ToUpper(c.Type)
	if strings.EqualFold(c.Text, "TIMESTAMP_NTZ") { // which some releases call by its text alone
		typ = "TIMESTAMP_NTZ"
	}
	if typ == "DECIMAL" {
		f.OID, f.Typmod = numericOID, int32(c.Precision<<16|c.Scale)+4
		return f, nil
	}
	k, ok := kinds[typ]
	if !ok {
		return f, pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "type %s of column %q has no counterpart in Postgres", c.Text, c.Name),
			`Declare the foreign table's column as text, or as jsonb with option nested 'true'.`)
	}
	f.OID = k.oid
	return f, nil
}

// words maps what a catalog calls the types whose values are read as they are to the names that manifests have.
var words = map[string]string{
	"boolean": "BOOLEAN", "tinyint": "BYTE", "byte": "BYTE", "smallint": "SHORT", "short": "SHORT", "int": "INT", "integer": "INT", "bigint": "LONG", "long": "LONG",
	"float": "FLOAT", "real": "FLOAT", "double": "DOUBLE", "string": "STRING", "binary": "BINARY", "date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ",
}

// postgresName spells the type that IMPORT FOREIGN SCHEMA gives a column of a remote type, as the remote catalog has that
// (full_data_type). nested says that the values are read as JSON. It is empty where there is none.
func postgresName(remote string) (name string, nested bool) {
	remote = strings.ToLower(strings.TrimSpace(remote))
	base, args, _ := strings.Cut(remote, "(")
	switch {
	case base == "decimal" || base == "dec" || base == "numeric":
		return strings.TrimSuffix("numeric("+args, "("), false
	case base == "varchar" || base == "char":
		return "text", false
	case strings.HasPrefix(remote, "array<") || strings.HasPrefix(remote, "map<") || strings.HasPrefix(remote, "struct<") || base == "variant":
		return "jsonb", true
	case strings.HasPrefix(remote, "interval"):
		return "text", false
	}
	return kinds[words[base]].name, false
}
