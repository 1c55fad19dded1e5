package duckdb

import (
	"context"
	"slices"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

const codeGeneratedAlways = "428C9"

// withoutComputed leaves out the values of columns that DuckDB computes itself. Those must be none, unless home has
// computed them, too.
func (t *tx) withoutComputed(ctx context.Context, target engines.Target, stage string, values []value) ([]value, error) {
	computed, err := t.computed(ctx, target)
	if err != nil || len(computed) == 0 {
		return values, err
	}
	kept := values[:0:0]
	for i, v := range values {
		switch {
		case !slices.Contains(computed, v.column):
			kept = append(kept, v)
			continue
		case slices.Contains(target.Generated, v.column):
			continue
		}
		rows, err := t.connection.texts(ctx, "SELECT '' FROM "+stage+" WHERE "+stageColumn(i)+" IS NOT NULL LIMIT 1")
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			e := pgerr.New(codeGeneratedAlways, "cannot insert a non-DEFAULT value into column %q", v.column)
			return nil, pgerr.Detail(e, "Column %q is a generated column.", v.column)
		}
	}
	return kept, nil
}

// computed returns the target's columns that DuckDB computes. No catalog tells them from columns with a default, but an
// INSERT that names them cannot be prepared.
func (t *tx) computed(ctx context.Context, target engines.Target) ([]string, error) {
	schema, name := remoteName(target)
	rows, err := t.connection.texts(ctx, `SELECT column_name FROM duckdb_columns() WHERE database_name = current_database()
AND schema_name = $1 AND table_name = $2 AND column_default IS NOT NULL`, &schema, &name)
	if err != nil {
		return nil, err
	}
	var computed []string
	for _, r := range rows {
		err := t.connection.prepares("INSERT INTO " + relation(target) + " (" + ident(*r[0]) + ") SELECT NULL")
		if err != nil && strings.Contains(err.Error(), "generated column") {
			computed = append(computed, *r[0])
		}
	}
	return computed, nil
}
