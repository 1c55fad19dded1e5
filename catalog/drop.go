package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// dependentsSQL walks pg_depend from our wrappers and schemas and yields what is not ours: the object and what it
// depends on, in the order in which DROP reports dependents. A rule stands for its view. What depends automatically or
// internally goes silently, but is walked through. Run it under scriptSettings.
const dependentsSQL = `WITH RECURSIVE walk (classid, objid, report, parent_class, parent, path) AS (
  SELECT 'pg_foreign_data_wrapper'::regclass::oid, oid, false, 0::oid, 0::oid, ARRAY[oid]
  FROM pg_foreign_data_wrapper WHERE fdwname = ANY ($1::name[])
  UNION ALL
  SELECT 'pg_namespace'::regclass, oid, false, 0, 0, ARRAY[oid]
  FROM pg_namespace WHERE nspname IN ('sluice', 'sluice_cat', 'sluice_masked', 'sluice_handle')
  UNION ALL
  SELECT o.classid, o.objid, o.deptype = 'n' AND coalesce(o.home, '') NOT IN ('sluice', 'sluice_cat', 'sluice_masked')
    AND NOT (o.classid = 'pg_event_trigger'::regclass AND i.schema IN ('sluice', 'sluice_cat', 'sluice_masked')),
    w.classid, w.objid, w.path || o.objid
  FROM walk w
  CROSS JOIN pg_identify_object(w.classid, w.objid, 0) i
  CROSS JOIN LATERAL (
    SELECT x.*, CASE
      WHEN x.classid IN ('pg_trigger'::regclass, 'pg_policy'::regclass, 'pg_rewrite'::regclass, 'pg_attrdef'::regclass)
      THEN (pg_identify_object_as_address(x.classid, x.objid, 0)).object_names[1]
      ELSE (pg_identify_object(x.classid, x.objid, 0)).schema END AS home
    FROM (
      SELECT coalesce(v.classid, d.classid) AS classid, coalesce(v.objid, d.objid) AS objid, d.deptype
      FROM pg_depend d
      LEFT JOIN LATERAL (SELECT 'pg_class'::regclass::oid AS classid, ev_class AS objid FROM pg_rewrite
        WHERE d.classid = 'pg_rewrite'::regclass AND oid = d.objid AND rulename = '_RETURN') v ON true
      WHERE d.refclassid = w.classid AND d.refobjid = w.objid
    ) x
  ) o
  WHERE o.objid <> ALL (w.path)
), first AS (
  SELECT DISTINCT ON (classid, objid) * FROM walk WHERE report ORDER BY classid, objid, path
)
SELECT array_agg(classid ORDER BY path), array_agg(objid ORDER BY path),
  array_agg(parent_class ORDER BY path), array_agg(parent ORDER BY path)
FROM first HAVING count(*) > 0`

// describeSQL names what dependentsSQL found as the client would name it, under the client's search path.
const describeSQL = `SELECT pg_catalog.pg_describe_object(classid, objid, 0), pg_catalog.pg_describe_object(parent_class, parent, 0)
FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.oid[]),
  pg_catalog.unnest($3::pg_catalog.oid[]), pg_catalog.unnest($4::pg_catalog.oid[]))
  WITH ORDINALITY AS d (classid, objid, parent_class, parent, ord) ORDER BY ord`

// dependent is an object of the user's that depends on the extension.
type dependent struct{ object, on string }

// maxReported is how many dependents a message of Postgres lists.
const maxReported = 100

// Drop is DROP EXTENSION sluice [CASCADE]. The rules for x are those of Install.
func Drop(ctx context.Context, x Executor, ifExists, cascade bool) (tag string, notices []*pgconn.PgError, err error) {
	if err := lockExtension(ctx, x); err != nil {
		return "", nil, err
	}
	version, err := installedVersion(ctx, x)
	if err != nil {
		return "", nil, err
	}
	if version == database.NilVersion {
		if ifExists {
			return "DROP EXTENSION", []*pgconn.PgError{
				notice("00000", "extension \"sluice\" does not exist, skipping"),
			}, nil
		}
		return "", nil, notThere()
	}
	if err := checkOwner(ctx, x); err != nil {
		return "", nil, err
	}
	list, err := dependents(ctx, x)
	if err != nil {
		return "", nil, err
	}
	if len(list) > 0 {
		if !cascade {
			return "", nil, stillNeeded(list)
		}
		notices = append(notices, cascades(list))
	}
	if _, err := x.Exec(ctx, "NOTIFY sluice_catalog"); err != nil {
		return "", nil, err
	}
	err = withSettings(ctx, x, func() error { return (&driver{ctx: ctx, x: x}).Drop() })
	if err != nil {
		return "", nil, err
	}
	return "DROP EXTENSION", notices, nil
}

func dependents(ctx context.Context, x Executor) ([]dependent, error) {
	var found [][]*string
	err := withSettings(ctx, x, func() (err error) {
		found, err = x.Query(ctx, dependentsSQL, textArray(Wrappers))
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	rows, err := x.Query(ctx, describeSQL, text(found, 0, 0), text(found, 0, 1), text(found, 0, 2), text(found, 0, 3))
	if err != nil {
		return nil, err
	}
	list := make([]dependent, len(rows))
	for i := range rows {
		list[i] = dependent{object: text(rows, i, 0), on: text(rows, i, 1)}
	}
	return list, nil
}

func stillNeeded(list []dependent) error {
	lines := reported(list, func(d dependent) string { return d.object + " depends on " + d.on })
	return pgerr.Hint(pgerr.Detail(
		pgerr.New(pgerr.DependentObjects, "cannot drop extension sluice because other objects depend on it"), "%s", lines),
		"Use DROP ... CASCADE to drop the dependent objects too.")
}

func cascades(list []dependent) *pgconn.PgError {
	if len(list) == 1 {
		return notice("00000", "drop cascades to "+list[0].object)
	}
	n := notice("00000", fmt.Sprintf("drop cascades to %d other objects", len(list)))
	n.Detail = reported(list, func(d dependent) string { return "drop cascades to " + d.object })
	return n
}

// reported joins one line for each dependent, the first hundred of them.
func reported(list []dependent, line func(dependent) string) string {
	lines := make([]string, 0, len(list))
	for i, d := range list {
		if i == maxReported {
			lines = append(lines, fmt.Sprintf("and %d other objects (see server log for list)", len(list)-i))
			break
		}
		lines = append(lines, line(d))
	}
	return strings.Join(lines, "\n")
}
