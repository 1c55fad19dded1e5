package dialect

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// Type OIDs of pg_type that have a counterpart in DuckDB.
const (
	boolOID        = 16
	byteaOID       = 17
	int8OID        = 20
	int2OID        = 21
	int4OID        = 23
	textOID        = 25
	jsonOID        = 114
	float4OID      = 700
	float8OID      = 701
	bpcharOID      = 1042
	varcharOID     = 1043
	dateOID        = 1082
	timeOID        = 1083
	timestampOID   = 1114
	timestamptzOID = 1184
	intervalOID    = 1186
	timetzOID      = 1266
	numericOID     = 1700
	uuidOID        = 2950
	jsonbOID       = 3802
)

var duckTypes = map[uint32]string{
	boolOID: "BOOLEAN", byteaOID: "BLOB", int8OID: "BIGINT", int2OID: "SMALLINT", int4OID: "INTEGER", textOID: "VARCHAR",
	jsonOID: "JSON", float4OID: "FLOAT", float8OID: "DOUBLE", bpcharOID: "VARCHAR", varcharOID: "VARCHAR", dateOID: "DATE",
	timeOID: "TIME", timestampOID: "TIMESTAMP", timestamptzOID: "TIMESTAMPTZ", intervalOID: "INTERVAL", timetzOID: "TIMETZ",
	uuidOID: "UUID", jsonbOID: "JSON",
}

// arrayTypes maps an array type to its element type.
var arrayTypes = map[uint32]uint32{
	1000: boolOID, 1001: byteaOID, 1005: int2OID, 1007: int4OID, 1009: textOID, 1014: bpcharOID, 1015: varcharOID,
	1016: int8OID, 1021: float4OID, 1022: float8OID, 1115: timestampOID, 1182: dateOID, 1183: timeOID, 1185: timestamptzOID,
	1187: intervalOID, 1231: numericOID, 1270: timetzOID, 2951: uuidOID,
}

// DuckDB is the dialect of engine DuckDB.
type DuckDB struct{}

// Name returns "duckdb".
func (DuckDB) Name() string { return "duckdb" }

// Table lists what DuckDB is proven to compute as Postgres does.
func (DuckDB) Table() Index { return duckIndex }

var duckTable = slices.Concat(duckOperators, duckFunctions, duckMasks, duckCasts, duckAggregates, duckWindows)

var duckIndex = duckTable.index()

// Type returns the DuckDB type whose values a column of a Postgres type is shipped in. Types without a counterpart, and
// numeric beyond 38 digits or without a precision, travel as text, which loses nothing.
func (DuckDB) Type(oid uint32, typmod int32) string {
	if oid == numericOID {
		if precision, scale, ok := numericTypmod(typmod); ok && precision <= 38 && scale >= 0 && scale <= precision {
			return "DECIMAL(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
		}
		return "VARCHAR"
	}
	if t, ok := duckTypes[oid]; ok {
		return t
	}
	if element, ok := arrayTypes[oid]; ok {
		return DuckDB{}.Type(element, typmod) + "[]"
	}
	return "VARCHAR"
}

// numericTypmod decodes the typmod of numeric(precision, scale).
func numericTypmod(typmod int32) (precision, scale int, ok bool) {
	if typmod < 4 {
		return 0, 0, false
	}
	t := typmod - 4
	scale = int(t & 0x7ff)
	if scale > 1000 { // negative, since Postgres 15
		scale -= 2048
	}
	return int(t>>16) & 0xffff, scale, true
}

// Identifier quotes a name.
func (DuckDB) Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal quotes a text.
func (DuckDB) Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// RowID is the expression that names a row of a table for UPDATE and DELETE.
func (DuckDB) RowID() string { return "rowid" }

// Ships says that whole statements go to the engine.
func (DuckDB) Ships() Extent { return Statements }

// Verbatim is false.
func (DuckDB) Verbatim() bool { return false }

// Column returns the expression that yields a column of the relation aliased alias (empty: no alias) in the type it is
// shipped in.
func (d DuckDB) Column(c *catalog.Column, alias string) string {
	name := d.Identifier(ColumnName(c))
	if alias != "" {
		name = d.Identifier(alias) + "." + name
	}
	return "CAST(" + name + " AS " + d.Type(c.Type, c.Typmod) + ")"
}

// Relation returns the FROM item that reads a foreign table.
func (d DuckDB) Relation(r *catalog.Relation) (string, error) {
	directory := r.Server.Options["directory"]
	pattern := r.Options["file"]
	if pattern == "" {
		pattern = r.Options["glob"]
	}
	switch {
	case directory == "" && pattern == "":
		return d.table(r), nil
	case directory == "":
		return "", pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, "foreign table %q names files, but server %q is a database", r.Name, r.Server.Name),
			"Use option \"table_name\", or a server with option \"directory\".")
	case pattern == "":
		return "", pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, "foreign table %q needs option \"file\" or \"glob\"", r.Name),
			"ALTER FOREIGN TABLE … OPTIONS (ADD file 'name.parquet').")
	}
	full := path.Join(directory, pattern)
	if r.Options["file"] != "" {
		full = path.Join(directory, globEscape.Replace(pattern))
	}
	return d.files(r, full, pattern)
}

// globEscape makes a file name a pattern that only it matches.
var globEscape = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

func (d DuckDB) table(r *catalog.Relation) string {
	schema, name := duckName(r)
	return d.Identifier(schema) + "." + d.Identifier(name)
}

func duckName(r *catalog.Relation) (schema, name string) {
	schema, name = r.Options["schema_name"], r.Options["table_name"]
	if schema == "" {
		schema = "main"
	}
	if name == "" {
		name = r.Name
	}
	return schema, name
}

// RowsSQL reads the catalog of a database, or what Parquet files say of themselves.
func (d DuckDB) RowsSQL(r *catalog.Relation) string {
	if r.Server.Options["directory"] == "" {
		schema, name := duckName(r)
		return "SELECT estimated_size FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = " + d.Literal(schema) + " AND table_name = " + d.Literal(name)
	}
	files, err := d.Relation(r)
	if args, ok := strings.CutPrefix(files, "read_parquet"); ok && err == nil {
		return "SELECT CAST(sum(num_rows) AS BIGINT) FROM parquet_file_metadata" + args
	}
	return ""
}

// files returns the table function that reads one file or all that match a pattern.
func (d DuckDB) files(r *catalog.Relation, full, pattern string) (string, error) {
	format := r.Options["format"]
	if format == "" {
		format = formatOf(pattern)
	}
	args := []string{d.Literal(full)}
	switch format {
	case "parquet":
	case "json":
	case "csv":
		for _, o := range [][2]string{{"header", "header"}, {"delimiter", "delim"}, {"null", "nullstr"}} {
			if v := r.Options[o[0]]; v != "" {
				args = append(args, o[1]+" = "+d.Literal(v))
			}
		}
	default:
		return "", pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, "the extension of %q does not tell its format", pattern),
			"Set option \"format\" of foreign table %q to parquet, csv or json.", r.Name)
	}
	return "read_" + format + "(" + strings.Join(args, ", ") + ")", nil
}

func formatOf(name string) string {
	for _, compressed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, compressed)
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".parquet":
		return "parquet"
	case ".csv", ".tsv":
		return "csv"
	case ".json", ".jsonl", ".ndjson":
		return "json"
	}
	return ""
}
