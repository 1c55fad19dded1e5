package clickhouse

import (
	"context"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var (
	_ engines.Keeper = (*Engine)(nil)
	_ keep.Store     = (*Engine)(nil)
)

// keepRules are those of ClickHouse. Dates and times it has in ranges narrower than Postgres' are texts, as is what it has no type for.
var keepRules = keep.Rules{Engine: "ClickHouse", Remote: keptType, Names: func(name string) bool { return name != "" }}

// keptTypes are the types that hold all values of a Postgres type, and in the order of Postgres where dialects let it compare them.
var keptTypes = map[string]string{
	"smallint": "Int16", "integer": "Int32", "bigint": "Int64", "real": "Float32", "double precision": "Float64", "uuid": "UUID",
}

func keptType(t keep.Type) string {
	name := keptTypes[t.Name]
	switch {
	case t.Decimal(mostDigits):
		name = "Decimal(" + itoa(t.Precision) + ", " + itoa(t.Scale) + ")"
	case name == "" || t.List:
		name = "String"
	}
	return "Nullable(" + name + ")"
}

// mostDigits is how many digits a decimal has at most.
const mostDigits = 38

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.config.handles {
		return nil
	}
	return keep.Unwilling(e.server, "option handles 'true'")
}

// Declare returns the options of columns.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	return keepRules.Declare(e.server, columns)
}

// Kept lists the tables whose names begin with prefix, in the server's database.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	rows, err := e.texts(ctx, "SELECT name FROM system.tables WHERE database = $1 AND startsWith(name, $2) ORDER BY name", e.config.database, prefix)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r[0]
	}
	return names, nil
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	return e.change(ctx, "DROP TABLE IF EXISTS "+e.keptName(table), engines.Tag{})
}

// Create makes a table, whose rows have no order.
func (e *Engine) Create(ctx context.Context, table string, columns []keep.Column) error {
	return e.change(ctx, "CREATE TABLE "+e.keptName(table)+" "+keep.Definitions(columns, ident)+" ENGINE = MergeTree ORDER BY tuple()", engines.Tag{})
}

func (e *Engine) keptName(table string) string { return ident(e.config.database) + "." + ident(table) }

var nameEscaped = strings.NewReplacer(`\`, `\\`, "`", "\\`", "\x00", `\0`)

// ident quotes a name.
func ident(name string) string { return "`" + nameEscaped.Replace(name) + "`" }

// change runs a statement that yields no rows.
func (e *Engine) change(ctx context.Context, sql string, tag engines.Tag) error {
	c, err := e.lively(ctx)
	if err != nil {
		return pgerr.AtServer(e.server, err)
	}
	stop := c.watch(ctx)
	err = c.start(statement{sql: sql, tag: tag, settings: e.writeSettings()})
	for more := err == nil; more && err == nil; {
		_, more, err = c.block(ignore)
	}
	stop()
	if err == nil {
		e.giveBack(c)
		return nil
	}
	if !isRemote(err) {
		c.cancel()
	}
	e.discard(c)
	return pgerr.AtServer(e.server, pgerr.Interrupted(ctx, broken(err)))
}

// lively returns a connection that has just answered, for what is not done twice.
func (e *Engine) lively(ctx context.Context) (*connection, error) {
	for {
		c, err := e.pool.Acquire(ctx)
		if err != nil || !c.Reused {
			return c, err
		}
		stop := c.watch(ctx)
		err = c.ping()
		stop()
		if err == nil && c.reusable() {
			return c, nil
		}
		if e.discard(c); ctx.Err() != nil {
			return nil, pgerr.Interrupted(ctx, broken(err))
		}
	}
}

// writeSettings are those of statements that write: all but the one that forbids it.
func (e *Engine) writeSettings() []setting {
	all := e.settings()
	return all[:max(len(all)-1, 0)]
}
