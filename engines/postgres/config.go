package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// connectConfig makes the configuration of connections to a server. Every parameter that the proxy's own environment,
// its password file or service file could supply is said here: what is the proxy's must not go to a host that whoever may
// create a server has named.
func connectConfig(s engines.Server) (*pgconn.Config, error) {
	user, password := s.Mapping["user"], s.Mapping["password"]
	required, err := engines.ParseBool(s.Mapping["password_required"], true)
	if err != nil {
		return nil, pgerr.New(pgerr.FdwInvalidOption, `invalid value for option "password_required": %s`, err)
	}
	if required && password == "" && s.Mapping["sslcert"] == "" {
		return nil, pgerr.Hint(pgerr.Detail(pgerr.New("2F003", "password or sslcert is required"),
			"The user mapping of server %q has neither option, so that the proxy's own identity would log in.", s.Name),
			"ALTER USER MAPPING … OPTIONS (ADD password 'env:NAME').")
	}
	requireAuth := ""
	if required {
		requireAuth = "!none"
	}
	if s.Mapping["sslcert"] != "" && password == "" {
		requireAuth = ""
	}
	options := withDefaults(s.Options)
	var b strings.Builder
	add := func(name, value string) {
		b.WriteString(name + "='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "' ")
	}
	for _, name := range []string{
		"host", "port", "sslmode", "sslrootcert", "sslsni", "sslnegotiation", "channel_binding", "target_session_attrs", "connect_timeout",
	} {
		if v := options[name]; v != "" {
			add(name, v)
		}
	}
	dbname := options["dbname"]
	if dbname == "" {
		dbname = user
	}
	add("user", user)
	add("dbname", dbname)
	add("password", "unset") // else a password file is looked at
	add("sslcert", s.Mapping["sslcert"])
	add("sslkey", s.Mapping["sslkey"])
	add("require_auth", requireAuth)
	config, err := pgconn.ParseConfig(b.String())
	if err != nil {
		return nil, pgerr.Detail(pgerr.New(pgerr.FdwInvalidOption, "the options of server %q make no connection", s.Name), "%s", reasonOf(err))
	}
	config.Password = password
	config.RuntimeParams = map[string]string{"client_encoding": "UTF8", "application_name": options["application_name"]}
	if v := options["options"]; v != "" {
		config.RuntimeParams["options"] = v
	}
	return config, nil
}

// withDefaults returns server options with the defaults of those not given.
func withDefaults(options map[string]string) map[string]string {
	all := make(map[string]string, len(serverOptions))
	for _, o := range serverOptions {
		if all[o.Name] = options[o.Name]; all[o.Name] == "" {
			all[o.Name] = o.Default
		}
	}
	return all
}
