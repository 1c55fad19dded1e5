package postgres

import (
	"context"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var _ engines.Counter = (*Engine)(nil)

// countSetup makes, in the schema of a table, what counts its rows: statement triggers append what each statement has added or taken to
// sluice_table_statistics, in its own transaction, with the rights of who tracks the table. A row that is void says that the table was
// empty then: nothing before it counts, as writers draw seq under their lock on the table. {s} is the schema, {t} the table, {l} its name
// as a literal.
var countSetup = []string{
	`CREATE TABLE IF NOT EXISTS {s}.sluice_table_statistics (relation regclass NOT NULL, seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY, rows bigint NOT NULL,
 base boolean NOT NULL DEFAULT false, void boolean NOT NULL DEFAULT false)`,
	`CREATE INDEX IF NOT EXISTS sluice_table_statistics_relation ON {s}.sluice_table_statistics (relation)`,
	`CREATE OR REPLACE FUNCTION {s}.sluice_count_rows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $sluice$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO {s}.sluice_table_statistics (relation, rows) SELECT TG_RELID, count(*) FROM added HAVING count(*) > 0;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO {s}.sluice_table_statistics (relation, rows) SELECT TG_RELID, -count(*) FROM removed HAVING count(*) > 0;
    ELSE
        INSERT INTO {s}.sluice_table_statistics (relation, rows, void) VALUES (TG_RELID, 0, true);
    END IF;
    RETURN NULL;
END
$sluice$`,
	`REVOKE ALL ON FUNCTION {s}.sluice_count_rows() FROM PUBLIC`,
	`CREATE OR REPLACE FUNCTION {s}.sluice_row_count(relation regclass, OUT rows bigint, OUT sure bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $sluice$
DECLARE
    last constant bigint := coalesce((SELECT max(d.seq) FROM {s}.sluice_table_statistics d WHERE d.relation = sluice_row_count.relation AND d.void), 0);
BEGIN
    IF NOT coalesce(has_table_privilege(session_user, relation, 'SELECT'), false) OR (SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = relation) THEN
        RAISE insufficient_privilege USING MESSAGE = format('permission denied for the count of table %s', relation);
    END IF;
    SELECT CASE WHEN last > 0 OR bool_or(d.base) THEN coalesce(sum(d.rows), 0) END INTO rows
    FROM {s}.sluice_table_statistics d WHERE d.relation = sluice_row_count.relation AND d.seq > last;
    sure := ({plain} AND NOT EXISTS (SELECT FROM pg_subscription_rel r WHERE r.srrelid = relation)
        AND (SELECT count(*) = 3 FROM pg_trigger g WHERE g.tgrelid = relation AND g.tgenabled = 'A' AND g.tgname IN ('sluice_count_insert', 'sluice_count_delete', 'sluice_count_truncate')
            AND g.tgfoid = '{q}.sluice_count_rows'::regproc))::int;
END
$sluice$`,
	`LOCK TABLE {t} IN SHARE ROW EXCLUSIVE MODE`,
	`DELETE FROM {s}.sluice_table_statistics WHERE relation = {l}::regclass`,
	`CREATE OR REPLACE TRIGGER sluice_count_insert AFTER INSERT ON {t} REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION {s}.sluice_count_rows()`,
	`CREATE OR REPLACE TRIGGER sluice_count_delete AFTER DELETE ON {t} REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION {s}.sluice_count_rows()`,
	`CREATE OR REPLACE TRIGGER sluice_count_truncate AFTER TRUNCATE ON {t} FOR EACH STATEMENT EXECUTE FUNCTION {s}.sluice_count_rows()`,
	`ALTER TABLE {t} ENABLE ALWAYS TRIGGER sluice_count_insert, ENABLE ALWAYS TRIGGER sluice_count_delete, ENABLE ALWAYS TRIGGER sluice_count_truncate`,
}

// countPlain is whether a table's rows are its own alone: what a statement on a parent or partition does, the triggers of another see.
const countPlain = `EXISTS (SELECT FROM pg_class c WHERE c.oid = relation AND c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relrowsecurity AND NOT c.relispartition)
 AND NOT EXISTS (SELECT FROM pg_inherits i WHERE relation IN (i.inhparent, i.inhrelid))`

// countFill counts the rows that are there, while writers go on: in one snapshot, it appends by how much the count is wrong.
const countFill = `INSERT INTO {s}.sluice_table_statistics (relation, rows, base)
SELECT {l}::regclass, (SELECT count(*) FROM {t}) - coalesce(sum(d.rows), 0), true FROM {s}.sluice_table_statistics d WHERE d.relation = {l}::regclass
 AND d.seq > coalesce((SELECT max(v.seq) FROM {s}.sluice_table_statistics v WHERE v.relation = {l}::regclass AND v.void), 0)`

// countFold puts a sum in the place of rows of which there are many. What is appended meanwhile stays.
const countFold = `WITH gone AS (
 DELETE FROM {s}.sluice_table_statistics d WHERE d.relation = {l}::regclass AND (SELECT count(*) > 64 FROM {s}.sluice_table_statistics o WHERE o.relation = {l}::regclass)
 RETURNING d.seq, d.rows, d.base, d.void), ends AS (SELECT coalesce(max(seq) FILTER (WHERE void), 0) AS void FROM gone)
INSERT INTO {s}.sluice_table_statistics (relation, seq, rows, base) OVERRIDING SYSTEM VALUE
SELECT {l}::regclass, max(g.seq), coalesce(sum(g.rows) FILTER (WHERE g.seq > e.void), 0), bool_or(g.base OR g.void) FROM gone g CROSS JOIN ends e HAVING count(*) > 0`

// Count makes triggers at the table that count its rows, and counts those that are there; where it has them, it sums up what they have
// appended.
func (e *Engine) Count(ctx context.Context, target engines.Target, anew bool) error {
	if !e.updatable {
		return e.readOnly()
	}
	plain, err := e.texts(ctx, "SELECT "+strings.ReplaceAll(countPlain, "relation", "$1::text::regclass"), relation(target))
	if err != nil {
		return err
	}
	if *plain[0][0] != "t" {
		return pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "rows of foreign table %q cannot be counted: %s is not a plain table of its own", target.Relation, relation(target)),
			"Partitions, parents, views, unlogged tables and tables with row security cannot be counted at another Postgres."))
	}
	if !anew {
		known, err := e.counts(ctx, target)
		if err != nil {
			return err
		}
		if known {
			return e.countSteps(ctx, target, countFold)
		}
	}
	if err := e.countSteps(ctx, target, countSetup...); err != nil {
		return err
	}
	return e.countSteps(ctx, target, "LOCK TABLE {t} IN ACCESS SHARE MODE", countFill)
}

// counts reports whether there is a count of the table's rows.
func (e *Engine) counts(ctx context.Context, target engines.Target) (bool, error) {
	made, err := e.texts(ctx, "SELECT to_regprocedure($1) IS NOT NULL", countFunction(target)+"(regclass)")
	if err != nil || *made[0][0] != "t" {
		return false, err
	}
	rows, err := e.texts(ctx, e.CountQuery(target).SQL)
	return err == nil && rows[0][0] != nil, err
}

// Uncount drops the triggers and what they have appended.
func (e *Engine) Uncount(ctx context.Context, target engines.Target) error {
	there, err := e.texts(ctx, "SELECT to_regclass($1) IS NOT NULL AND to_regprocedure($2) IS NOT NULL", relation(target), countFunction(target)+"(regclass)")
	if err != nil || *there[0][0] != "t" {
		return err
	}
	return e.countSteps(ctx, target, "DROP TRIGGER IF EXISTS sluice_count_insert ON {t}", "DROP TRIGGER IF EXISTS sluice_count_delete ON {t}",
		"DROP TRIGGER IF EXISTS sluice_count_truncate ON {t}", "DELETE FROM {s}.sluice_table_statistics WHERE relation = {l}::regclass")
}

// CountQuery calls the function that adds up what the triggers have appended.
func (e *Engine) CountQuery(target engines.Target) engines.Query {
	return engines.Query{SQL: "SELECT rows, sure FROM " + countFunction(target) + "(" + literal(relation(target)) + "::pg_catalog.regclass)"}
}

func countFunction(target engines.Target) string { return countSchema(target) + ".sluice_row_count" }

func countSchema(target engines.Target) string {
	schema := target.Options["schema_name"]
	if schema == "" {
		schema = target.Schema
	}
	return ident(schema)
}

// countSteps runs statements in a transaction.
func (e *Engine) countSteps(ctx context.Context, target engines.Target, steps ...string) error {
	t, err := e.beginAs(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE")
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // after the commit it does nothing
	names := countNames(target)
	for _, sql := range steps {
		if _, err := t.exec(ctx, names.Replace(sql)); err != nil {
			return pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
		}
	}
	return t.Commit(ctx)
}

// countNames puts the names of a table into the statements that count its rows.
func countNames(target engines.Target) *strings.Replacer {
	schema := countSchema(target)
	return strings.NewReplacer("{s}", schema, "{t}", relation(target), "{l}", literal(relation(target)), "{q}", strings.Trim(literal(schema), "'"), "{plain}", countPlain)
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
