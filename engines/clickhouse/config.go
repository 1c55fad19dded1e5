package clickhouse

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// config is what a server's options and the user mapping say.
type config struct {
	host, port               string
	http                     bool                    // speaks HTTP
	version                  atomic.Pointer[version] // of the server, once it is known; HTTP's transport asks for it
	database, user, password string
	timeout                  time.Duration
	settings                 []setting

	secure, trusting     bool
	handles              bool
	authorities, named   string // files and names for TLS, empty for the usual ones
	certificate, keyFile string
}

// setting is one of ClickHouse's that is a number.
type setting struct {
	name  string
	value uint64
}

// Values of option protocol.
const (
	overNative = "native"
	overHTTP   = "http"
)

type usage struct{ http, secure bool }

var usualPorts = map[usage]string{{false, false}: "9000", {false, true}: "9440", {true, false}: "8123", {true, true}: "8443"}

func newConfig(s engines.Server) (*config, error) {
	if err := checkServer(s.Options); err != nil {
		return nil, err
	}
	if err := checkMapping(s.Mapping); err != nil {
		return nil, err
	}
	server, mapping := withDefaults(serverOptions, s.Options), withDefaults(mappingOptions, s.Mapping)
	c := &config{
		host: server["host"], port: server["port"], database: server["database"], user: mapping["user"], password: mapping["password"],
		authorities: server["sslrootcert"], named: server["sslservername"], certificate: mapping["sslcert"], keyFile: mapping["sslkey"],
	}
	var err error
	if c.secure, err = engines.ParseBool(server["secure"], false); err != nil {
		return nil, invalid("secure", err)
	}
	if c.trusting, err = engines.ParseBool(server["skip_verify"], false); err != nil {
		return nil, invalid("skip_verify", err)
	}
	if c.handles, err = engines.ParseBool(server["handles"], false); err != nil {
		return nil, invalid("handles", err)
	}
	numbers := map[string]uint64{}
	for _, name := range []string{"connect_timeout", "max_block_size", "max_execution_time"} {
		if numbers[name], err = strconv.ParseUint(strings.TrimSpace(server[name]), 10, 31); err != nil {
			return nil, invalid(name, err)
		}
	}
	c.timeout, c.http = time.Duration(numbers["connect_timeout"])*time.Second, server["protocol"] == overHTTP
	if c.port == "" {
		c.port = usualPorts[usage{c.http, c.secure}]
	}
	for _, name := range []string{"max_block_size", "max_execution_time"} {
		if numbers[name] > 0 {
			c.settings = append(c.settings, setting{name, numbers[name]})
		}
	}
	if !c.http { // over HTTP the server takes its own, whatever a statement says
		c.settings = append(c.settings, setting{"send_timeout", mostPause})
	}
	c.settings = append(c.settings, setting{"readonly", 2}) // the last one: it forbids writes, in this statement
	return c, nil
}

// mostPause is how long a client may read no rows, in seconds, before the server gives its statement up: a year, in place of five minutes.
const mostPause = 365 * 24 * 60 * 60

func invalid(option string, err error) error {
	return pgerr.New(pgerr.FdwInvalidOption, "invalid value for option %q: %s", option, err)
}

// withDefaults returns options with the defaults of those not given.
func withDefaults(known []engines.Option, options map[string]string) map[string]string {
	all := make(map[string]string, len(known))
	for _, o := range known {
		if all[o.Name] = options[o.Name]; all[o.Name] == "" {
			all[o.Name] = o.Default
		}
	}
	return all
}

func checkServer(options map[string]string) error {
	secure, err := engines.ParseBool(options["secure"], false)
	if err != nil {
		return invalid("secure", err)
	}
	for _, name := range []string{"sslrootcert", "sslservername", "skip_verify"} {
		if options[name] != "" && !secure {
			return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option %q needs option "secure"`, name), `Set option "secure" to true.`)
		}
	}
	return nil
}

func checkMapping(options map[string]string) error {
	if (options["sslcert"] == "") != (options["sslkey"] == "") {
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `options "sslcert" and "sslkey" need each other`), "Set both, or none.")
	}
	return nil
}

func (c *config) address() string { return net.JoinHostPort(c.host, c.port) }

// tlsConfig reads the files that TLS needs, nil where the connection is plain.
func (c *config) tlsConfig() (*tls.Config, error) {
	if !c.secure {
		return nil, nil
	}
	t := &tls.Config{ServerName: c.named, InsecureSkipVerify: c.trusting, MinVersion: tls.VersionTLS12}
	if t.ServerName == "" {
		t.ServerName = c.host
	}
	if c.authorities != "" {
		pem, err := os.ReadFile(c.authorities)
		if err != nil {
			return nil, pgerr.New(pgerr.FdwInvalidOption, `could not read the file of option "sslrootcert": %s`, err)
		}
		if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, pgerr.New(pgerr.FdwInvalidOption, `the file of option "sslrootcert" holds no certificate`)
		}
	}
	if c.certificate != "" {
		pair, err := tls.LoadX509KeyPair(c.certificate, c.keyFile)
		if err != nil {
			return nil, pgerr.New(pgerr.FdwInvalidOption, `could not read the files of options "sslcert" and "sslkey": %s`, err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
