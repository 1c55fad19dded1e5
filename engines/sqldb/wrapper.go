package sqldb

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_sql.
type Wrapper struct{}

var (
	_ engines.Wrapper  = Wrapper{}
	_ engines.Userless = Wrapper{}
)

// Name returns "sluice_sql".
func (Wrapper) Name() string { return "sluice_sql" }

// kinds makes a source of each driver's name.
var kinds = map[string]func(s engines.Server) (source, error){"mysql": newMySQL, "sqlite": newSQLite}

var serverOptions = []engines.Option{
	{Name: "driver", Required: true, Doc: "mysql, for MariaDB too, or sqlite", Check: oneOf("mysql", "sqlite")},
	{Name: "file", Doc: "sqlite: path of the database"},
	{Name: "host", Doc: "mysql: host name, address or path of the socket, by default localhost"},
	{Name: "port", Doc: "mysql: port, by default 3306", Check: checkNumber(1, 65535)},
	{Name: "database", Doc: "mysql: database of tables that name no other"},
	{Name: "sslmode", Doc: "mysql: disable, prefer, require, verify-ca or verify-full, by default prefer",
		Check: oneOf("disable", "prefer", "require", "verify-ca", "verify-full")},
	{Name: "sslrootcert", Doc: "mysql: file with the certificates of authorities, by default those of the system"},
	{Name: "handles", Default: "false", Doc: "true lets roles keep results as tables of the database, see handles.md", Check: engines.CheckBool},
	{Name: "connect_timeout", Default: "10", Doc: "seconds to wait for a connection, or for a lock on the file", Check: checkNumber(1, 3600)},
}

var mappingOptions = []engines.Option{
	{Name: "user", Doc: "mysql: remote user"},
	{Name: "password", Doc: "mysql: its password, better as a reference: env:NAME or file:PATH"},
}

var tableOptions = []engines.Option{
	{Name: "schema_name", Doc: "mysql: database of the remote table, by default the server's"},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "remote_type", Doc: "type of the remote column, as IMPORT found it, which says what is computed there"},
	{Name: spelled, Default: "false", Doc: "whether the column holds values as Postgres writes them, which home alone reads: columns of handles do", Check: engines.CheckBool},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Userless reports whether a server is a file.
func (Wrapper) Userless(server map[string]string) bool { return server["driver"] == "sqlite" }

// foreign are the options of a server that are of no use to its driver.
var foreign = map[string][]string{"mysql": {"file"}, "sqlite": {"host", "port", "database", "sslmode", "sslrootcert"}}

// Check looks at options that need one another.
func (Wrapper) Check(kind engines.ObjectKind, options map[string]string) error {
	if kind != engines.ServerObject {
		return nil
	}
	driver := options["driver"]
	for _, name := range foreign[driver] {
		if _, given := options[name]; given {
			return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, "option %q is not one of driver %q", name, driver), "Leave it out.")
		}
	}
	if on, err := engines.ParseBool(options["handles"], false); err == nil && on && driver == "mysql" && options["database"] == "" {
		return pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `option "handles" needs option "database", where tables are made`), "OPTIONS (driver 'mysql', database 'shop', handles 'true').")
	}
	if driver == "sqlite" && !filepath.IsAbs(options["file"]) {
		return pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `option "file" must be the absolute path of a SQLite database`),
			"OPTIONS (driver 'sqlite', file '/data/orders.db').")
	}
	return nil
}

// Open makes an Engine for s, which connects at the first use.
func (w Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	newSource := kinds[s.Options["driver"]]
	if newSource == nil {
		return nil, pgerr.AtServer(s.Name, pgerr.New(pgerr.FdwInvalidOption, "there is no driver %q", s.Options["driver"]))
	}
	src, err := newSource(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return newEngine(s, src), nil
}

// secondsOf reads an option that is a number of seconds.
func secondsOf(s engines.Server, name string, unset int) int {
	if n, err := strconv.Atoi(s.Options[name]); err == nil {
		return n
	}
	return unset
}

func oneOf(words ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(words, v) {
			return nil
		}
		return errors.New("valid values are " + strings.Join(words, ", "))
	}
}

func checkNumber(least, most int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < least || n > most {
			return errors.New("a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most) + " is required")
		}
		return nil
	}
}
