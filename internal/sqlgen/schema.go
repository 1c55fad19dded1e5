package sqlgen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Schema is what statements are made over: tables, and ways to make expressions.
type Schema struct {
	tables      []table // behind engines; their schema is written {s}
	local       []table // at home
	productions map[string][]*production
	aggregates  map[string][]*production
	windowed    map[string][]*production
	ordered     map[string][]*production
	constants   map[string][]string // values of each type that engines take as constants
}

// table is a relation whose column k tells its rows apart.
type table struct {
	from    string
	columns []column
	rows    int
}

// column is one that expressions may use. Where uniform is set, equal values of it look equal; local ones are read at home
// alone.
type column struct {
	name, typ      string
	uniform, local bool
}

// Read learns the tables of a schema, and those of schema h at home, that have a unique column k. Operators, functions and
// casts are all of Postgres' own that are not volatile and whose types are ours.
func Read(ctx context.Context, home *pgx.Conn, schema string) (*Schema, error) {
	s := newSchema()
	for _, query := range []string{operators, functions, casts} {
		rows, err := home.Query(ctx, query, types)
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[catalogued])
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			s.bind(c)
		}
	}
	var err error
	if s.tables, err = tables(ctx, home, schema, "{s}"); err != nil {
		return nil, err
	}
	s.local, err = tables(ctx, home, "h", "h")
	return s, err
}

// newSchema has the forms that are written down, and no tables.
func newSchema() *Schema {
	s := &Schema{
		productions: compile(forms), aggregates: compile(aggregates), windowed: compile(windowed), ordered: compile(ordered),
	}
	for _, typ := range types {
		for _, form := range everyType["T"] {
			s.add(typ, strings.ReplaceAll(form, "{T}", "{"+typ+"}"))
		}
		for _, form := range everyType["bool"] {
			s.add("bool", strings.ReplaceAll(form, "{T}", "{"+typ+"}"))
		}
	}
	return s
}

func compile(forms map[string][]string) map[string][]*production {
	out := map[string][]*production{}
	for result, list := range forms {
		for _, form := range list {
			out[result] = append(out[result], newProduction(result, form))
		}
	}
	return out
}

func (s *Schema) add(result, form string) {
	s.productions[result] = append(s.productions[result], newProduction(result, form))
}

// catalogued is a form that the catalog lists, with types that may be polymorphic.
type catalogued struct{ Result, Form string }

// bindings are what polymorphic types stand for.
var bindings = []*strings.Replacer{
	strings.NewReplacer("anyelement", "int4", "anynonarray", "int4", "anyarray", "_int4", "anycompatiblenonarray", "int4", "anycompatiblearray", "_int4", "anycompatible", "int4", "anyenum", "mood"),
	strings.NewReplacer("anyelement", "text", "anynonarray", "numeric", "anyarray", "_text", "anycompatiblenonarray", "text", "anycompatiblearray", "_text", "anycompatible", "text"),
}

func (s *Schema) bind(c catalogued) {
	if !strings.Contains(c.Form+c.Result, "any") {
		s.add(c.Result, c.Form)
		return
	}
	for _, b := range bindings {
		if form := b.Replace(c.Form); !strings.Contains(form, "{any") {
			s.add(b.Replace(c.Result), form)
		}
	}
}

// The catalog's ways to make an expression, as result type and form. Left out is what may take memory or time without
// bound, and what is there for the system's own use.
const (
	ours = `($1::text[] || '{anyelement,anynonarray,anyarray,anycompatible,anycompatiblearray,anycompatiblenonarray,anyenum}')`

	operators = `SELECT res.typname::text, concat('{' || l.typname || '} ', o.oprname, ' {', r.typname, '}') FROM pg_operator o
		JOIN pg_proc p ON p.oid = o.oprcode JOIN pg_type res ON res.oid = o.oprresult JOIN pg_type r ON r.oid = o.oprright
		LEFT JOIN pg_type l ON l.oid = o.oprleft
		WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND p.provolatile <> 'v' AND res.typname = ANY (` + ours + `) AND r.typname = ANY (` + ours + `)
		AND (o.oprleft = 0 OR l.typname = ANY (` + ours + `)) AND NOT (o.oprname = '^' AND r.typname = 'numeric')
		AND o.oprname !~ '^~(<|>|<=|>=)~$'
		ORDER BY o.oid`

	functions = `SELECT res.typname::text, p.proname || '(' || (SELECT string_agg('{' || t.typname || '}', ', ' ORDER BY n)
			FROM unnest(p.proargtypes) WITH ORDINALITY a(t, n) JOIN pg_type t ON t.oid = a.t) || ')'
		FROM pg_proc p JOIN pg_type res ON res.oid = p.prorettype
		WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset AND p.provolatile <> 'v' AND p.provariadic = 0 AND p.pronargs > 0
		AND res.typname = ANY (` + ours + `)
		AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) a JOIN pg_type t ON t.oid = a WHERE t.typname <> ALL (` + ours + `))
		AND p.proname !~ '^(pg_|has_|hash|bt|lo_|ts_|xml|txid_|to_reg|repeat$|lpad$|rpad$|exp$|dexp$|power$|pow$|numeric_exp|numeric_power|factorial|array_fill|set_config|current_setting|age$|timeofday|in_range|getdatabaseencoding|binary_upgrade|.*send$|.*_larger$|.*_smaller$|array_subscript|row_security|currtid|query_to|table_to|schema_to|like_escape|not_like_escape|similar_escape|similar_to|inet|obj_desc|col_desc|shobj|json_populate|json_to_rec)'
		AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
		AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid)
		AND NOT EXISTS (SELECT FROM pg_aggregate a WHERE p.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn))
		ORDER BY p.oid`

	casts = `SELECT t.typname::text, '({' || s.typname || '})::' || t.typname FROM pg_cast c JOIN pg_type s ON s.oid = c.castsource JOIN pg_type t ON t.oid = c.casttarget
		WHERE s.typname = ANY ($1) AND t.typname = ANY ($1) AND s.oid <> t.oid
		UNION ALL SELECT 'text', '({' || t || '})::text' FROM unnest($1::text[]) t WHERE t NOT IN ('text', 'varchar', 'bpchar')
		UNION ALL SELECT t, '({text})::' || CASE WHEN t IN ('mood', 'pair') THEN 'h.' ELSE '' END || t FROM unnest($1::text[]) t WHERE t NOT IN ('text', 'varchar', 'bpchar')
		ORDER BY 1, 2`
)

// tables returns those with a column k of type integer that is NOT NULL.
func tables(ctx context.Context, home *pgx.Conn, schema, prefix string) ([]table, error) {
	rows, err := home.Query(ctx, `SELECT c.relname, a.attname, t.typname, a.atttypmod, coalesce(NOT col.collisdeterministic, false), greatest(c.reltuples, 0)::int
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_collation col ON col.oid = a.attcollation
		WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'
		AND EXISTS (SELECT FROM pg_attribute k WHERE k.attrelid = c.oid AND k.attname = 'k' AND k.attnotnull AND k.atttypid = 'int'::regtype)
		ORDER BY c.relname, a.attnum`, schema)
	if err != nil {
		return nil, err
	}
	var all []table
	var name, attribute, typ string
	var typmod, count int
	var loose bool
	_, err = pgx.ForEachRow(rows, []any{&name, &attribute, &typ, &typmod, &loose, &count}, func() error {
		from := prefix + "." + identifier(name)
		if len(all) == 0 || all[len(all)-1].from != from {
			all = append(all, table{from: from, rows: count})
		}
		if !loose && slices.Contains(types, typ) {
			t := &all[len(all)-1]
			_, as := uniform("", typ)
			t.columns = append(t.columns, column{name: identifier(attribute), typ: typ,
				uniform: as == typ && typ != "float8" && typ != "interval" && (typ != "numeric" || typmod >= 0)})
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("schema %s has no table with a column k", schema)
	}
	return all, err
}

// identifier quotes a name where it needs it.
func identifier(name string) string {
	if plain(name) && strings.ToLower(name) == name && name != "at" {
		return name
	}
	return pgx.Identifier{name}.Sanitize()
}
