package oracle

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// patience is how long one statement may take.
const patience = 60 * time.Second

// protocol is a way to send a statement.
type protocol struct {
	name   string
	simple bool
	format int16
}

var protocols = []protocol{{"simple", true, 0}, {"extended text", false, 0}, {"extended binary", false, 1}}

// answer is all of a reply that a client can see.
type answer struct {
	fields []field
	rows   []string
	tag    string
	code   string // SQLSTATE; empty for success
	detail string // the error's message, shown but not compared
	words  string // all that the error says
}

// field is what a RowDescription says of a column.
type field struct {
	name   string
	oid    uint32
	size   int16
	typmod int32
	format int16
}

// ask runs one statement. An error that is not Postgres' is one of the connection.
func ask(ctx context.Context, conn *pgconn.PgConn, sql string, params []*string, p protocol) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var a answer
	var err error
	if p.simple {
		all := conn.Exec(ctx, sql)
		for all.NextResult() {
			a.read(all.ResultReader())
		}
		err = all.Close()
	} else {
		values := make([][]byte, len(params))
		for i, v := range params {
			if v != nil {
				values[i] = []byte(*v)
			}
		}
		err = a.read(conn.ExecParams(ctx, sql, values, nil, nil, []int16{p.format}))
	}
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		words := []string{pe.Message, pe.Detail, pe.Hint, pe.Where, pe.InternalQuery, pe.SchemaName, pe.TableName, pe.ColumnName, pe.DataTypeName, pe.ConstraintName}
		return answer{code: pe.Code, detail: pe.Message, words: strings.Join(words, " / ")}, nil
	}
	return a, err
}

// firstUserOID is the first OID that initdb does not give out. Types from there on are those of rows, whose OIDs differ
// between a table and its twin.
const firstUserOID = 16384

// read takes one result in. Its fields are those of a description, which comes with no rows as with many.
func (a *answer) read(r *pgconn.ResultReader) error {
	for _, f := range r.FieldDescriptions() {
		a.fields = append(a.fields, field{f.Name, min(f.DataTypeOID, firstUserOID), f.DataTypeSize, f.TypeModifier, f.Format})
	}
	for r.NextRow() {
		a.rows = append(a.rows, showRow(withoutSigns(r.Values(), a.fields)))
	}
	tag, err := r.Close()
	a.tag += tag.String() + ";"
	return err
}

// described returns fields with the modifiers that the description of the statement has, before it is planned.
func described(ctx context.Context, conn *pgconn.PgConn, sql string, fields []field) ([]field, error) {
	d, err := conn.Prepare(ctx, "", sql, nil)
	if err != nil {
		return nil, err
	}
	fields = slices.Clone(fields)
	for i := range fields {
		if i < len(d.Fields) {
			fields[i].typmod = d.Fields[i].TypeModifier
		}
	}
	return fields, nil
}

// withoutSigns clears the sign bit of each NaN in binary form: which one a computed NaN has is the hardware's affair.
func withoutSigns(row [][]byte, fields []field) [][]byte {
	for i, v := range row {
		switch f := fields[i]; {
		case f.format == 0 || v == nil:
		case f.oid == pgtype.Float8OID && math.IsNaN(math.Float64frombits(binary.BigEndian.Uint64(v))),
			f.oid == pgtype.Float4OID && math.IsNaN(float64(math.Float32frombits(binary.BigEndian.Uint32(v)))):
			v[0] &= 0x7f
		}
	}
	return row
}

// showRow prints the values of a row so that any two different ones look different.
func showRow(row [][]byte) string {
	out := make([]string, len(row))
	for i, v := range row {
		switch {
		case v == nil:
			out[i] = "NULL"
		case strings.ContainsFunc(string(v), func(r rune) bool { return r < ' ' || r == 0xFFFD }):
			out[i] = "0x" + hex.EncodeToString(v)
		default:
			out[i] = fmt.Sprintf("%q", v)
		}
	}
	return strings.Join(out, "|")
}

// difference says what in got is not as wanted; empty for nothing.
func difference(want, got answer, ordered bool) string {
	if want.code != got.code {
		return fmt.Sprintf("SQLSTATE: want %q %s, got %q %s", want.code, want.detail, got.code, got.detail)
	}
	if !slices.Equal(want.fields, got.fields) {
		return fmt.Sprintf("fields: want %v, got %v", want.fields, got.fields)
	}
	if want.tag != got.tag {
		return fmt.Sprintf("tag: want %s, got %s", want.tag, got.tag)
	}
	a, b := want.rows, got.rows
	if !ordered {
		a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("row %d:\n  want %s\n  got  %s", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("want %d rows, got %d", len(a), len(b))
	}
	return ""
}
