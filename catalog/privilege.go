package catalog

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// WholeRow stands in Privilege.Columns for a reference to the row as a whole, which needs every column.
const WholeRow int16 = 0

// Privilege is one privilege that a statement needs on a relation.
type Privilege struct {
	OID  uint32
	Role uint32 // 0: the current role
	// View, where it is not 0, is the view that the reference stands in: its owner of this moment needs the privilege,
	// whatever Role says. (No event trigger sees REASSIGN OWNED, so an owner in a Snapshot may be a former one.)
	View uint32
	Name string // SELECT, INSERT, UPDATE, DELETE, TRUNCATE …
	// Columns are the attributes needed, WholeRow among them for all; none is any one column (count(*)). Of no meaning
	// for privileges that columns don't have.
	Columns []int16
	// Named says that the statement itself names the relation, so that USAGE on its schema is needed as well. What
	// stands in a view needs none, as in Postgres.
	Named bool
}

// privilegeSQL yields the first privilege that is missing: its object's kind and name, its place, and whether none other is
// missing and no column has it. Qualified throughout: it decides who may read, and runs under a search path that the client
// chooses.
const privilegeSQL = `WITH need AS (
 SELECT n.ord, n.oid::pg_catalog.oid AS oid, CASE WHEN n.view OPERATOR(pg_catalog.<>) '0'
  THEN (SELECT v.relowner FROM pg_catalog.pg_class v WHERE v.oid OPERATOR(pg_catalog.=) n.view::pg_catalog.oid)
  WHEN n.role OPERATOR(pg_catalog.=) '0' THEN pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid ELSE n.role::pg_catalog.oid END AS role,
  n.name, pg_catalog.string_to_array(n.columns, ',')::smallint[] AS columns, n.named::boolean AS named
 FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]),
  pg_catalog.unnest($3::pg_catalog.text[]), pg_catalog.unnest($4::pg_catalog.text[]),
  pg_catalog.unnest($5::pg_catalog.text[]), pg_catalog.unnest($6::pg_catalog.text[]))
  WITH ORDINALITY AS n (oid, role, name, columns, named, view, ord)
), found AS (
 SELECT need.ord, s.nspname, c.relname, c.relkind, c.oid IS NULL AS gone,
  need.named AND NOT pg_catalog.has_schema_privilege(need.role, c.relnamespace, 'USAGE') AS no_schema,
  NOT COALESCE(pg_catalog.has_table_privilege(need.role, c.oid, need.name) OR CASE
   WHEN need.name OPERATOR(pg_catalog.<>) ALL ('{SELECT,INSERT,UPDATE,REFERENCES}'::pg_catalog.text[]) THEN false
   WHEN pg_catalog.cardinality(need.columns) OPERATOR(pg_catalog.=) 0
    THEN pg_catalog.has_any_column_privilege(need.role, c.oid, need.name)
   ELSE (SELECT pg_catalog.bool_and(COALESCE(pg_catalog.has_column_privilege(need.role, c.oid, a.num, need.name), false))
    FROM (
     SELECT u.num FROM pg_catalog.unnest(need.columns) AS u (num) WHERE u.num OPERATOR(pg_catalog.<>) 0::smallint
     UNION ALL
     SELECT t.attnum FROM pg_catalog.pg_attribute t WHERE 0::smallint OPERATOR(pg_catalog.=) ANY (need.columns)
      AND t.attrelid OPERATOR(pg_catalog.=) c.oid AND t.attnum OPERATOR(pg_catalog.>) 0::smallint AND NOT t.attisdropped
    ) AS a) END, false) AS no_relation,
  CASE WHEN need.name OPERATOR(pg_catalog.=) 'SELECT'
   THEN NOT pg_catalog.has_any_column_privilege(need.role, c.oid, 'SELECT') END AS no_column
 FROM need LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) need.oid
 LEFT JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) c.relnamespace
)
SELECT CASE WHEN gone THEN 'gone' WHEN no_schema THEN 'schema' ELSE relkind::pg_catalog.text END,
 CASE WHEN no_schema THEN nspname ELSE relname END, ord,
 no_column AND pg_catalog.count(*) OVER () OPERATOR(pg_catalog.=) 1
FROM found WHERE gone OR no_schema OR no_relation ORDER BY ord LIMIT 1`

// CheckPrivileges returns nil where all privileges in list are held, else 42501 for the first that is not, with the
// message that Postgres would give. One round trip where each is held on a whole relation; none for an empty list.
func CheckPrivileges(ctx context.Context, q Querier, list []Privilege) error {
	_, err := CheckWhole(ctx, q, list)
	return err
}

// CheckWhole is CheckPrivileges for a list of whole relations, where a statement may need less. The error is final where a
// schema is closed, and where a relation that is only to be read is the one that lacks a privilege, for every column.
func CheckWhole(ctx context.Context, q Querier, list []Privilege) (final bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	rows, err := q.Query(ctx, heldSQL(list))
	if err != nil || text(rows, 0, 0) == "t" {
		return false, err
	}
	return checkEach(ctx, q, list)
}

// CheckColumns is CheckPrivileges where not all are expected to be held on whole relations.
func CheckColumns(ctx context.Context, q Querier, list []Privilege) error {
	_, err := checkEach(ctx, q, list)
	return err
}

func checkEach(ctx context.Context, q Querier, list []Privilege) (final bool, err error) {
	rows, err := q.Query(ctx, privilegeSQL, privilegeArgs(list)...)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	return text(rows, 0, 0) == "schema" || text(rows, 0, 3) == "t" && readsAlone(list), missing(list, rows)
}

// readsAlone says that what is needed of each relation is to read it. Of a relation that a statement writes, the list may say
// more than is needed.
func readsAlone(list []Privilege) bool {
	return !slices.ContainsFunc(list, func(p Privilege) bool { return p.Name != "SELECT" || p.View != 0 })
}

// heldSQL asks whether all privileges in list are held on whole relations. Its text says it all, so that home plans it
// once.
func heldSQL(list []Privilege) string {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteString(" AND ")
		} else {
			b.WriteString("SELECT ")
		}
		role := ""
		if p.View != 0 {
			role = "(SELECT v.relowner FROM pg_catalog.pg_class v WHERE v.oid OPERATOR(pg_catalog.=) " + number(p.View) + "::pg_catalog.oid), "
		} else if p.Role != 0 {
			role = number(p.Role) + "::pg_catalog.oid, "
		}
		b.WriteString("COALESCE((SELECT pg_catalog.has_table_privilege(" + role + "c.oid, " + literal(p.Name) + ")")
		if p.Named {
			b.WriteString(" AND pg_catalog.has_schema_privilege(" + role + "c.relnamespace, 'USAGE')")
		}
		b.WriteString(" FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) " + number(p.OID) + "::pg_catalog.oid), false)")
	}
	return b.String()
}

func privilegeArgs(list []Privilege) (args []string) {
	lists := make([][]string, 6)
	for _, p := range list {
		columns := make([]string, len(p.Columns))
		for i, c := range p.Columns {
			columns[i] = strconv.Itoa(int(c))
		}
		for i, s := range []string{
			number(p.OID), number(p.Role), strings.ToUpper(p.Name), strings.Join(columns, ","), strconv.FormatBool(p.Named),
			number(p.View),
		} {
			lists[i] = append(lists[i], s)
		}
	}
	for _, l := range lists {
		args = append(args, textArray(l))
	}
	return args
}

// missing reads what privilegeSQL yields.
func missing(list []Privilege, rows [][]*string) error {
	kind, name := text(rows, 0, 0), text(rows, 0, 1)
	if kind == "gone" {
		oid := uint32(0)
		if i, err := strconv.Atoi(text(rows, 0, 2)); err == nil && i >= 1 && i <= len(list) {
			oid = list[i-1].OID
		}
		return pgerr.New(pgerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	object, ok := map[string]string{
		"schema": "schema", "f": "foreign table", "v": "view", "m": "materialized view", "S": "sequence",
	}[kind]
	if !ok {
		object = "table"
	}
	return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for %s %s", object, name)
}
