package snowflake

import (
	"cmp"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	_ "github.com/sluicedb/sluice/engines/snowflake/internal/quiet" // before the library
)

func init() {
	// The library's log has texts of statements and errors, and would go to standard error or where a file in the home directory says.
	gosnowflake.GetLogger().SetOutput(io.Discard)
}

// sessionParameters are what each session has, whatever the account or user have set: times are UTC, and read as ISO has them, names mean what they say,
// results come as Arrow, and what is nested is JSON as others read it.
var sessionParameters = map[string]string{
	"TIMEZONE": "UTC", "DATE_INPUT_FORMAT": "AUTO", "TIMESTAMP_INPUT_FORMAT": "AUTO", "GO_QUERY_RESULT_FORMAT": "ARROW", "QUOTED_IDENTIFIERS_IGNORE_CASE": "false", "STRICT_JSON_OUTPUT": "true", "JSON_INDENT": "0",
	"GEOGRAPHY_OUTPUT_FORMAT": "GeoJSON", "GEOMETRY_OUTPUT_FORMAT": "GeoJSON", "CLIENT_SESSION_KEEP_ALIVE": "false", "ABORT_DETACHED_QUERY": "true",
	"MULTI_STATEMENT_COUNT": "1", "AUTOCOMMIT": "true",
}

const (
	// unbounded is how long the library lets answers take. It would bound whole results else, and leave the timer behind of each answer that
	// comes just as its statement is cancelled. The gate has limits.
	unbounded = -1
	// busyTries is how often the library makes a request again that the server has put off.
	busyTries = 3
)

// configure says how the library logs in to a server.
func configure(s engines.Server) (*gosnowflake.Config, error) {
	port, err := strconv.Atoi(cmp.Or(s.Options["port"], "443"))
	if err != nil {
		return nil, err
	}
	timeout := seconds(s.Options["connect_timeout"], 30*time.Second)
	c := &gosnowflake.Config{
		Account: s.Options["account"], User: s.Mapping["user"], Database: asIdentifier(upper(s.Options["database"])), Schema: asIdentifier(upper(cmp.Or(s.Options["schema"], "PUBLIC"))),
		Warehouse: s.Options["warehouse"], Role: cmp.Or(s.Mapping["role"], s.Options["role"]),
		Protocol: cmp.Or(s.Options["protocol"], "https"), Host: hostOf(s.Options), Port: port,
		MaxRetryCount: busyTries, DisableOCSPChecks: true, DisableQueryContextCache: true, DisableConsoleLogin: gosnowflake.ConfigBoolTrue,
		ValidateDefaultParameters: gosnowflake.ConfigBoolTrue, Application: "sluice", Params: map[string]*string{},
	}
	//lint:ignore SA1019 it ends the reading of results after 15 minutes else
	c.ClientTimeout = unbounded
	//lint:ignore SA1019 likewise of logins by key
	c.JWTClientTimeout = unbounded
	//lint:ignore SA1019 what is to replace it is not there
	c.DisableTelemetry = true
	for name, value := range sessionParameters {
		c.Params[name] = &value
	}
	if v := s.Options["statement_timeout"]; v != "" {
		c.Params["STATEMENT_TIMEOUT_IN_SECONDS"] = &v
	}
	c.Transporter = newGate(c, timeout)
	return c, authenticate(c, s.Mapping)
}

var plainName = regexp.MustCompile(`^[A-Z_][A-Z0-9_$]*$`)

// asIdentifier is a name as a login has it: in quotes, unless it means the same without.
func asIdentifier(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// hostOf is where an account is reached. Underscores of its name are hyphens in host names.
func hostOf(options map[string]string) string {
	if host := options["host"]; host != "" {
		return host
	}
	return strings.ReplaceAll(strings.ToLower(options["account"]), "_", "-") + ".snowflakecomputing.com"
}

// authenticate puts the credentials of a mapping into c. Where there are none, the server will say so.
func authenticate(c *gosnowflake.Config, mapping map[string]string) (err error) {
	switch {
	case mapping["private_key"] != "":
		c.Authenticator = gosnowflake.AuthTypeJwt
		c.PrivateKey, err = parseKey(mapping["private_key"], mapping["private_key_passphrase"])
	case mapping["token"] != "":
		c.Authenticator, c.Token = gosnowflake.AuthTypeOAuth, strings.TrimSpace(mapping["token"])
		if mapping["token_kind"] == "programmatic" {
			c.Authenticator = gosnowflake.AuthTypePat
		}
	case mapping["password"] != "":
		c.Password = mapping["password"]
	default:
		err = noCredentials()
	}
	return err
}

func seconds(v string, unset time.Duration) time.Duration {
	if n, err := strconv.Atoi(v); err == nil {
		return time.Duration(n) * time.Second
	}
	return unset
}
