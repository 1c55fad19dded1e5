package demo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// field is what a client is told about a column.
type field struct {
	name   string
	oid    uint32
	typmod int32
}

// value is one value in text form.
type value struct {
	text string
	null bool
}

// result is all that a statement gave.
type result struct {
	fields []field
	rows   [][]value
	copied string // what COPY TO STDOUT sent
	tag    string
}

// query runs one statement and keeps all of its answer.
func query(ctx context.Context, conn *pgconn.PgConn, sql string) (result, error) {
	if strings.HasPrefix(sql, "COPY") {
		var copied bytes.Buffer
		tag, err := conn.CopyTo(ctx, &copied, sql)
		return result{copied: copied.String(), tag: tag.String()}, err
	}
	answers, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return result{}, err
	}
	if len(answers) != 1 {
		return result{}, fmt.Errorf("one statement gave %d results", len(answers))
	}
	r := result{tag: answers[0].CommandTag.String()}
	for _, f := range answers[0].FieldDescriptions {
		r.fields = append(r.fields, field{name: f.Name, oid: f.DataTypeOID, typmod: f.TypeModifier})
	}
	for _, row := range answers[0].Rows {
		values := make([]value, len(row))
		for i, v := range row {
			values[i] = value{text: string(v), null: v == nil}
		}
		r.rows = append(r.rows, values)
	}
	return r, nil
}

// compare returns an error that says where got first differs from want.
func compare(got, want result) error {
	if !slices.Equal(got.fields, want.fields) {
		return fmt.Errorf("columns are %v, on plain tables %v", got.fields, want.fields)
	}
	for i := range min(len(got.rows), len(want.rows)) {
		if !slices.Equal(got.rows[i], want.rows[i]) {
			return fmt.Errorf("row %d is %v, on plain tables %v", i+1, got.rows[i], want.rows[i])
		}
	}
	switch {
	case len(got.rows) != len(want.rows):
		return fmt.Errorf("there are %d rows, on plain tables %d", len(got.rows), len(want.rows))
	case got.copied != want.copied:
		return fmt.Errorf("COPY gave\n%s\non plain tables\n%s", got.copied, want.copied)
	case got.tag != want.tag:
		return fmt.Errorf("the command tag is %q, on plain tables %q", got.tag, want.tag)
	}
	return nil
}

// wrapped breaks the lines of a plan that would make the table too wide to read.
func (r result) wrapped() result {
	var rows [][]value
	for _, row := range r.rows {
		for _, line := range wrap(row[0].text) {
			rows = append(rows, []value{{text: line}})
		}
	}
	r.rows = rows
	return r
}

// wrap breaks a line between words, and indents what follows deeper than the line.
func wrap(line string) []string {
	const width = 100
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
	var lines []string
	for len(line) > width {
		end := strings.LastIndex(line[:width], " ")
		if end <= len(indent) {
			break
		}
		lines = append(lines, line[:end])
		line = indent + line[end+1:]
	}
	return append(lines, line)
}
