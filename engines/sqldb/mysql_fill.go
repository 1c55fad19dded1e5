package sqldb

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
)

// fillMySQL goes by the types of the query's columns.
func fillMySQL(ctx context.Context, e *Engine, columns []keep.Column, q engines.Query) (*filling, error) {
	types, err := e.mySQLTypes(ctx, len(columns), q)
	if err != nil || types == nil {
		return nil, err
	}
	f := recast(q.SQL, columns, func(i int, name string) (string, bool) { return types[i].kept(name, columns[i]) })
	if f != nil {
		f.ready = unlocked
	}
	return f, nil
}

// unlocked has a statement not lock the rows that it reads: others may go on writing to the tables.
func unlocked(ctx context.Context, c *connection) (func(), error) {
	return func() {}, c.execute(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
}

// mySQLColumn is a column of a result.
type mySQLColumn struct {
	name  string // the driver's, of its type
	scale int64  // digits behind the point
}

// mySQLTypes asks for the types of a query's columns, which the server says before it computes rows; nil where it does not read the
// question, as some older ones do not.
func (e *Engine) mySQLTypes(ctx context.Context, columns int, q engines.Query) ([]mySQLColumn, error) {
	q.SQL, q.Fields = named(q.SQL, columns)+" SELECT * FROM q LIMIT 0", nil
	opened, err := e.Open(ctx, q)
	if err != nil {
		if unfit(err) {
			err = nil
		}
		return nil, err
	}
	defer opened.Close()
	rows := opened.(*stream).rows
	types := make([]mySQLColumn, columns)
	for i := range types {
		types[i].name = rows.(driver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i)
		_, types[i].scale, _ = rows.(driver.RowsColumnTypePrecisionScale).ColumnTypePrecisionScale(i)
	}
	return types, nil
}

// Kinds of MySQL's types, by the driver's names.
var (
	mySQLTexts  = kindOf("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET")
	mySQLBytes  = kindOf("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")
	mySQLWholes = kindOf("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "UNSIGNED TINYINT", "UNSIGNED SMALLINT", "UNSIGNED MEDIUMINT", "UNSIGNED INT", "UNSIGNED BIGINT")
)

func kindOf(names ...string) map[string]bool {
	kind := map[string]bool{}
	for _, name := range names {
		kind[name] = true
	}
	return kind
}

// kept makes a column's values of those of one of a result; false where some could be others then, without an error. Numbers that a
// column does not hold are errors by themselves, under the session's sql_mode.
func (m mySQLColumn) kept(sql string, c keep.Column) (string, bool) {
	whole, decimal := mySQLWholes[m.name], m.name == "DECIMAL"
	switch {
	case c.Type.List:
	case keptWhole[c.Type.Name]:
		return sql, whole || decimal && m.scale == 0
	case c.Type.Name == "boolean":
		return "CASE WHEN " + sql + " IN (0, 1) THEN " + sql + " WHEN " + sql + " IS NOT NULL THEN 1000 END", whole
	case c.Type.Name == "bytea":
		return sql, mySQLBytes[m.name]
	case strings.HasPrefix(c.Remote, "decimal"):
		return sql, whole || decimal && m.scale <= int64(c.Type.Scale)
	case c.Type.Name == "numeric" && c.Type.Precision == 0:
		return "CAST(" + sql + " AS CHAR)", whole || decimal
	case c.Type.Text(), c.Type.Name == "character" && m.name == "CHAR":
		return mySQLGiven(textually(sql, c.Type.Length), sql, sql), mySQLTexts[m.name]
	case c.Type.Name == "date" && m.name == "DATE", c.Type.Name == "timestamp without time zone" && m.name == "DATETIME" && m.fits(c):
		return mySQLGiven(daily(sql), sql, sql), true
	case c.Type.Name == "timestamp with time zone" && m.name == "TIMESTAMP" && m.fits(c):
		return mySQLGiven(daily(sql), sql, "CONCAT("+sql+", '+00')"), true
	}
	return "", false
}

// fits reports whether a time has no more digits behind its seconds than its type at home has.
func (m mySQLColumn) fits(c keep.Column) bool {
	return m.scale <= 6 && (c.Type.Length == 0 || m.scale <= int64(c.Type.Length))
}

// mySQLGiven is a value where a condition holds, and NULL where the one it is made of is: all others overflow.
func mySQLGiven(condition, of, value string) string {
	return "CASE WHEN " + of + " IS NULL THEN NULL WHEN " + condition + " THEN " + value + " ELSE 9223372036854775807 + CHAR_LENGTH(CONCAT(" + of + ", 'x')) END"
}

// textually holds for texts that home has: without a NUL, and of no more characters than there may be, where that is not 0.
func textually(sql string, most int) string {
	condition := "LOCATE(X'00', CAST(CONVERT(" + sql + " USING utf8mb4) AS BINARY)) = 0"
	if most > 0 {
		condition += " AND CHAR_LENGTH(" + sql + ") <= " + strconv.Itoa(most)
	}
	return condition
}

// daily holds for days that there are.
func daily(sql string) string {
	return "YEAR(" + sql + ") > 0 AND DAY(" + sql + ") BETWEEN 1 AND DAY(LAST_DAY(" + sql + "))"
}
