package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_postgres.
type Wrapper struct{}

var _ engines.Wrapper = Wrapper{}

// Name returns "sluice_postgres".
func (Wrapper) Name() string { return "sluice_postgres" }

var serverOptions = []engines.Option{
	{Name: "host", Default: "localhost", Doc: "host name, address or directory of the socket; several, separated by commas, are tried in turn"},
	{Name: "port", Default: "5432", Doc: "port, or as many as there are hosts", Check: checkPorts},
	{Name: "dbname", Doc: "database, by default the one named like the remote role"},
	{Name: "sslmode", Default: "prefer", Doc: "disable, allow, prefer, require, verify-ca or verify-full", Check: oneOf("disable", "allow", "prefer", "require", "verify-ca", "verify-full")},
	{Name: "sslrootcert", Doc: "file with the certificates of authorities, or system"},
	{Name: "sslsni", Default: "1", Doc: "0 leaves the host's name out of the TLS handshake", Check: oneOf("0", "1")},
	{Name: "sslnegotiation", Default: "postgres", Doc: "postgres, or direct for TLS at once", Check: oneOf("postgres", "direct")},
	{Name: "channel_binding", Default: "prefer", Doc: "disable, prefer or require", Check: oneOf("disable", "prefer", "require")},
	{Name: "target_session_attrs", Default: "any", Doc: "which of several hosts to take: any, read-write, read-only, primary, standby or prefer-standby",
		Check: oneOf("any", "read-write", "read-only", "primary", "standby", "prefer-standby")},
	{Name: "connect_timeout", Default: "10", Doc: "seconds to wait for a connection", Check: engines.CheckSeconds},
	{Name: "application_name", Default: "sluice", Doc: "name that the remote server shows for the connections"},
	{Name: "options", Doc: "command-line options for the remote session, for instance -c work_mem=64MB"},
	{Name: "updatable", Default: "false", Doc: "true lets foreign tables be written to", Check: engines.CheckBool},
}

var mappingOptions = []engines.Option{
	{Name: "user", Doc: "remote role, by default the one of the same name"},
	{Name: "password", Doc: "its password, better as a reference: env:NAME or file:PATH"},
	{Name: "password_required", Default: "true", Doc: "false, which only a superuser may set, allows a remote role that logs in without a password", Check: engines.CheckBool},
	{Name: "sslcert", Doc: "file with the client's certificate"},
	{Name: "sslkey", Doc: "file with its private key"},
}

var tableOptions = []engines.Option{
	{Name: "schema_name", Doc: "schema of the remote table, by default that of the foreign table"},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
	{Name: "updatable", Doc: "whether the table may be written to, by default as the server says", Check: engines.CheckBool},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Check looks at options that need one another. Files are not looked at before they are used.
func (Wrapper) Check(kind engines.ObjectKind, options map[string]string) error {
	if kind != engines.ServerObject {
		return nil
	}
	hosts, ports := strings.Count(options["host"], ","), strings.Count(options["port"], ",")
	if ports > 0 && ports != hosts {
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `options "host" and "port" list different numbers of servers`),
			"Give one port for all hosts, or one for each.")
	}
	return nil
}

// Open makes an Engine for s, which connects at the first use.
func (Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	config, err := connectConfig(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	updatable, err := engines.ParseBool(s.Options["updatable"], false)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return newEngine(s.Name, config, updatable), nil
}

func oneOf(words ...string) func(string) error {
	return func(v string) error {
		for _, w := range words {
			if v == w {
				return nil
			}
		}
		return errors.New("valid values are " + strings.Join(words, ", "))
	}
}

func checkPorts(v string) error {
	for _, p := range strings.Split(v, ",") {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return errors.New("a number from 1 to 65535 is required")
		}
	}
	return nil
}
