package ddl

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// Prefixes of option values that refer to a secret outside of home.
const (
	envPrefix  = "env:"
	filePrefix = "file:"
)

// maxSecret is the size in bytes that a file with a secret may have.
const maxSecret = 64 << 10

// secretName matches the names of options that hold secrets. sluice.public_options in home has the same rule.
var secretName = regexp.MustCompile(`(?i)passw|secret|token|private_?key|access_?key|api_?key|credential|service_?account`)

// named are options that have such a name and hold none.
var named = []string{"password_required", "token_kind"}

// IsSecret reports whether an option of this name holds a secret.
func IsSecret(option string) bool {
	return !slices.Contains(named, option) && secretName.MatchString(option)
}

// isReference reports whether an option's value is a reference and not the secret itself.
func isReference(value string) bool {
	return strings.HasPrefix(value, envPrefix) || strings.HasPrefix(value, filePrefix)
}

// Secrets returns options with the references in those that hold secrets resolved.
func Secrets(options map[string]string) (map[string]string, error) {
	resolved := make(map[string]string, len(options))
	for name, value := range options {
		if IsSecret(name) {
			var err error
			if value, err = Secret(value); err != nil {
				return nil, err
			}
		}
		resolved[name] = value
	}
	return resolved, nil
}

// Secret returns what a value refers to: 'env:NAME' an environment variable of the proxy, 'file:PATH' a file's content
// without one newline at its end. Any other value is the secret itself. Errors name the reference and never the secret.
//
// Variables that configure the proxy itself (SLUICE_…, PG…) are refused, as whoever may create a server could send them
// to a host of his own.
func Secret(value string) (string, error) {
	if name, ok := strings.CutPrefix(value, envPrefix); ok {
		return envSecret(value, name)
	}
	if path, ok := strings.CutPrefix(value, filePrefix); ok {
		return fileSecret(value, path)
	}
	return value, nil
}

func envSecret(reference, name string) (string, error) {
	if err := checkReference(reference); err != nil {
		return "", err
	}
	secret, ok := os.LookupEnv(name)
	if !ok {
		return "", pgerr.Hint(
			pgerr.New(pgerr.InvalidParameter, "cannot resolve %q: the proxy has no such environment variable", reference),
			"Set %s in the environment of the proxy and start it again.", name)
	}
	return secret, nil
}

// checkReference says whether a reference is well formed and allowed, without following it.
func checkReference(reference string) error {
	if name, ok := strings.CutPrefix(reference, envPrefix); ok {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "%q names no environment variable", reference), "Write it as env:NAME.")
		}
		if strings.HasPrefix(name, "SLUICE_") || strings.HasPrefix(name, "PG") {
			return pgerr.Hint(
				pgerr.New(pgerr.InvalidParameter, "%q is not allowed: the variable configures the proxy itself", reference),
				"Use a variable whose name starts with neither SLUICE_ nor PG.")
		}
	}
	if path, ok := strings.CutPrefix(reference, filePrefix); ok && !strings.HasPrefix(path, "/") {
		return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "%q does not name a file by its absolute path", reference),
			"Write it as file:/path/to/secret.")
	}
	return nil
}

func fileSecret(reference, path string) (string, error) {
	if err := checkReference(reference); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", unreadable(reference, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return "", pgerr.New(pgerr.InvalidParameter, "cannot resolve %q: not a file of at most %d bytes", reference, maxSecret)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", unreadable(reference, err)
	}
	defer file.Close()
	secret, err := io.ReadAll(io.LimitReader(file, maxSecret))
	if err != nil {
		return "", unreadable(reference, err)
	}
	return string(bytes.TrimSuffix(bytes.TrimSuffix(secret, []byte("\n")), []byte("\r"))), nil
}

func unreadable(reference string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return pgerr.Hint(pgerr.New(pgerr.UndefinedFile, "cannot resolve %q: %v", reference, err),
		"The file must exist where the proxy runs, readable for the proxy.")
}
