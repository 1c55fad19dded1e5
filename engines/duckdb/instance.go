package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/pgerr"
)

// instance is one open DuckDB. It closes itself when the last reference is given back.
type instance struct {
	db     bindings.Database
	config config
	file   os.FileInfo // of a database file as it was opened, nil for a directory
	temp   string      // a private spill directory to remove, empty for none
	slot   *slot
	refs   int           // guarded by slot.mu
	idle   []*connection // without a reference, ready to be used again; guarded by slot.mu
}

// slot holds the instance of one database file. DuckDB's file lock does not keep the same process out, so within the
// process it is the slot that keeps a file from being opened twice.
type slot struct {
	mu      sync.Mutex
	current *instance
}

var (
	slotsMu sync.Mutex
	slots   = map[string]*slot{}
)

func slotOf(path string) *slot {
	slotsMu.Lock()
	defer slotsMu.Unlock()
	s := slots[path]
	if s == nil {
		s = &slot{}
		slots[path] = s
	}
	return s
}

// acquire returns the instance for cfg with one more reference, opening it where needed. A database file that was
// replaced since is opened anew, while the streams of the old one run on.
func acquire(cfg config) (*instance, error) {
	if cfg.database == "" {
		if err := checkDirectory(cfg.directory); err != nil {
			return nil, err
		}
		in, err := open(cfg, "")
		if err == nil {
			in.slot = &slot{current: in}
		}
		return in, err
	}
	path, info, err := statDatabase(cfg.database)
	if err != nil {
		return nil, err
	}
	s := slotOf(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.current; in != nil && os.SameFile(in.file, info) {
		if !in.config.equal(cfg) {
			return nil, pgerr.Hint(pgerr.New(pgerr.ObjectInUse, "database file %q is open with other options", cfg.database),
				"Give all servers on one file the same options, or use one server.")
		}
		in.refs++
		return in, nil
	}
	in, err := open(cfg, path)
	if err != nil {
		return nil, err
	}
	in.slot, in.file = s, info
	s.current = in
	return in, nil
}

func (in *instance) retain() {
	in.slot.mu.Lock()
	in.refs++
	in.slot.mu.Unlock()
}

func (in *instance) release() {
	in.slot.mu.Lock()
	defer in.slot.mu.Unlock()
	if in.refs--; in.refs > 0 {
		return
	}
	for _, c := range in.idle {
		c.disconnect()
	}
	in.idle = nil
	bindings.Close(&in.db)
	if in.temp != "" {
		_ = os.RemoveAll(in.temp) // best effort: DuckDB removes it itself where it can
	}
	if in.slot.current == in {
		in.slot.current = nil
	}
}

func statDatabase(path string) (string, os.FileInfo, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(real); err == nil && info.IsDir() {
			return "", nil, pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "%q is a directory, not a DuckDB file", path),
				`Use option "directory" for a directory of Parquet, CSV or JSON files.`)
		} else if err == nil {
			return real, info, nil
		}
	}
	return "", nil, fileError("database file", path, err)
}

func checkDirectory(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fileError("directory", path, err)
	}
	if !info.IsDir() {
		return pgerr.Hint(pgerr.New(pgerr.FdwUnableToConnect, "%q is not a directory", path),
			`Use option "database" for a .duckdb file.`)
	}
	return nil
}

func fileError(what, path string, err error) error {
	switch {
	case os.IsNotExist(err):
		return pgerr.Hint(pgerr.New(pgerr.UndefinedFile, "%s %q does not exist", what, path),
			"Restore it, or change the server's options with ALTER SERVER.")
	case os.IsPermission(err):
		return pgerr.New(pgerr.InsufficientPrivilege, "%s %q may not be read by the proxy", what, path)
	default:
		return pgerr.New(pgerr.IOError, "could not open %s %q: %s", what, path, err)
	}
}

var (
	tempMu    sync.Mutex
	tempCount int
)

// privateTemp names a spill directory of this process alone. DuckDB creates it when it first spills.
func privateTemp() string {
	tempMu.Lock()
	defer tempMu.Unlock()
	tempCount++
	return filepath.Join(os.TempDir(), fmt.Sprintf("sluice-duckdb-%d-%d", os.Getpid(), tempCount))
}

func open(cfg config, path string) (*instance, error) {
	in := &instance{config: cfg, refs: 1}
	var dbConfig bindings.Config
	if bindings.CreateConfig(&dbConfig) == bindings.StateError {
		return nil, pgerr.New(pgerr.OutOfMemory, "could not allocate a DuckDB configuration")
	}
	defer bindings.DestroyConfig(&dbConfig)
	for _, kv := range in.startSettings() {
		if bindings.SetConfig(dbConfig, kv[0], kv[1]) == bindings.StateError {
			return nil, pgerr.New(pgerr.FdwInvalidOption, "DuckDB refuses %q as value of %q", kv[1], kv[0])
		}
	}
	var message string
	if bindings.OpenExt(path, &in.db, dbConfig, &message) == bindings.StateError {
		return nil, openError(path, message)
	}
	if err := in.setUp(); err != nil {
		bindings.Close(&in.db)
		return nil, err
	}
	return in, nil
}

func (in *instance) startSettings() [][2]string {
	temp := in.config.temp
	if temp == "" {
		in.temp = privateTemp()
		temp = in.temp
	}
	settings := [][2]string{
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_persistent_secrets", "false"},
		{"temp_directory", temp},
	}
	if in.config.database != "" && in.config.readOnly {
		settings = append(settings, [2]string{"access_mode", "READ_ONLY"})
	}
	return append(settings, in.config.settings...)
}

// setUp gives the instance its functions and shuts it off from everything but what the server's options name. The order matters: a spill
// directory cannot be set once external access is off, and nothing at all once the configuration is locked.
func (in *instance) setUp() error {
	c, err := in.connect()
	if err != nil {
		return err
	}
	defer c.disconnect()
	if err := c.register(); err != nil {
		return err
	}
	statements := []string{"SET GLOBAL TimeZone = 'UTC'"}
	if in.config.directory != "" {
		statements = append(statements, "SET allowed_directories = ["+literal(in.config.directory+"/")+"]")
	}
	statements = append(statements, "SET enable_external_access = false",
		"SET allowed_configs = ['streaming_buffer_size']", "SET lock_configuration = true")
	for _, sql := range statements {
		if _, err := c.exec(context.Background(), sql); err != nil {
			return err
		}
	}
	return nil
}

func openError(path, message string) error {
	e := errorOf(message)
	if !strings.Contains(e.Message, path) {
		e.Message = fmt.Sprintf("could not open database file %q: %s", path, e.Message)
	}
	return e
}
