package postgres

import (
	"context"
	"strconv"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// verifyLock lets one repair a schema at a time, and not two of them add the same difference; writers go on.
const verifyLock = "LOCK TABLE {s}.sluice_table_statistics IN SHARE UPDATE EXCLUSIVE MODE"

// verifyFound is the count and the rows. One snapshot has a writer's rows and what its triggers have appended, or neither.
const verifyFound = "SELECT c.rows AS stored, (SELECT count(*) FROM {t}) AS actual, c.sure FROM {s}.sluice_row_count({l}::pg_catalog.regclass) c"

// verifyRepair appends the difference, so that what writers append meanwhile stays counted. Where triggers are missing there is no use in it.
const verifyRepair = `WITH found AS MATERIALIZED (` + verifyFound + `), repaired AS (
 INSERT INTO {s}.sluice_table_statistics (relation, rows) SELECT {l}::pg_catalog.regclass, f.actual - f.stored FROM found f WHERE f.actual <> f.stored AND f.sure = 1)
SELECT f.stored, f.actual, f.sure FROM found f`

// Verify compares what the triggers have counted with the rows. A repair makes triggers anew that are disabled or dropped, and has the
// rows counted then.
func (e *Engine) Verify(ctx context.Context, target engines.Target, repair bool) (v engines.Verified, err error) {
	if repair && !e.updatable {
		return v, e.readOnly()
	}
	row, err := e.verifyRow(ctx, target, repair)
	if err != nil {
		return v, err
	}
	if row[0] != nil {
		stored, err := strconv.ParseInt(*row[0], 10, 64)
		if err != nil {
			return v, err
		}
		v.Stored = &stored
	}
	if v.Actual, err = strconv.ParseInt(*row[1], 10, 64); err != nil || !repair {
		return v, err
	}
	if v.Stored == nil || *row[2] != "1" {
		err = e.Count(ctx, target, true)
		v.Repaired = err == nil
		return v, err
	}
	v.Repaired = *v.Stored != v.Actual
	return v, nil
}

// verifyRow returns the count, the rows and whether the count is sure, which it repairs where it is.
func (e *Engine) verifyRow(ctx context.Context, target engines.Target, repair bool) ([]*string, error) {
	names := countNames(target)
	if !repair {
		rows, err := e.texts(ctx, names.Replace(verifyFound))
		if err != nil {
			return nil, err
		}
		return rows[0], nil
	}
	t, err := e.beginAs(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE") // the snapshot is that of each statement, and so later than the locks
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Rollback() }()
	for _, sql := range []string{"LOCK TABLE {t} IN ACCESS SHARE MODE", verifyLock} {
		if _, err := t.exec(ctx, names.Replace(sql)); err != nil {
			return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
		}
	}
	rows, err := t.texts(ctx, names.Replace(verifyRepair))
	if err != nil {
		return nil, err
	}
	return rows[0], t.Commit(ctx)
}
