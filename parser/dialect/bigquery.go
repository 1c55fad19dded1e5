package dialect

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// BigQuery is the dialect of Google BigQuery, GoogleSQL.
type BigQuery struct{}

var (
	_ Typed = BigQuery{}
	_ Namer = BigQuery{}
)

// Name returns "bigquery".
func (BigQuery) Name() string { return "bigquery" }

// Ships says that whole statements go to the engine, if they are simple.
func (BigQuery) Ships() Extent { return Statements }

// Verbatim is false.
func (BigQuery) Verbatim() bool { return false }

// RowID is no name for a row: the engine takes no writes.
func (BigQuery) RowID() string { return "NULL" }

// Identifier quotes a name.
func (BigQuery) Identifier(name string) string { return "`" + bigEscapes(name, '`') + "`" }

// Literal quotes a text.
func (BigQuery) Literal(text string) string { return "'" + bigEscapes(text, '\'') + "'" }

// bigEscapes writes a text between quotes, in which a backslash escapes.
func bigEscapes(text string, quote byte) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == quote || c == '\\':
			b.Write([]byte{'\\', c})
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// bigNames are names that columns of results may have without doubt: those of the service itself begin with an underscore.
var bigNames = regexp.MustCompile(`^\pL[\pL\pN_ -]*$`)

// Names leaves out what a table's column cannot be called, as results are tables.
func (BigQuery) Names(name string) bool { return len(name) <= 250 && bigNames.MatchString(name) }

// bigRead are the types whose columns are read as they are: the values come in the remote type, and are checked against the foreign
// table's column one by one. A cast would round what does not fit.
var bigRead = map[uint32]bool{
	boolOID: true, byteaOID: true, int8OID: true, int2OID: true, int4OID: true, float4OID: true, float8OID: true, dateOID: true, timeOID: true,
	timestampOID: true, timestamptzOID: true, intervalOID: true,
}

// bigTexts are the remote types whose values come as text.
var bigTexts = map[string]bool{"STRING": true, "JSON": true, "GEOGRAPHY": true}

// Column reads a column as it is where its type at home has a counterpart, as JSON where it is one of JSON and the remote one is
// not, and else as text.
func (d BigQuery) Column(c *catalog.Column, alias string) string {
	name := aliased(d, c, alias)
	base := bigBase(c)
	_, list := arrayTypes[c.Type]
	switch {
	case bigRead[c.Type] || list:
		return name
	case c.Type == numericOID && d.Type(c.Type, c.Typmod) != "STRING":
		return name
	case bigTexts[base]:
		return name
	case c.Type == jsonOID || c.Type == jsonbOID:
		return "TO_JSON_STRING(" + name + ")"
	}
	return "CAST(" + name + " AS STRING)"
}

// Relation returns the name of the remote table, which has three parts.
func (d BigQuery) Relation(r *catalog.Relation) (string, error) {
	project, dataset, name := bigName(r)
	return d.Identifier(project) + "." + d.Identifier(dataset) + "." + d.Identifier(name), nil
}

func bigName(r *catalog.Relation) (project, dataset, name string) {
	project, dataset, name = r.Options["catalog_name"], r.Options["schema_name"], r.Options["table_name"]
	if project == "" {
		project = r.Server.Options["project"]
	}
	if dataset == "" {
		dataset = r.Server.Options["dataset"]
	}
	if dataset == "" {
		dataset = r.Schema
	}
	if name == "" {
		name = r.Name
	}
	return project, dataset, name
}

// RowsSQL is empty: to ask for it would be a job of its own.
func (BigQuery) RowsSQL(*catalog.Relation) string { return "" }

// Selected is the expression itself.
func (BigQuery) Selected(sql string) string { return sql }

// Sorted says where NULL is to be.
func (BigQuery) Sorted(sql string, desc, nullsFirst bool) string {
	return ClickHouse{}.Sorted(sql, desc, nullsFirst)
}

// Table lists what BigQuery computes as Postgres does.
func (BigQuery) Table() Index { return bigIndex }

// Empty takes any column but arrays, of which none is NULL at the service.
func (BigQuery) Empty(c *catalog.Column) bool { return bigBase(c) != "" && bigBase(c) != "ARRAY" }
