package bigquery

import (
	"context"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_bigquery.
type Wrapper struct{}

var (
	_ engines.Wrapper  = Wrapper{}
	_ engines.Userless = Wrapper{}
)

// Name returns "sluice_bigquery".
func (Wrapper) Name() string { return "sluice_bigquery" }

var serverOptions = []engines.Option{
	{Name: "project", Required: true, Doc: "id of the Google Cloud project that runs the jobs and pays for them, and whose tables are meant where none is named", Check: checkProject},
	{Name: "dataset", Doc: "dataset of tables that name none; without it the schema of the foreign table", Check: checkDataset},
	{Name: "location", Doc: "where the datasets are, such as EU or us-east1; without it the service finds out"},
	{Name: "maximum_bytes_billed", Doc: "how many bytes a statement may be billed for: one that would be for more fails (54000) and costs nothing", Check: checkBytes},
	{Name: "job_timeout", Doc: "seconds after which the service ends a job", Check: engines.CheckSeconds},
	{Name: "handles", Default: "false", Doc: "whether results of queries may be kept as tables of the server's dataset", Check: engines.CheckBool},
	{Name: "handle_expiration", Doc: "seconds after which the service drops such a table even if its handle is left; without it, it stays as long as the handle", Check: engines.CheckSeconds},
	{Name: "connect_timeout", Default: "30", Doc: "seconds to wait for an answer to one request", Check: engines.CheckSeconds},
	{Name: "endpoint", Doc: "URL of the REST API where it is not Google's: of a private endpoint, or of an emulator", Check: checkEndpoint},
	{Name: "storage_endpoint", Doc: "host:port of the Storage Read API where it is not Google's", Check: checkAddress},
	{Name: "emulator", Default: "false", Doc: "whether the endpoints are an emulator's, which is asked without encryption and credentials", Check: engines.CheckBool},
}

var mappingOptions = []engines.Option{
	{Name: "service_account", Doc: "key of a service account as JSON, better as a reference: file:PATH or env:NAME"},
	{Name: "access_token", Doc: "OAuth access token in place of a key, better as a reference: file:PATH or env:NAME"},
}

var tableOptions = []engines.Option{
	{Name: "catalog_name", Doc: "project of the remote table, by default the server's", Check: checkProject},
	{Name: "schema_name", Doc: "dataset of the remote table, by default the server's, or the schema of the foreign table", Check: checkDataset},
	{Name: "table_name", Doc: "name of the remote table, by default the foreign table's name"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "remote_type", Doc: "type of the remote column, as IMPORT FOREIGN SCHEMA notes it: conditions on columns whose type is not known stay at home"},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

var wrapperOptions = map[engines.ObjectKind][]engines.Option{
	engines.ServerObject: serverOptions, engines.MappingObject: mappingOptions, engines.TableObject: tableOptions, engines.ColumnObject: columnOptions,
}

// Options lists the options of an object kind.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option { return wrapperOptions[kind] }

// Check looks at options that exclude or need one another.
func (Wrapper) Check(kind engines.ObjectKind, options map[string]string) error {
	switch {
	case kind == engines.MappingObject && options["service_account"] != "" && options["access_token"] != "":
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option "access_token" excludes "service_account"`), "Log in by one of them.")
	case kind == engines.ServerObject && isEmulator(options) && (options["endpoint"] == "" || options["storage_endpoint"] == ""):
		return pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `option "emulator" needs "endpoint" and "storage_endpoint"`),
			"Say where the emulator is: endpoint 'http://127.0.0.1:9050', storage_endpoint '127.0.0.1:9060'.")
	case kind == engines.ServerObject && !isEmulator(options) && !safeEndpoint(options["endpoint"]):
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, "credentials are not sent without encryption to %q", options["endpoint"]),
			"Use https, or option emulator 'true' for an emulator, which gets none.")
	}
	return nil
}

// Userless reports whether a server is an emulator.
func (Wrapper) Userless(server map[string]string) bool { return isEmulator(server) }

func isEmulator(options map[string]string) bool {
	is, err := engines.ParseBool(options["emulator"], false)
	return is && err == nil
}

// Open makes an Engine for s, which connects at the first use.
func (w Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	e, err := newEngine(s)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return e, nil
}

var (
	projectForm = regexp.MustCompile(`^([a-z0-9.-]+:)?[a-z][a-z0-9-]{0,61}[a-z0-9]$`)
	datasetForm = regexp.MustCompile(`^[\p{L}\p{M}\p{N}_]+$`)
)

func checkProject(v string) error {
	if !projectForm.MatchString(v) {
		return errors.New("the id of a project is required, such as acme-prod-1234")
	}
	return nil
}

func checkDataset(v string) error {
	if !datasetForm.MatchString(v) || len(v) > 1024 {
		return errors.New("the name of a dataset is required: letters, digits and underscores")
	}
	return nil
}

func checkBytes(v string) error {
	if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 1 {
		return errors.New("a number of bytes from 1 is required")
	}
	return nil
}

func checkEndpoint(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.User != nil || u.Fragment != "" {
		return errors.New("a URL is required, such as https://bigquery-acme.p.googleapis.com")
	}
	return nil
}

func checkAddress(v string) error {
	if host, port, err := net.SplitHostPort(v); err != nil || host == "" || port == "" || strings.Contains(host, "/") {
		return errors.New("host:port is required")
	}
	return nil
}

// safeEndpoint reports whether what is sent to an endpoint is encrypted, or stays on this machine.
func safeEndpoint(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (u.Scheme != "http" || isLoopback(u.Hostname()))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func seconds(v string, unset time.Duration) time.Duration {
	if n, err := strconv.Atoi(v); err == nil {
		return time.Duration(n) * time.Second
	}
	return unset
}
