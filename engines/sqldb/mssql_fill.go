package sqldb

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
)

// fillSQLServer goes by the types of the query's columns, which must be such that all of their values are the table's, or numbers that are
// refused else. The query stands as it is: behind WITH it could have no order.
func fillSQLServer(ctx context.Context, e *Engine, columns []keep.Column, q engines.Query) (*filling, error) {
	types, err := e.sqlServerTypes(ctx, q)
	if err != nil || len(types) != len(columns) {
		return nil, err
	}
	for i, c := range columns {
		if !sqlServerHolds(types[i], c) {
			return nil, nil
		}
	}
	return &filling{sql: q.SQL}, nil
}

// sqlServerTypes asks for the types of a query's columns; none where the server cannot tell.
func (e *Engine) sqlServerTypes(ctx context.Context, q engines.Query) ([]string, error) {
	sql, args, err := placed(q, e.source.placeholder)
	if err != nil {
		return nil, err
	}
	declared := make([]string, len(args))
	for i := range args {
		declared[i] = e.source.placeholder(i+1) + " NVARCHAR(MAX)"
	}
	rows, err := e.texts(ctx, "SELECT CAST(system_type_name AS NVARCHAR(4000)) FROM sys.dm_exec_describe_first_result_set($1, $2, 0) ORDER BY column_ordinal", sql, strings.Join(declared, ", "))
	if err != nil {
		if unfit(err) {
			err = nil
		}
		return nil, err
	}
	types := make([]string, len(rows))
	for i, r := range rows {
		types[i] = value(r[0])
	}
	return types, nil
}

var sqlServerSized = regexp.MustCompile(`^([a-z]+)\((\d+)(?:,(\d+))?\)$`)

// sqlServerHolds reports whether a column takes all values of a type as they are, or refuses them. Texts of bytes it leaves out: the
// driver makes other characters than the server of those that their code page does not have.
func sqlServerHolds(remote string, c keep.Column) bool {
	whole := remote == "tinyint" || remote == "smallint" || remote == "int" || remote == "bigint"
	base, first, second := remote, 0, 0
	if m := sqlServerSized.FindStringSubmatch(remote); m != nil {
		base = m[1]
		first, _ = strconv.Atoi(m[2])
		second, _ = strconv.Atoi(m[3])
	}
	decimal := base == "decimal" || base == "numeric"
	switch {
	case c.Type.Text():
		return remote == "nvarchar(max)" && c.Type.Length == 0 || base == "nvarchar" && first > 0 && (c.Type.Length == 0 || first <= c.Type.Length)
	case c.Remote == sqlServerText:
		return false
	case keptWhole[c.Type.Name]:
		return whole || decimal && second == 0
	}
	return whole || decimal && second <= c.Type.Scale
}
