package clickhouse

import (
	"context"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var _ keep.Filler = (*Engine)(nil)

// Fill makes a table of the rows of a query, which do not leave the server.
func (e *Engine) Fill(ctx context.Context, table string, columns []keep.Column, q engines.Query) (rows int64, ok bool, err error) {
	has, err := e.textsOf(ctx, engines.Query{SQL: "DESCRIBE TABLE (" + q.SQL + ")", Args: q.Args, Tag: q.Tag})
	if err != nil {
		return 0, false, err
	}
	if len(has) != len(columns) {
		return 0, false, pgerr.New(pgerr.InternalError, "the server has %d columns where %d are expected", len(has), len(columns))
	}
	casts := make([]string, len(columns))
	for i, c := range columns {
		if casts[i], ok = recast(ident(has[i][0]), has[i][1], c); !ok {
			return 0, false, nil
		}
	}
	if err := e.Create(ctx, table, columns); err != nil {
		return 0, false, err
	}
	sql, _, err := bind("INSERT INTO "+e.keptName(table)+" SELECT "+strings.Join(casts, ", ")+" FROM ("+q.SQL+")", q.Args, false)
	if err == nil {
		err = e.change(ctx, sql, q.Tag)
	}
	if err != nil {
		return 0, false, err
	}
	count, err := e.texts(ctx, "SELECT toString(count()) FROM "+e.keptName(table))
	if err == nil {
		rows, err = strconv.ParseInt(count[0][0], 10, 64)
	}
	return rows, err == nil, err
}

// wholes are integers of ClickHouse's that are also its decimals.
var wholes = map[string]bool{"Int8": true, "Int16": true, "Int32": true, "Int64": true, "UInt8": true, "UInt16": true, "UInt32": true, "UInt64": true}

// recast makes a column's values of those of a type of a result; false where some could be others then, without an error.
func recast(sql, remote string, c keep.Column) (string, bool) {
	from, _ := parseType(remote).plain()
	to, _ := parseType(c.Remote).plain()
	_, scale, decimal := from.decimal()
	switch {
	case to.text == "String" && from.text == "String":
		return sql, c.Type.Text()
	case to.text == "String" && from.text == "Date" && c.Type.Name == "date" && !c.Type.List:
		return spelledDay("toString(" + sql + ")"), true
	case to.text == "String" && from.name == "DateTime" && c.Type.Name == "timestamp with time zone" && !c.Type.List:
		return "concat(" + spelledDay("toString("+sql+", 'UTC')") + ", '+00')", true
	case to.text == "String":
		return "", false
	case from.text == to.text:
		return sql, true
	case wholes[to.text] && (wholes[from.text] || decimal && scale == 0): // by a decimal, as it is an error then where they do not fit
		return "to" + to.text + "(toDecimal128(" + sql + ", 0))", true
	case from.text == "UInt64" && c.Type.Precision == 20 && c.Type.Scale == 0:
		return "toDecimal128(" + sql + ", 0)", true
	}
	return "", false
}

// spelledDay is a text that begins with a day, of which older servers write the first as no day at all.
func spelledDay(sql string) string { return "replaceOne(" + sql + ", '0000-00-00', '1970-01-01')" }
