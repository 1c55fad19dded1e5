package proxy

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// target is what home says of a foreign table that is written to, of this moment.
type target struct {
	relation   *catalog.Relation
	temps      []string // tables that stand for it
	definition string   // of columns and constraints, for CREATE TABLE
	readable   bool     // the current role may see all of its columns
	shift      int32    // of positions behind the table's name, where they can be told; else 0
}

// targetSQL yields for a foreign table: whether it has triggers or rules, whether it is a partition, whether it has
// identity columns, whether the role may read it all, and the definitions of columns and constraints.
const targetSQL = `SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid OPERATOR(pg_catalog.=) c.oid AND NOT t.tgisinternal)
 OR EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class OPERATOR(pg_catalog.=) c.oid), c.relispartition,
 EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attidentity OPERATOR(pg_catalog.<>) ''),
 pg_catalog.has_table_privilege(c.oid, 'SELECT'),
 pg_catalog.concat_ws(', ', (SELECT pg_catalog.string_agg(pg_catalog.concat(pg_catalog.quote_ident(a.attname), ' ',
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  CASE WHEN a.attcollation OPERATOR(pg_catalog.<>) t.typcollation THEN pg_catalog.concat(' COLLATE ',
   (SELECT pg_catalog.concat(pg_catalog.quote_ident(n.nspname), '.', pg_catalog.quote_ident(l.collname)) FROM pg_catalog.pg_collation l
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) l.collnamespace WHERE l.oid OPERATOR(pg_catalog.=) a.attcollation)) END,
  CASE WHEN a.attgenerated OPERATOR(pg_catalog.=) 's' THEN pg_catalog.concat(' GENERATED ALWAYS AS (', pg_catalog.pg_get_expr(d.adbin, d.adrelid), ') STORED')
   WHEN d.adbin IS NOT NULL THEN pg_catalog.concat(' DEFAULT ', pg_catalog.pg_get_expr(d.adbin, d.adrelid))
   WHEN a.attidentity OPERATOR(pg_catalog.<>) '' THEN pg_catalog.concat(' DEFAULT pg_catalog.nextval(', pg_catalog.quote_literal(
    pg_catalog.pg_get_serial_sequence(pg_catalog.concat(pg_catalog.quote_ident(s.nspname), '.', pg_catalog.quote_ident(c.relname)), a.attname)),
    '::pg_catalog.regclass)') END,
  CASE WHEN a.attnotnull THEN ' NOT NULL' END), ', ' ORDER BY a.attnum)
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid OPERATOR(pg_catalog.=) a.attrelid AND d.adnum OPERATOR(pg_catalog.=) a.attnum
  WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped),
 (SELECT pg_catalog.string_agg(pg_catalog.concat('CONSTRAINT ', pg_catalog.quote_ident(k.conname), ' ', pg_catalog.regexp_replace(
  pg_catalog.pg_get_constraintdef(k.oid), '( NO INHERIT)?( NOT VALID)?$', '')), ', ' ORDER BY k.conname)
  FROM pg_catalog.pg_constraint k WHERE k.conrelid OPERATOR(pg_catalog.=) c.oid AND k.contype OPERATOR(pg_catalog.=) 'c'))
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid`

// readTarget reads what a write needs to know and refuses tables whose rows home would treat in a way that is not seen
// here.
func (s *Session) readTarget(ctx context.Context, x *execution) (*target, error) {
	w := x.plan.Write
	rows, err := s.Query(ctx, targetSQL, strconv.FormatUint(uint64(w.Relation.OID), 10))
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, pgerr.New(pgerr.UndefinedTable, "relation %q does not exist", w.Relation.Name)
	}
	is := func(i int) bool { return *rows[0][i] == "t" }
	refuse := func(why, hint string) (*target, error) {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot execute %s on foreign table %q: %s", writeVerbs[w.Kind], w.Relation.Name, why), "%s", hint)
	}
	switch {
	case is(0):
		return refuse("it has triggers or rules", "Triggers and rules of foreign tables are not run. DROP them.")
	case is(1):
		return refuse("it is a partition", "ALTER TABLE … DETACH PARTITION makes it a table of its own.")
	case is(2) && w.UserValue:
		return refuse("OVERRIDING USER VALUE is not supported", "Leave the identity column out of the INSERT.")
	}
	return &target{relation: w.Relation, temps: tables(x.plan), definition: *rows[0][4], readable: is(3), shift: int32(w.Shift)}, nil
}

func tables(p *plan.Plan) []string {
	list := append([]string(nil), p.Write.Temps...)
	for _, in := range p.Inputs {
		if in.RowID {
			list = append(list, in.TempName)
		}
	}
	return list
}

// create makes a table in the likeness of the foreign table.
func (t *target) create(name string) string {
	return "CREATE TEMPORARY TABLE " + name + " (" + t.definition + ") ON COMMIT DROP"
}

// named makes an error of home's speak of the foreign table where it names a table that stands for it. What a failing row
// holds is said only to those who may read all of it.
func (t *target) named(err error) error {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return err
	}
	e := *pe
	if e.Position > 0 && t.shift != 0 {
		e.Position -= t.shift
	} else {
		e.Position = 0 // in a text that the client has not written
	}
	for _, name := range t.temps {
		e.Message = strings.ReplaceAll(e.Message, `"`+name+`"`, `"`+t.relation.Name+`"`)
		e.Where = strings.Replace(e.Where, "COPY "+name+",", "COPY "+t.relation.Name+",", 1)
		if e.TableName == name {
			e.TableName, e.SchemaName = t.relation.Name, t.relation.Schema
		}
	}
	if strings.HasPrefix(e.Code, "23") && !t.readable {
		e.Detail = ""
	}
	return &e
}

// rowsTable is the table of an input with its columns, for COPY.
func rowsTable(in *plan.Input) string {
	if !in.RowID {
		return "pg_temp." + in.TempName
	}
	columns := []string{"sluice_rowid"}
	for _, i := range in.Columns {
		columns = append(columns, pgx.Identifier{in.Relation.Columns[i].Name}.Sanitize())
	}
	return "pg_temp." + in.TempName + " (" + strings.Join(columns, ", ") + ")"
}
