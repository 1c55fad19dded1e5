package sqldb

import (
	"context"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// SQLServer is the code behind the foreign-data wrapper sluice_mssql.
type SQLServer struct{}

var _ engines.Wrapper = SQLServer{}

// Name returns "sluice_mssql".
func (SQLServer) Name() string { return "sluice_mssql" }

var sqlServerOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: {
		{Name: "host", Required: true, Doc: "host name or address"},
		{Name: "port", Default: "1433", Doc: "port", Check: checkNumber(1, 65535)},
		{Name: "database", Required: true, Doc: "database of tables that name no other"},
		{Name: "sslmode", Default: "verify-full", Doc: "disable, require (any certificate), verify-full or strict (TDS 8)", Check: oneOf("disable", "require", "verify-full", "strict")},
		{Name: "sslrootcert", Doc: "file with the certificate of the authority, by default those of the system"},
		{Name: "read_only", Default: "false", Doc: "whether to ask for a readable secondary replica", Check: engines.CheckBool},
		{Name: "handles", Default: "false", Doc: "true lets roles keep results as tables of schema dbo, see handles.md", Check: engines.CheckBool},
		{Name: "connect_timeout", Default: "10", Doc: "seconds to wait for a connection", Check: checkNumber(1, 3600)},
	},
	engines.MappingObject: {
		{Name: "user", Doc: "login"},
		{Name: "password", Doc: "its password, better as a reference: env:NAME or file:PATH"},
		{Name: "token", Doc: "access token of Entra ID in place of user and password, as a reference"},
	},
	engines.TableObject: {
		{Name: "catalog_name", Doc: "database of the remote table, by default the server's"},
		{Name: "schema_name", Default: "dbo", Doc: "schema of the remote table"},
		{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
	},
	engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (SQLServer) Options(kind engines.ObjectKind) []engines.Option { return sqlServerOptions[kind] }

// Check looks at options that need one another.
func (SQLServer) Check(kind engines.ObjectKind, options map[string]string) error {
	handles, _ := engines.ParseBool(options["handles"], false) // which was checked, as was the other
	readOnly, _ := engines.ParseBool(options["read_only"], false)
	if kind == engines.ServerObject && handles && readOnly {
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option "handles" needs a server that may be written to`), "Leave option \"read_only\" out.")
	}
	if kind != engines.MappingObject {
		return nil
	}
	if (options["token"] == "") == (options["user"] == "") {
		return pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `either "user" or "token" is needed`), "OPTIONS (user 'reader', password 'file:/run/secrets/reader').")
	}
	return nil
}

// Open makes an Engine for s, which connects at the first use.
func (SQLServer) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	src, err := newSQLServer(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return newEngine(s, src), nil
}
