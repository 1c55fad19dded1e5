package tdstest

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// describing is what a statement has in it that asks for the types of another's columns, which is its first parameter.
const describing = "sys.dm_exec_describe_first_result_set("

// typeNames are the server's own for types of Postgres, by OID. It has none here for others.
var typeNames = map[uint32]string{16: "bit", 20: "bigint", 21: "smallint", 23: "int", 17: "varbinary(max)", 25: "nvarchar(max)", 701: "float", 1082: "date", 2950: "uniqueidentifier"}

// described answers such a statement by one without parameters.
func described(ctx context.Context, db *pgconn.PgConn, args []*string) (string, []*string, error) {
	if len(args) != 2 || args[0] == nil {
		return "", nil, fmt.Errorf("there is no statement to describe")
	}
	sql, err := translate(*args[0])
	if err != nil {
		return "", nil, err
	}
	prepared, err := db.Prepare(ctx, "", sql, nil)
	if err != nil {
		return "", nil, err
	}
	var rows []string
	for i, f := range prepared.Fields {
		rows = append(rows, fmt.Sprintf("(%d, nullif('%s', ''))", i+1, typeName(f)))
	}
	return "SELECT name FROM (VALUES " + strings.Join(rows, ", ") + ") AS t (n, name) ORDER BY n", nil, nil
}

func typeName(f pgconn.FieldDescription) string {
	switch {
	case f.DataTypeOID == 1700 && f.TypeModifier >= 4:
		precision, scale := digitsOf(f.TypeModifier)
		return fmt.Sprintf("decimal(%d,%d)", precision, scale)
	case f.DataTypeOID == 1043 && f.TypeModifier >= 4:
		return fmt.Sprintf("varchar(%d)", f.TypeModifier-4)
	}
	return typeNames[f.DataTypeOID]
}
