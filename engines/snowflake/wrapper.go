package snowflake

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_snowflake.
type Wrapper struct{}

var _ engines.Wrapper = Wrapper{}

// Name returns "sluice_snowflake".
func (Wrapper) Name() string { return "sluice_snowflake" }

var serverOptions = []engines.Option{
	{Name: "account", Required: true, Doc: "account identifier, such as myorg-myaccount", Check: checkAccount},
	{Name: "database", Required: true, Doc: "database of tables that name none"},
	{Name: "schema", Default: "PUBLIC", Doc: "schema of tables that name none"},
	{Name: "warehouse", Doc: "warehouse that computes statements, by default the user's"},
	{Name: "role", Doc: "role that statements run under, by default the user's"},
	{Name: "binary_text", Default: "false", Doc: "whether columns of text have no collation, so that text is compared there: IMPORT FOREIGN SCHEMA notes it in remote_type", Check: engines.CheckBool},
	{Name: "handles", Default: "false", Doc: "true lets roles keep results as tables of the option schema", Check: engines.CheckBool},
	{Name: "host", Doc: "name of the host, such as that of a private link, by default the account's at snowflakecomputing.com", Check: checkHost},
	{Name: "port", Default: "443", Doc: "port of the host", Check: checkPort},
	{Name: "protocol", Default: "https", Doc: "https, or http on this machine", Check: checkProtocol},
	{Name: "connect_timeout", Default: "30", Doc: "seconds to wait for a connection and for the login", Check: engines.CheckSeconds},
	{Name: "statement_timeout", Doc: "seconds after which the server ends a statement, by default as the account has it", Check: engines.CheckSeconds},
}

var mappingOptions = []engines.Option{
	{Name: "user", Doc: "user that logs in"},
	{Name: "password", Doc: "password, better as a reference: env:NAME or file:PATH"},
	{Name: "private_key", Doc: "RSA key in PKCS #8 for key-pair login, as a reference: env:NAME or file:PATH"},
	{Name: "private_key_passphrase", Doc: "what the key is encrypted with, better as a reference: env:NAME or file:PATH"},
	{Name: "token", Doc: "OAuth token or programmatic access token, better as a reference: env:NAME or file:PATH"},
	{Name: "token_kind", Default: "oauth", Doc: "oauth, or programmatic", Check: checkTokenKind},
	{Name: "role", Doc: "role that statements of this user run under, by default the server's"},
}

var tableOptions = []engines.Option{
	{Name: "database_name", Doc: "database of the remote table, by default the server's"},
	{Name: "schema_name", Doc: "schema of the remote table, by default the server's"},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name, in upper case where it has no capitals"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it, in upper case where it has no capitals"},
	{Name: "remote_type", Doc: "type of the column at the server, which says what may be computed there; IMPORT FOREIGN SCHEMA fills it in"},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Check looks at options that exclude or need one another.
func (Wrapper) Check(kind engines.ObjectKind, o map[string]string) error {
	switch kind {
	case engines.ServerObject:
		if ip := net.ParseIP(o["host"]); o["protocol"] == "http" && (ip == nil || !ip.IsLoopback()) {
			return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, "the connection must be encrypted: https"), "http is for addresses of this machine alone.")
		}
	case engines.MappingObject:
		return checkMapping(o)
	}
	return nil
}

func checkMapping(o map[string]string) error {
	var secrets []string
	for _, name := range []string{"password", "private_key", "token"} {
		if o[name] != "" {
			secrets = append(secrets, strconv.Quote(name))
		}
	}
	switch {
	case len(secrets) > 1:
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, "options %s exclude one another", strings.Join(secrets, " and ")), "Log in by one of them.")
	case o["private_key_passphrase"] != "" && o["private_key"] == "":
		return pgerr.New(pgerr.FdwOptionNotFound, `option "private_key_passphrase" needs "private_key"`)
	case o["user"] == "" && o["token"] == "":
		return pgerr.New(pgerr.FdwOptionNotFound, `option "user" is required`)
	}
	return nil
}

// Open makes an Engine for s, which logs in at the first use.
func (w Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	if err := w.Check(engines.ServerObject, s.Options); err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	c, err := configure(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return newEngine(s, c), nil
}

var accountForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

func checkAccount(v string) error {
	if !accountForm.MatchString(v) {
		return errors.New("an account identifier is required, such as myorg-myaccount")
	}
	return nil
}

func checkHost(v string) error {
	if strings.ContainsAny(v, "/@?# ") || strings.Contains(v, ":") && net.ParseIP(v) == nil {
		return errors.New("a host's name is required, without protocol and port")
	}
	return nil
}

func checkPort(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 65535 {
		return errors.New("a port from 1 to 65535 is required")
	}
	return nil
}

func checkProtocol(v string) error {
	if v != "https" && v != "http" {
		return errors.New("https and http are allowed")
	}
	return nil
}

func checkTokenKind(v string) error {
	if v != "oauth" && v != "programmatic" {
		return errors.New("oauth and programmatic are allowed")
	}
	return nil
}
