package trinotest

import (
	"archive/zip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicedb/sluice/internal/registry"
)

// Version is Trino's, as pom.xml has it.
const Version = "483"

//go:embed pom.xml java/*.java
var sources embed.FS

// connectors are the plugins, with the jars that only they have, and the class that a plugin of a built Trino names in its jar.
var connectors = []struct {
	name, class string
	jars        []string // by prefix
}{
	{"memory", "io.trino.plugin.memory.MemoryPlugin", []string{"trino-memory-4"}},
	{"tpch", "io.trino.plugin.tpch.TpchPlugin", []string{"trino-tpch-"}},
	{"postgresql", "sluice.trino.PostgresPlugin", []string{"trino-base-jdbc-", "postgresql-", "sluice"}},
}

// server is what only the server itself has of the jars: its plugins share all others.
var server = []string{"trino-main-", "trino-web-ui-"}

// root returns a directory with the server's jars in lib and its plugins in plugin, which the first call on a machine makes.
func root(jdk string) (string, error) {
	if _, err := exec.LookPath("mvn"); err != nil {
		return "", errors.New("there is no mvn on this machine (Debian package maven)")
	}
	cache, unlock, err := registry.Cache("trino")
	if err != nil {
		return "", err
	}
	defer func() { _ = unlock() }()
	key, err := sourceHash()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, sources); err != nil {
		return "", err
	}
	if _, err := registry.Run(work, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime"); err != nil {
		return "", err
	}
	if err := build(work, jdk); err != nil {
		return "", err
	}
	return dir, os.Rename(work, dir)
}

func sourceHash() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:12], err
}

// build compiles our connector and lays out the plugins.
func build(work, jdk string) error {
	java, err := filepath.Glob(filepath.Join(work, "java", "*.java"))
	if err != nil {
		return err
	}
	args := append([]string{"-nowarn", "-proc:none", "-cp", "lib/*", "-d", "classes"}, java...)
	if _, err := registry.Run(work, filepath.Join(jdk, "bin", "javac"), args...); err != nil {
		return err
	}
	if _, err := registry.Run(work, filepath.Join(jdk, "bin", "jar"), "--create", "--file", "lib/sluice.jar", "-C", "classes", "."); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(work, "lib"))
	if err != nil {
		return err
	}
	for _, c := range connectors {
		dir := filepath.Join(work, "plugin", c.name)
		if err := errors.Join(os.MkdirAll(dir, 0o755), nameClass(filepath.Join(dir, "services.jar"), c.class)); err != nil {
			return err
		}
		for _, e := range entries {
			if !sharedJar(e.Name()) && !hasPrefix(c.jars, e.Name()) {
				continue
			}
			if err := os.Symlink(filepath.Join("..", "..", "lib", e.Name()), filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasPrefix(list []string, name string) bool {
	return slices.ContainsFunc(list, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// sharedJar reports whether a jar belongs to all plugins.
func sharedJar(name string) bool {
	for _, c := range connectors {
		if hasPrefix(c.jars, name) {
			return false
		}
	}
	return !hasPrefix(server, name)
}

// nameClass writes a jar that says which class a plugin is.
func nameClass(path, class string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	w, err := z.Create("META-INF/services/io.trino.spi.Plugin")
	if err == nil {
		_, err = fmt.Fprintln(w, class)
	}
	return errors.Join(err, z.Close(), f.Close())
}

// oldestJava is what Version runs on.
const oldestJava = 25

// jdk returns where a JDK is that can run the server: $JAVA_HOME, or one below /usr/lib/jvm.
func jdk() (string, error) {
	places, err := filepath.Glob("/usr/lib/jvm/*")
	if err != nil {
		return "", err
	}
	for _, dir := range append([]string{os.Getenv("JAVA_HOME")}, places...) {
		if _, err := os.Stat(filepath.Join(dir, "bin", "javac")); dir == "" || err != nil {
			continue
		}
		if javaVersion(dir) >= oldestJava {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no JDK %d in $JAVA_HOME or below /usr/lib/jvm", oldestJava)
}

// javaVersion is the first number of a JDK's version, 0 where it does not say.
func javaVersion(dir string) (n int) {
	release, err := os.ReadFile(filepath.Join(dir, "release"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(release)) {
		if _, err := fmt.Sscanf(line, `JAVA_VERSION="%d`, &n); err == nil {
			return n
		}
	}
	return 0
}
