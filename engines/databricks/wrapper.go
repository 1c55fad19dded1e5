package databricks

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_databricks.
type Wrapper struct{}

var _ engines.Wrapper = Wrapper{}

// Name returns "sluice_databricks".
func (Wrapper) Name() string { return "sluice_databricks" }

var serverOptions = []engines.Option{
	{Name: "host", Required: true, Doc: "name of the workspace's host, such as adb-1234567890123456.7.azuredatabricks.net", Check: checkHost},
	{Name: "warehouse_id", Required: true, Doc: "SQL warehouse that executes the statements"},
	{Name: "catalog", Default: "main", Doc: "Unity Catalog's catalog of tables that name none"},
	{Name: "schema", Doc: "schema of tables that name none, and of handles"},
	{Name: "handles", Default: "false", Doc: "true lets roles keep results as tables of the option schema", Check: engines.CheckBool},
	{Name: "connect_timeout", Default: "30", Doc: "seconds to wait for an answer to one request", Check: engines.CheckSeconds},
}

var mappingOptions = []engines.Option{
	{Name: "token", Doc: "access token, better as a reference: env:NAME or file:PATH"},
	{Name: "client_id", Doc: "service principal that logs in by OAuth, in place of a token"},
	{Name: "client_secret", Doc: "its secret, better as a reference: env:NAME or file:PATH"},
}

var tableOptions = []engines.Option{
	{Name: "catalog_name", Doc: "catalog of the remote table, by default the server's"},
	{Name: "schema_name", Doc: "schema of the remote table, by default the server's, or that of the foreign table"},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "nested", Default: "false", Doc: "whether the remote column is an array, map, struct or variant, which is read as JSON", Check: engines.CheckBool},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Check looks at options that exclude or need one another.
func (Wrapper) Check(kind engines.ObjectKind, options map[string]string) error {
	if kind == engines.ServerObject {
		if handles, err := engines.ParseBool(options["handles"], false); err == nil && handles && options["schema"] == "" {
			return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option "handles" needs option "schema"`), "It says where the tables of handles are made.")
		}
	}
	if kind != engines.MappingObject {
		return nil
	}
	token, id, secret := options["token"] != "", options["client_id"] != "", options["client_secret"] != ""
	switch {
	case token && (id || secret):
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option "token" excludes "client_id" and "client_secret"`), "Log in by one of them.")
	case id != secret:
		return pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `options "client_id" and "client_secret" need one another`), "Set both, or a token.")
	}
	return nil
}

// Open makes an Engine for s, which connects at the first use.
func (Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	c, err := newClient(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	catalog := s.Options["catalog"]
	if catalog == "" {
		catalog = "main"
	}
	handles, err := engines.ParseBool(s.Options["handles"], false)
	return &Engine{server: s.Name, client: c, warehouse: s.Options["warehouse_id"], catalog: catalog, schema: s.Options["schema"], handles: handles}, pgerr.AtServer(s.Name, err)
}

// baseURL returns where the API of a host is. Without encryption there is none but on this machine.
func baseURL(host string) (*url.URL, error) {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("a host's name is required, such as adb-1234567890123456.7.azuredatabricks.net")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("the connection must be encrypted: https")
	}
	u.Path = ""
	return u, nil
}

func checkHost(v string) error {
	_, err := baseURL(v)
	return err
}

func seconds(v string, unset time.Duration) time.Duration {
	if n, err := strconv.Atoi(v); err == nil {
		return time.Duration(n) * time.Second
	}
	return unset
}
