package clickhouse

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_clickhouse.
type Wrapper struct{}

var _ engines.Wrapper = Wrapper{}

// Name returns "sluice_clickhouse".
func (Wrapper) Name() string { return "sluice_clickhouse" }

var serverOptions = []engines.Option{
	{Name: "host", Default: "localhost", Doc: "host name or address of the server"},
	{Name: "protocol", Default: overNative, Doc: "native, or http for the HTTP interface", Check: oneOf(overNative, overHTTP)},
	{Name: "port", Doc: "port of the protocol: by default 9000 and, with secure, 9440; of http 8123 and 8443", Check: number(1, 65535)},
	{Name: "database", Default: "default", Doc: "database of foreign tables that name none"},
	{Name: "secure", Default: "false", Doc: "true encrypts the connection with TLS", Check: engines.CheckBool},
	{Name: "sslrootcert", Doc: "file with the certificates of authorities, by default the system's"},
	{Name: "sslservername", Doc: "name that the server's certificate must bear, by default the host"},
	{Name: "skip_verify", Default: "false", Doc: "true takes any certificate, which is no protection against an impostor", Check: engines.CheckBool},
	{Name: "connect_timeout", Default: "10", Doc: "seconds to wait for a connection", Check: number(1, 3600)},
	{Name: "handles", Default: "false", Doc: "true lets roles keep results as tables of the option database", Check: engines.CheckBool},
	{Name: "max_block_size", Default: "4096", Doc: "rows that the server sends at once at most, which bounds memory", Check: number(1, 1<<20)},
	{Name: "max_execution_time", Default: "0", Doc: "seconds after which the server ends a statement, 0 for never", Check: number(0, 1<<31-1)},
}

var mappingOptions = []engines.Option{
	{Name: "user", Doc: "user of the server, by default the one of the role's name"},
	{Name: "password", Doc: "its password, better as a reference: env:NAME or file:PATH"},
	{Name: "sslcert", Doc: "file with the client's certificate"},
	{Name: "sslkey", Doc: "file with its private key"},
}

var tableOptions = []engines.Option{
	{Name: "schema_name", Doc: "database of the remote table, by default the server's"},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "remote_type", Doc: "type of the column at the server, as IMPORT FOREIGN SCHEMA notes it: conditions on columns whose type is not known stay at home"},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Check looks at options that need one another. Files are not looked at before they are used.
func (Wrapper) Check(kind engines.ObjectKind, options map[string]string) error {
	switch kind {
	case engines.ServerObject:
		return checkServer(options)
	case engines.MappingObject:
		return checkMapping(options)
	default:
		return nil
	}
}

// Open makes an Engine for s, which connects at the first use.
func (Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	c, err := newConfig(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return newEngine(s.Name, c), nil
}

// number checks a whole number between bounds.
func number(low, high int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err != nil || n < low || n > high {
			return errors.New("a number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high) + " is required")
		}
		return nil
	}
}

// oneOf checks for one of some words.
func oneOf(words ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(words, v) {
			return errors.New(strings.Join(words, " or ") + " is required")
		}
		return nil
	}
}
