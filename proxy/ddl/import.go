package ddl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// maxName is the length in bytes of a name in home (NAMEDATALEN - 1).
const maxName = 63

// Statement is one statement for home, with the context that an error of it is reported with (PgError.Where).
type Statement struct{ SQL, Where string }

// importOptions are those of IMPORT FOREIGN SCHEMA … OPTIONS.
type importOptions struct {
	strict  bool // a column without a counterpart in Postgres is an error and not left out
	notNull bool // keep NOT NULL
	fold    bool // names in capitals only become lower case

	partition bool // take columns that say in which partition a row is, too

	// Of what only a Postgres has.
	collate   bool // keep collations other than the types' own
	defaults  bool // keep column defaults that home understands
	generated bool // keep what generated columns are computed from
}

// importDoc describes importOptions.
var importDoc = []engines.Option{
	{Name: "strict", Default: "false"},
	{Name: "import_not_null", Default: "true"},
	{Name: "fold_upper", Default: "false"},
	{Name: "import_partition", Default: "false"},
	{Name: "import_collate", Default: "true"},
	{Name: "import_default", Default: "false"},
	{Name: "import_generated", Default: "true"},
}

// Import returns the statements that carry out IMPORT FOREIGN SCHEMA, to be run in one transaction: tables are what the
// engine found in the remote schema. A column whose type has no counterpart draws a warning and is left out, and a table
// with no other columns too; with OPTIONS (strict 'true') it is the error HV004. A name in LIMIT TO or EXCEPT that the
// remote schema lacks is of no effect, as in Postgres.
func Import(
	n *pg_query.ImportForeignSchemaStmt, server *catalog.Server, tables []engines.Table,
) ([]Statement, []*pgconn.PgError, error) {
	options, err := readImportOptions(n.Options)
	if err != nil {
		return nil, nil, err
	}
	imp := importing{options: options, schema: n.LocalSchema, server: server.Name, names: map[string]string{}}
	// Home says so where the local schema is missing, even if no table is to be made.
	imp.add("", "SELECT "+literal(ident(n.LocalSchema))+"::pg_catalog.regnamespace")
	for i := range tables {
		if !wanted(n, tables[i].Name) {
			continue
		}
		t := tables[i]
		if !options.partition {
			t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c engines.Column) bool { return c.Partition })
		}
		if err := imp.table(&t); err != nil {
			return nil, imp.notices, err
		}
	}
	return imp.statements, imp.notices, nil
}

func readImportOptions(list []*pg_query.Node) (importOptions, error) {
	o := importOptions{notNull: true, collate: true, generated: true}
	targets := map[string]*bool{
		"strict": &o.strict, "import_not_null": &o.notNull, "fold_upper": &o.fold, "import_partition": &o.partition,
		"import_collate": &o.collate, "import_default": &o.defaults, "import_generated": &o.generated,
	}
	for _, node := range list {
		e := node.GetDefElem()
		target := targets[e.GetDefname()]
		if target == nil {
			return o, unknownOption(e.GetDefname(), importDoc)
		}
		value, err := parseBool(e.GetArg().GetString_().GetSval())
		if err != nil {
			return o, pgerr.New(pgerr.InvalidParameter, "invalid value for option %q: must be true or false", e.GetDefname())
		}
		*target = value
	}
	return o, nil
}

// parseBool reads a Boolean option as Postgres does.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "on", "yes":
		return true, nil
	case "off", "no":
		return false, nil
	}
	return strconv.ParseBool(strings.ToLower(s))
}

// wanted reports whether a remote table is among those that the statement names.
func wanted(n *pg_query.ImportForeignSchemaStmt, table string) bool {
	named := slices.ContainsFunc(n.TableList, func(node *pg_query.Node) bool {
		return node.GetRangeVar().GetRelname() == table
	})
	switch n.ListType {
	case pg_query.ImportForeignSchemaType_FDW_IMPORT_SCHEMA_LIMIT_TO:
		return named
	case pg_query.ImportForeignSchemaType_FDW_IMPORT_SCHEMA_EXCEPT:
		return !named
	}
	return true
}

// importing is one IMPORT FOREIGN SCHEMA at work.
type importing struct {
	options        importOptions
	schema, server string
	names          map[string]string // local table name → remote one
	statements     []Statement
	notices        []*pgconn.PgError
}

func (imp *importing) add(table, sql string) {
	where := ""
	if table != "" {
		where = fmt.Sprintf("importing foreign table %q", table)
	}
	imp.statements = append(imp.statements, Statement{SQL: sql, Where: where})
}

func (imp *importing) table(t *engines.Table) error {
	name, options := imp.local(t.Name, "table_name", t.Options)
	if other, twice := imp.names[name]; twice {
		return collision(pgerr.New("42P07", "remote tables %q and %q would both be named %q", other, t.Name, name))
	}
	imp.names[name] = t.Name
	columns, later, err := imp.columns(t, imp.qualified(name))
	if err != nil {
		return err
	}
	if len(columns) == 0 && len(t.Columns) > 0 {
		imp.notices = append(imp.notices, warning(leftOut, "table %q was left out: none of its columns has a type that Postgres knows", t.Name))
		return nil
	}
	imp.add(name, "CREATE FOREIGN TABLE "+imp.qualified(name)+" (\n  "+strings.Join(columns, ",\n  ")+"\n) SERVER "+
		ident(imp.server)+OptionList(options))
	if t.Comment != "" {
		imp.add(name, "COMMENT ON FOREIGN TABLE "+imp.qualified(name)+" IS "+literal(t.Comment))
	}
	for _, sql := range later {
		imp.add(name, sql)
	}
	return nil
}

// byDefault gives a column its remote default, where home knows all that this is made of: an import does not fail for a value that
// concerns none of the rows that are there. A text that would do more than that, empty then, is not passed on: the remote side has written it.
func (imp *importing) byDefault(t *engines.Table, c *engines.Column, table, column string) string {
	set := "ALTER FOREIGN TABLE " + table + " ALTER COLUMN " + ident(column) + " SET DEFAULT " + c.Default
	said := fmt.Sprintf("column %q of table %q was left without its default: ", c.Name, t.Name)
	if parsed, err := pg_query.Parse(set); err != nil || len(parsed.Stmts) != 1 || len(parsed.Stmts[0].Stmt.GetAlterTableStmt().GetCmds()) != 1 {
		imp.notices = append(imp.notices, warning("", "%sit is no expression that Postgres reads", said))
		return ""
	}
	return "DO " + literal("BEGIN EXECUTE "+literal(set)+"; EXCEPTION WHEN OTHERS THEN RAISE WARNING USING MESSAGE = "+literal(said)+" || SQLERRM; END")
}

func (imp *importing) qualified(table string) string { return ident(imp.schema) + "." + ident(table) }

// leftOut is the hint of warnings about what has no counterpart.
const leftOut = "Import a view of the remote side that casts it."

// columns returns the definitions of a table's columns, and the statements that say more of them once they are there.
func (imp *importing) columns(t *engines.Table, table string) (definitions, later []string, err error) {
	names := map[string]string{}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Type == "" {
			if imp.options.strict {
				return nil, nil, pgerr.Hint(
					pgerr.New(pgerr.FdwInvalidDataType, "column %q of table %q has type %s, which has no counterpart in Postgres",
						c.Name, t.Name, c.RemoteType),
					"Leave the table out with EXCEPT (%s), or import without strict.", ident(t.Name))
			}
			imp.notices = append(imp.notices, warning(leftOut,
				"column %q of table %q was left out: its type %s has no counterpart in Postgres", c.Name, t.Name, c.RemoteType))
			continue
		}
		name, options := imp.local(c.Name, "column_name", c.Options)
		if other, twice := names[name]; twice {
			return nil, nil, collision(pgerr.New("42701",
				"columns %q and %q of remote table %q would both be named %q", other, c.Name, t.Name, name))
		}
		names[name] = c.Name
		definition := ident(name) + " " + c.Type + OptionList(options)
		definition += imp.clauses(c)
		definitions = append(definitions, definition)
		if c.Default != "" && imp.options.defaults {
			if sql := imp.byDefault(t, c, table, name); sql != "" {
				later = append(later, sql)
			}
		}
		if c.Comment != "" {
			later = append(later, "COMMENT ON COLUMN "+table+"."+ident(name)+" IS "+literal(c.Comment))
		}
	}
	return definitions, later, nil
}

// clauses returns what a column's definition says behind its options.
func (imp *importing) clauses(c *engines.Column) string {
	out := ""
	if c.Collation != "" && imp.options.collate {
		out += " COLLATE " + c.Collation
	}
	if c.Generated != "" && imp.options.generated {
		out += " GENERATED ALWAYS AS (" + c.Generated + ") STORED"
	}
	if c.NotNull && imp.options.notNull {
		out += " NOT NULL"
	}
	return out
}

// local returns the name that a remote object gets at home, and its options: the engine's own, else the remote name
// where the two differ.
func (imp *importing) local(remote, option string, options map[string]string) (string, map[string]string) {
	name := remote
	if imp.options.fold && strings.ToUpper(name) == name {
		name = strings.ToLower(name)
	}
	if short := clip(name); short != name {
		imp.notices = append(imp.notices, warning("", "identifier %q will be truncated to %q", name, short))
		name = short
	}
	for _, said := range []string{option, "file", "glob"} { // has the engine itself said where it is?
		if _, ok := options[said]; ok {
			return name, options
		}
	}
	if name == remote {
		return name, options
	}
	options = maps.Clone(options)
	if options == nil {
		options = map[string]string{}
	}
	options[option] = remote
	return name, options
}

// clip cuts a name to what home keeps of it, at the edge of a character.
func clip(name string) string {
	if len(name) <= maxName {
		return name
	}
	end := maxName
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

func collision(err *pgconn.PgError) error {
	return pgerr.Hint(err, "Import them one by one with LIMIT TO into different schemas, or create one by hand.")
}
