package bigquery

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var (
	_ engines.Keeper = (*Engine)(nil)
	_ keep.Store     = (*Engine)(nil)
	_ keep.Filler    = (*Engine)(nil)
)

// keepRules are those of BigQuery.
var keepRules = keep.Rules{Engine: "BigQuery", Remote: keptType, Folds: true, Names: func(name string) bool { return keptNames.MatchString(name) && !reservedNames.MatchString(name) }}

// keptNames are the names that columns of tables have without doubt, reservedNames those of them that the service keeps for itself.
var (
	keptNames     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,299}$`)
	reservedNames = regexp.MustCompile(`(?i)^(_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER|_CHANGE_)`)
)

// keptTypes are the types that hold the values of a Postgres type: what they have not, a load refuses.
var keptTypes = map[string]string{
	"boolean": "BOOL", "smallint": "INT64", "integer": "INT64", "bigint": "INT64", "real": "FLOAT64", "double precision": "FLOAT64", "bytea": "BYTES", "date": "DATE",
	"time without time zone": "TIME", "timestamp without time zone": "DATETIME", "timestamp with time zone": "TIMESTAMP",
}

// keptType is a type of the service's, or STRING for what it has none for, which home then reads. Of intervals it would be one that is
// written in another way, and an array that is NULL would not be that any more.
func keptType(t keep.Type) string {
	switch name := keptTypes[t.Name]; {
	case t.List, t.Name == "interval", t.Length > 0 && strings.HasPrefix(t.Name, "time"):
		return ""
	case t.Decimal(38) && t.Scale >= 0:
		base := "NUMERIC"
		if t.Scale > 9 || t.Precision-t.Scale > 29 {
			base = "BIGNUMERIC"
		}
		return base + "(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	case name != "":
		return name
	}
	return "STRING"
}

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.handles && e.dataset != "" {
		return nil
	}
	return keep.Unwilling(e.server, "options handles 'true' and dataset")
}

// Begin makes tables for handles, and writes nothing else.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	if e.handles {
		return keep.Begin(e.server, keepRules, e), nil
	}
	return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign tables of BigQuery cannot be written to"),
		"Write by BigQuery's own means."))
}

// Declare returns the options of columns.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	return keepRules.Declare(e.server, columns)
}

// Kept lists the tables whose names begin with prefix, in the server's dataset.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	names, err := e.tableNames(ctx, e.project, e.dataset)
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	return names, pgerr.AtServer(e.server, err)
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	_, err := call(ctx, e.client, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, e.client.rest.Tables.Delete(e.project, e.dataset, table).Context(ctx).Do()
	})
	if err != nil && pgerr.From(err).Code == pgerr.UndefinedTable {
		return nil
	}
	return pgerr.AtServer(e.server, err)
}

// remoteDigits takes the type of a number apart.
var remoteDigits = regexp.MustCompile(`^(\w+)\((\d+),(\d+)\)$`)

// Create makes a table, which the service drops in time where the server's option says so.
func (e *Engine) Create(ctx context.Context, table string, columns []keep.Column) error {
	order := &rest.Table{TableReference: e.kept(table), Schema: &rest.TableSchema{}}
	for _, c := range columns {
		f := &rest.TableFieldSchema{Name: c.Name, Type: c.Remote, Mode: "NULLABLE"}
		if m := remoteDigits.FindStringSubmatch(c.Remote); m != nil {
			f.Type = m[1]
			f.Precision, _ = strconv.ParseInt(m[2], 10, 64)
			f.Scale, _ = strconv.ParseInt(m[3], 10, 64)
		}
		order.Schema.Fields = append(order.Schema.Fields, f)
	}
	if e.limits.expiration > 0 {
		order.ExpirationTime = time.Now().Add(e.limits.expiration).UnixMilli()
	}
	tried := false
	_, err := call(ctx, e.client, func(ctx context.Context) (*rest.Table, error) {
		made, err := e.client.rest.Tables.Insert(e.project, e.dataset, order).Context(ctx).Do()
		if err != nil && tried && failure(err).Code == "42P07" { // by the request before, whose answer was lost
			err = nil
		}
		tried = true
		return made, err
	})
	return err
}

func (e *Engine) kept(table string) *rest.TableReference {
	return &rest.TableReference{ProjectId: e.project, DatasetId: e.dataset, TableId: table}
}

// otherType is what the service says of a query whose values are not those of a table's columns.
var otherType = regexp.MustCompile(`(?i)cannot be inserted into column|has type .* which cannot`)

// Fill makes a table of what the service computes. It takes values into a wider type of the same kind, and no others.
func (e *Engine) Fill(ctx context.Context, table string, columns []keep.Column, q engines.Query) (rows int64, ok bool, err error) {
	if err := e.Create(ctx, table, columns); err != nil {
		return 0, false, err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = "`" + c.Name + "`"
	}
	q.SQL = fmt.Sprintf("INSERT INTO `%s`.`%s`.`%s` (%s) %s", e.project, e.dataset, table, strings.Join(names, ", "), q.SQL)
	r, err := e.submit(ctx, q)
	if err == nil {
		rows, err = e.written(ctx, r.job)
	}
	if err != nil && otherType.MatchString(pgerr.From(err).Message) {
		return 0, false, e.Forget(ctx, table)
	}
	return rows, err == nil, err
}
