package duckdb

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var _ engines.Counter = (*Engine)(nil)

// Count has nothing to do: DuckDB knows how many rows its own tables have, in each transaction. It refuses views and files, which
// it would have to read.
func (e *Engine) Count(ctx context.Context, t engines.Target, _ bool) error {
	if e.config.directory != "" {
		return pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "rows of foreign table %q are not kept count of: it is of files", t.Relation),
			"SELECT count(*) FROM it asks DuckDB, which reads the footers alone of Parquet files."))
	}
	c, err := e.connect()
	if err != nil {
		return pgerr.AtServer(e.server, err)
	}
	defer c.disconnect()
	schema, name := remoteName(t)
	rows, err := c.texts(ctx, "SELECT 1 FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2", &schema, &name)
	if err == nil && len(rows) == 0 {
		err = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "rows of foreign table %q are not kept count of: %s is no table of DuckDB", t.Relation, relation(t)),
			"Views have to be read: SELECT count(*) does.")
	}
	return pgerr.AtServer(e.server, err)
}

// Uncount has nothing to undo.
func (e *Engine) Uncount(context.Context, engines.Target) error { return nil }

// CountQuery reads what DuckDB keeps of each of a table's row groups.
func (e *Engine) CountQuery(t engines.Target) engines.Query {
	return engines.Query{SQL: "SELECT count(*), CAST(1 AS BIGINT) FROM " + relation(t)}
}

// verifyRead is the same number by reading rows, as a condition does that DuckDB cannot decide without them.
const verifyRead = "(SELECT count(*) FROM %[1]s AS t WHERE hash(t) %% 2 IN (0, 1))"

// Verify reads the rows. The number is part of the database itself: nothing apart from them could be put right.
func (e *Engine) Verify(ctx context.Context, t engines.Target, _ bool) (v engines.Verified, err error) {
	c, err := e.connect()
	if err != nil {
		return v, pgerr.AtServer(e.server, err)
	}
	defer c.disconnect()
	rows, err := c.texts(ctx, fmt.Sprintf("SELECT CAST((SELECT count(*) FROM %[1]s) AS VARCHAR), CAST("+verifyRead+" AS VARCHAR)", relation(t)))
	if err != nil {
		return v, pgerr.AtServer(e.server, err)
	}
	stored, err := strconv.ParseInt(*rows[0][0], 10, 64)
	if err != nil {
		return v, err
	}
	v.Stored = &stored
	v.Actual, err = strconv.ParseInt(*rows[0][1], 10, 64)
	return v, err
}
