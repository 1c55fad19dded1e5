package trino

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_trino.
type Wrapper struct{}

var _ engines.Wrapper = Wrapper{}

// Name returns "sluice_trino".
func (Wrapper) Name() string { return "sluice_trino" }

var serverOptions = []engines.Option{
	{Name: "host", Default: "localhost", Doc: "host name or address of the coordinator", Check: checkHost},
	{Name: "port", Doc: "its port, by default 8443, and 8080 where secure is false", Check: bounded(1, 65535)},
	{Name: "catalog", Doc: "catalog of foreign tables that name none, and what IMPORT FOREIGN SCHEMA reads"},
	{Name: "schema", Doc: "schema of foreign tables that name none, by default that of the foreign table"},
	{Name: "secure", Default: "true", Doc: "false leaves out TLS, and with it passwords and tokens", Check: engines.CheckBool},
	{Name: "sslrootcert", Doc: "file with the certificates of authorities, by default the system's"},
	{Name: "sslservername", Doc: "name that the server's certificate must bear, by default the host"},
	{Name: "skip_verify", Default: "false", Doc: "true takes any certificate, which is no protection against an impostor", Check: engines.CheckBool},
	{Name: "role", Doc: "role of the remote user, or catalog=role, with commas between several", Check: checkPairs(false)},
	{Name: "session_properties", Doc: "properties of Trino's session as name=value, with commas between them", Check: checkPairs(true)},
	{Name: "max_execution_time", Default: "0", Doc: "seconds after which the cluster ends a statement, 0 for never", Check: bounded(0, 1<<31-1)},
	{Name: "connect_timeout", Default: "10", Doc: "seconds to wait for a connection", Check: engines.CheckSeconds},
	{Name: "catalogs", Doc: "catalogs by which this Trino reaches other servers, as server=catalog with commas between them", Check: engines.CheckPairs},
	{Name: "home_catalog", Doc: "catalog by which this Trino reads the tables of home"},
	{Name: "handles", Default: "false", Doc: "true lets roles keep results as tables of the options catalog and schema", Check: engines.CheckBool},
	{Name: "values_rows", Default: "1000", Doc: "rows that a relation which this Trino does not reach may have to be sent along in a statement that it joins, 0 for none", Check: bounded(0, 1_000_000)},
	{Name: "values_bytes", Default: "262144", Doc: "bytes that the values of all such relations may take together", Check: bounded(0, 1<<30)},
	{Name: "compress", Default: "false", Doc: "true has rows compressed on the way, for networks that are slower than that", Check: engines.CheckBool},
}

var mappingOptions = []engines.Option{
	{Name: "user", Doc: "user of the cluster, by default the one of the role's name"},
	{Name: "password", Doc: "its password, better as a reference: env:NAME or file:PATH"},
	{Name: "token", Doc: "token (JWT, OAuth) in place of a password, better as a reference: env:NAME or file:PATH"},
}

var tableOptions = []engines.Option{
	{Name: "catalog_name", Doc: "catalog of the remote table, by default the server's"},
	{Name: "schema_name", Doc: "schema of the remote table, by default the server's"},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "remote_type", Doc: "type of the column at the cluster, as IMPORT FOREIGN SCHEMA notes it"},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Check looks at options that exclude or need one another. Files are not looked at before they are used.
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

func checkServer(options map[string]string) error {
	secure, err := engines.ParseBool(options["secure"], true)
	if err != nil {
		return pgerr.New(pgerr.FdwInvalidOption, `invalid value for option "secure": %s`, err)
	}
	handles, err := engines.ParseBool(options["handles"], false)
	if err != nil {
		return pgerr.New(pgerr.FdwInvalidOption, `invalid value for option "handles": %s`, err)
	}
	if handles && (options["catalog"] == "" || options["schema"] == "") {
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option "handles" needs options "catalog" and "schema"`), "They say where the tables of handles are made.")
	}
	for _, name := range []string{"sslrootcert", "sslservername", "skip_verify"} {
		if options[name] != "" && !secure {
			return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option %q needs option "secure"`, name), `Set option "secure" to true.`)
		}
	}
	return nil
}

func checkMapping(options map[string]string) error {
	if options["password"] != "" && options["token"] != "" {
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `options "password" and "token" exclude each other`), "Log in by one of them.")
	}
	return nil
}

// Open makes an Engine for s, which connects at the first use.
func (Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	c, err := newClient(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	handles, err := engines.ParseBool(s.Options["handles"], false)
	return &Engine{server: s.Name, client: c, catalog: s.Options["catalog"], schema: s.Options["schema"], handles: handles}, pgerr.AtServer(s.Name, err)
}

func checkHost(v string) error {
	if strings.ContainsAny(v, "/@ \t\n") {
		return errors.New("the name or address of a host is required, such as trino.example")
	}
	return nil
}

// bounded checks a whole number between bounds.
func bounded(low, high int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err != nil || n < low || n > high {
			return errors.New("a number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high) + " is required")
		}
		return nil
	}
}

// pair is name=value; name is empty where there is no equals sign.
type pair struct{ name, value string }

// pairs parts a list at its commas.
func pairs(list string) []pair {
	var out []pair
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			name, value = "", name
		}
		out = append(out, pair{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return out
}

func checkPairs(named bool) func(string) error {
	return func(v string) error {
		for _, p := range pairs(v) {
			if p.value == "" || named && p.name == "" {
				return errors.New("a list of name=value is required, with commas between them")
			}
			if strings.ContainsFunc(p.name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),:;=@[]{}`, r) }) {
				return errors.New("a name has a character that none may have")
			}
		}
		return nil
	}
}
