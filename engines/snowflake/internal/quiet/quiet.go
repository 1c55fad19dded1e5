// Package quiet keeps Snowflake's library from what is no part of asking a server: it would unpack a shared object into a
// temporary directory and load that, ask addresses of cloud providers which machine this is, make a directory for credentials in
// the home directory, and register a driver. The library looks at these variables when it is initialised.
//
// The one rule: this package imports nothing that the library does not import as well, and its path sorts before the library's.
// Go initialises packages in the order of their paths, as soon as what they import is, so that this one comes first.
package quiet

import "os"

func init() {
	for name, value := range map[string]string{
		"SF_DISABLE_MINICORE": "true", "SNOWFLAKE_DISABLE_PLATFORM_DETECTION": "true", "GOSNOWFLAKE_SKIP_REGISTERATION": "true",
		"SF_TEMPORARY_CREDENTIAL_CACHE_DIR": "/proc/self", // which is there, and takes nothing
	} {
		_ = os.Setenv(name, value)
	}
}
