package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// Snowflake is the dialect of engine Snowflake, in a session where quoted names mean what they say.
type Snowflake struct{}

var (
	_ Binder = Snowflake{}

	snowflakeTypes = map[uint32]string{
		boolOID: "BOOLEAN", byteaOID: "BINARY", int2OID: "NUMBER(5,0)", int4OID: "NUMBER(10,0)", int8OID: "NUMBER(19,0)", float4OID: "FLOAT", float8OID: "FLOAT",
		dateOID: "DATE", timeOID: "TIME(6)", timestampOID: "TIMESTAMP_NTZ(6)", timestamptzOID: "TIMESTAMP_LTZ(6)",
	}

	// snowflakeTable has what the service documents: numbers are exact, of up to 38 digits; texts without a collation are compared by
	// the bytes of UTF-8; NULL is no value.
	snowflakeTable = slices.Concat(comparisonsOf(Sized, comparing...), comparisonsOf(Date, comparing...), comparisonsOf(Timestamp, comparing...),
		comparisonsOf(Zoned, comparing...), comparisonsOf(Bool, comparing...), comparisonsOf(Equal, "=", "<>"), comparisonsOf(Ordered, "<", "<=", ">", ">="), Table{
			{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)", ""},
			{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)", ""},
			{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "CAST(sum($d$1) AS NUMBER(38,0))", ""},
			{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "CAST(sum($d$1) AS NUMBER(38,0))", ""},
			{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "CAST(sum($d$1) AS NUMBER(38,0))", ""},
			{Aggregate, "sum", takes(Fixed), totalResult, "CAST(sum($d$1) AS $t)", ""},
		}, extremesOf("min", "min($1)", Sized, Date, Timestamp, Zoned, Ordered), extremesOf("max", "max($1)", Sized, Date, Timestamp, Zoned, Ordered))
	snowflakeIndex = snowflakeTable.index()
)

// Name returns "snowflake".
func (Snowflake) Name() string { return "snowflake" }

// Ships says that whole statements go to the engine, if they are simple.
func (Snowflake) Ships() Extent { return Statements }

// Verbatim is false.
func (Snowflake) Verbatim() bool { return false }

// RowID is no name for a row: the engine takes no writes.
func (Snowflake) RowID() string { return "NULL" }

// Type returns the type of NULLs and of values that are bound.
func (Snowflake) Type(oid uint32, typmod int32) string {
	if precision, scale, ok := numericTypmod(typmod); oid == numericOID && ok && precision <= MostDigits && scale >= 0 && scale <= precision {
		return "NUMBER(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	}
	if t := snowflakeTypes[oid]; t != "" {
		return t
	}
	return "VARCHAR"
}

// Identifier quotes a name.
func (Snowflake) Identifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Literal quotes a text. A backslash escapes.
func (Snowflake) Literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
}

// snowflakeUpper is the name that the server has for one that home has without capitals: names without quotes are upper case there and
// lower case at home. Another one stays as it is.
func snowflakeUpper(name string) string {
	if strings.ToLower(name) == name {
		return strings.ToUpper(name)
	}
	return name
}

// Column names a column, whose values the engine brings to the type at home. Timestamps, which have nine digits behind the second unless
// they are declared otherwise, get home's six there: what is compared and grouped is what home sees.
func (d Snowflake) Column(c *catalog.Column, alias string) string {
	name := c.Options["column_name"]
	if name == "" {
		name = snowflakeUpper(c.Name)
	}
	if name = d.Identifier(name); alias != "" {
		name = d.Identifier(alias) + "." + name
	}
	if kind := snowflakeMoment(c); kind != "" {
		return "CAST(" + name + " AS " + kind + "(6))"
	}
	return name
}

// AsText reports whether a column, which a handle has, is of a type that is kept as home's text.
func (Snowflake) AsText(c *catalog.Column) bool {
	fed := DuckDB{}.Type(c.Type, c.Typmod)
	return c.Options["remote_type"] == "VARCHAR" && fed != "VARCHAR" && fed != "JSON" && c.Type != uuidOID
}

// snowflakeMoment is the remote type of a column of timestamps whose fractions may be finer than those at home; empty for others.
func snowflakeMoment(c *catalog.Column) string {
	base, digits, _ := strings.Cut(c.Options["remote_type"], "(")
	if (base == "TIMESTAMP_NTZ" || base == "TIMESTAMP_LTZ" || base == "TIMESTAMP_TZ") && (digits == "" || digits > "6)") {
		return base
	}
	return ""
}

// Relation returns the name of the remote table, which has three parts.
func (d Snowflake) Relation(r *catalog.Relation) (string, error) {
	database, schema, name := snowflakeName(r)
	return d.Identifier(database) + "." + d.Identifier(schema) + "." + d.Identifier(name), nil
}

func snowflakeName(r *catalog.Relation) (database, schema, name string) {
	first := func(names ...string) string {
		for _, n := range names {
			if n != "" {
				return n
			}
		}
		return ""
	}
	return first(r.Options["database_name"], snowflakeUpper(r.Server.Options["database"])), first(r.Options["schema_name"], snowflakeUpper(r.Server.Options["schema"]), "PUBLIC"),
		first(r.Options["table_name"], snowflakeUpper(r.Name))
}

// RowsSQL reads what the server keeps count of, which views have not.
func (d Snowflake) RowsSQL(r *catalog.Relation) string {
	database, schema, name := snowflakeName(r)
	return `SELECT CAST("ROW_COUNT" AS NUMBER(18,0)) AS "rows" FROM ` + d.Identifier(database) + `."INFORMATION_SCHEMA"."TABLES" WHERE "TABLE_SCHEMA" = ` + d.Literal(schema) +
		` AND "TABLE_NAME" = ` + d.Literal(name)
}

// Selected is the expression itself.
func (Snowflake) Selected(sql string) string { return sql }

// Sorted says where NULL is to be.
func (Snowflake) Sorted(sql string, desc, nullsFirst bool) string {
	if desc {
		sql += " DESC"
	}
	if nullsFirst {
		return sql + " NULLS FIRST"
	}
	return sql + " NULLS LAST"
}

// Computes takes columns whose values at the server are those at home. What collation a text has the server's catalog does not say, so
// that it is to be said in the option. Moments that keep a zone are left out: of equal ones a group might show any.
func (Snowflake) Computes(c *catalog.Column) bool {
	remote, t := strings.ReplaceAll(c.Options["remote_type"], " ", ""), Type{OID: c.Type, Typmod: c.Typmod}
	base, _, _ := strings.Cut(remote, "(")
	switch {
	case t.IsText():
		return remote == "TEXT(BINARY)"
	case t.OID == numericOID || t.IsInt():
		_, scale, ok := t.Digits()
		return ok && base == "NUMBER" && strings.HasSuffix(remote, ","+strconv.Itoa(scale)+")")
	}
	return base != "" && base == map[uint32]string{boolOID: "BOOLEAN", dateOID: "DATE", timestampOID: "TIMESTAMP_NTZ", timestamptzOID: "TIMESTAMP_LTZ"}[t.OID] && c.Typmod < 0
}

// Binds takes what is cast from home's spelling.
func (Snowflake) Binds(t Type) bool {
	return t.IsText() || t.OID == dateOID || t.OID == timestampOID || t.OID == timestamptzOID || t.OID == boolOID
}

// Empty takes any column. A VARIANT that holds JSON's null is not NULL there, and neither is it at home.
func (Snowflake) Empty(*catalog.Column) bool { return true }

// Table lists what Snowflake computes as Postgres does.
func (Snowflake) Table() Index { return snowflakeIndex }
