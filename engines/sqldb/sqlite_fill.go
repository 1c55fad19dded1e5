package sqldb

import (
	"context"
	"database/sql/driver"
	"strconv"

	"github.com/mattn/go-sqlite3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// fillSQLite goes by the values: each one is looked at by SQL, and those that are not kept as they are by a function, which makes what is
// kept of it, or refuses it as it would be refused on its way home.
func fillSQLite(_ context.Context, _ *Engine, columns []keep.Column, q engines.Query) (*filling, error) {
	var refused error
	f := recast(q.SQL, columns, func(i int, name string) (string, bool) {
		plain, ok := sqLitePlain(name, columns[i].Type)
		return "CASE WHEN " + name + " IS NULL OR " + plain + " THEN " + name + " ELSE " + keptFunction(i) + "(" + name + ") END", ok
	})
	if f == nil {
		return nil, nil
	}
	f.refused = func() error { return refused }
	f.ready = func(_ context.Context, c *connection) (func(), error) {
		for i := range columns {
			k := &keptValue{column: newColumn(q.Fields[i], true), refused: &refused}
			const pure = false // or it might be called of a constant whose CASE does not come to it
			if err := c.Conn.(*sqlite3.SQLiteConn).RegisterFunc(keptFunction(i), k.text, pure); err != nil {
				return nil, err
			}
		}
		return interruptible(c)
	}
	return f, nil
}

// interruptible leaves a statement open on a connection, which reads nothing: an interrupt that comes just before another one begins would
// be lost else.
func interruptible(c *connection) (release func(), err error) {
	stmt, rows, err := c.query(context.Background(), "SELECT 1 UNION ALL SELECT 2", nil)
	if err != nil {
		return nil, err
	}
	release = func() {
		_ = rows.Close()
		_ = stmt.Close()
	}
	if err := rows.Next(make([]driver.Value, 1)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func keptFunction(column int) string { return "sluice_kept_" + strconv.Itoa(column+1) }

// keptValue is the function for a column.
type keptValue struct {
	column  *column
	refused *error
}

// text is what is kept of a value, as the column's type is read from it.
func (k *keptValue) text(v any) (string, error) {
	err := k.column.append(v)
	if err == nil && k.column.builder.Len() == 0 {
		err = pgerr.New(pgerr.InternalError, "a value of column %q is lost", k.column.field.Name)
	}
	if err != nil {
		*k.refused = err
		return "", err
	}
	a := k.column.take(1)
	defer a.Release()
	return a.ValueStr(0), nil
}

// sqLitePlain holds for values of a type that are kept as they are; false where others may not be spelled as the type has them.
func sqLitePlain(sql string, t keep.Type) (condition string, ok bool) {
	isA := func(kind string) string { return "typeof(" + sql + ") = '" + kind + "'" }
	switch {
	case t.List:
		return "", false
	case t.Name == "smallint", t.Name == "integer", t.Name == "bigint":
		least := map[string]string{"smallint": "-32768 AND 32767", "integer": "-2147483648 AND 2147483647", "bigint": "-9223372036854775808 AND 9223372036854775807"}[t.Name]
		return isA("integer") + " AND " + sql + " BETWEEN " + least, true
	case t.Name == "boolean":
		return isA("integer") + " AND " + sql + " IN (0, 1)", true
	case t.Name == "bytea":
		return isA("blob"), true
	case t.Text():
		ascii := isA("text") + " AND " + sql + " NOT GLOB '*[^ -~]*' AND instr(" + sql + ", char(0)) = 0"
		if t.Length > 0 {
			ascii += " AND length(" + sql + ") <= " + strconv.Itoa(t.Length)
		}
		return ascii, true
	case t.Name == "date":
		return isA("text") + " AND date(" + sql + ") = " + sql + " AND " + sql + " >= '0001'", true
	case t.Name == "timestamp without time zone":
		return isA("text") + " AND datetime(" + sql + ") = " + sql + " AND " + sql + " >= '0001'", true
	case t.Name == "numeric", t.Name == "double precision", t.Name == "json":
		return "0", true
	}
	return "", false
}
