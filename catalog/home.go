package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// HomeRelation is a relation of home's own that a statement reads beside foreign tables.
type HomeRelation struct {
	Relation
	Rows int64 // an estimate, -1 where there is none, as of a view
	// Readable says that the current role may read all columns. Otherwise Postgres decides by those that a statement uses.
	Readable bool
	// Shared says that any other session sees of it the rows that this one does: no policy holds for the role, it is a table and no
	// temporary one, and the transaction has neither written anything nor a snapshot of its own.
	Shared bool
}

// homeSQL describes relations whose OIDs are put in, a row a column. Rows are estimated as Postgres' planner does: by the density at the last
// ANALYZE, else by a guess.
const homeSQL = `WITH bytewise AS (
 SELECT '{C,POSIX,C.UTF-8,C.UTF8,C.utf8,ucs_basic}'::pg_catalog.text[] AS names
), defaults AS (
 SELECT CASE COALESCE(pg_catalog.to_jsonb(d) OPERATOR(pg_catalog.->>) 'datlocprovider', 'c')
  WHEN 'c' THEN d.datcollate OPERATOR(pg_catalog.=) ANY (names) WHEN 'b' THEN true ELSE false END AS bytewise
 FROM pg_catalog.pg_database d, bytewise WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
)
SELECT c.oid, n.nspname, c.relname, c.relkind,
 CASE WHEN c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,p}') THEN (
  SELECT pg_catalog.sum(pg_catalog.pg_relation_size(p.oid) OPERATOR(pg_catalog./) 8192 OPERATOR(pg_catalog.*) CASE
   WHEN p.relpages OPERATOR(pg_catalog.>) 0 THEN p.reltuples OPERATOR(pg_catalog./) p.relpages ELSE 100 END)::pg_catalog.int8
  FROM pg_catalog.pg_class p WHERE p.oid OPERATOR(pg_catalog.=) c.oid
   OR p.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(c.oid) WHERE isleaf))
 ) ELSE -1 END,
 pg_catalog.has_table_privilege(c.oid, 'SELECT'),
 c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m,p}') AND c.relpersistence OPERATOR(pg_catalog.<>) 't' AND NOT pg_catalog.row_security_active(c.oid)
  AND pg_catalog.pg_current_xact_id_if_assigned() IS NULL AND pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) 'read committed',
 a.attnum, a.attname, a.atttypid, a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcollation,
 CASE WHEN a.attcollation OPERATOR(pg_catalog.<>) t.typcollation THEN (
  SELECT pg_catalog.format('%%I.%%I', s.nspname, l.collname) FROM pg_catalog.pg_namespace s WHERE s.oid OPERATOR(pg_catalog.=) l.collnamespace
 ) END,
 CASE WHEN l.collprovider OPERATOR(pg_catalog.=) 'd' THEN defaults.bytewise WHEN l.collprovider OPERATOR(pg_catalog.=) 'b' THEN true
  WHEN l.collprovider OPERATOR(pg_catalog.=) 'c' THEN l.collcollate OPERATOR(pg_catalog.=) ANY (bytewise.names) ELSE false END
FROM bytewise, defaults, pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
LEFT JOIN pg_catalog.pg_collation l ON l.oid OPERATOR(pg_catalog.=) a.attcollation
WHERE c.oid OPERATOR(pg_catalog.=) ANY ('{%s}'::pg_catalog.oid[]) AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,m,v,f}')
ORDER BY c.oid, a.attnum`

// DescribeHome describes relations of home by their OIDs, in one round trip. What is no table or view is left out.
func DescribeHome(ctx context.Context, q Querier, oids []uint32) (map[uint32]*HomeRelation, error) {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = number(oid)
	}
	rows, err := q.Query(ctx, fmt.Sprintf(homeSQL, strings.Join(list, ",")))
	if err != nil {
		return nil, err
	}
	found := map[uint32]*HomeRelation{}
	for i := range rows {
		var n [5]int64
		for j, column := range []int{0, 4, 7, 9, 10} {
			if n[j], err = strconv.ParseInt(text(rows, i, column), 10, 64); err != nil {
				return nil, err
			}
		}
		collation, err := strconv.ParseUint(text(rows, i, 13), 10, 32)
		if err != nil {
			return nil, err
		}
		oid := uint32(n[0])
		r := found[oid]
		if r == nil {
			r = &HomeRelation{Rows: n[1], Readable: text(rows, i, 5) == "t", Shared: text(rows, i, 6) == "t", Relation: Relation{
				OID: oid, Schema: text(rows, i, 1), Name: text(rows, i, 2), Kind: text(rows, i, 3)[0],
			}}
			found[oid] = r
		}
		r.Columns = append(r.Columns, Column{
			Num: int16(n[2]), Name: text(rows, i, 8), Type: uint32(n[3]), Typmod: int32(n[4]), TypeName: text(rows, i, 11),
			NotNull: text(rows, i, 12) == "t", Collation: uint32(collation), Collate: text(rows, i, 14), BytewiseC: text(rows, i, 15) == "t",
		})
	}
	return found, nil
}
