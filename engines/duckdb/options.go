package duckdb

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// defaultMemoryLimit bounds what DuckDB's buffers of one server may take. What does not fit spills to temp_directory.
const defaultMemoryLimit = "1GB"

var serverOptions = []engines.Option{
	{Name: "database", Doc: "path of a .duckdb file; one of database and directory is required", Check: checkPath},
	{Name: "directory", Doc: "directory of Parquet, CSV and JSON files", Check: checkPath},
	{Name: "read_only", Default: "true", Doc: "false lets foreign tables of a database be written to", Check: engines.CheckBool},
	{Name: "handles", Default: "false", Doc: "true lets a database that may be written to keep results of queries, see handles.md", Check: engines.CheckBool},
	{Name: "memory_limit", Default: defaultMemoryLimit, Doc: "memory that DuckDB may use, for instance 500MB", Check: checkSize},
	{Name: "threads", Doc: "threads that DuckDB may use, all cores by default", Check: checkCount},
	{Name: "temp_directory", Doc: "where DuckDB spills to when memory_limit is reached", Check: checkPath},
	{Name: "max_temp_directory_size", Doc: "how much may be spilled, for instance 20GB", Check: checkSize},
}

var tableOptions = []engines.Option{
	{Name: "schema_name", Default: "main", Doc: "schema of the table in the database"},
	{Name: "table_name", Doc: "name of the table in the database, by default the foreign table's name"},
	{Name: "file", Doc: "file of the server's directory, relative to it", Check: checkRelative},
	{Name: "glob", Doc: "pattern for files of the server's directory, for instance 2024/*.parquet", Check: checkRelative},
	{Name: "format", Doc: "parquet, csv or json, by default as the file's extension says", Check: checkFormat},
	{Name: "header", Doc: "whether a CSV file begins with a line of column names", Check: engines.CheckBool},
	{Name: "delimiter", Doc: "character between the values of a CSV file"},
	{Name: "null", Doc: "text that stands for NULL in a CSV file"},
}

var columnOptions = []engines.Option{
	{Name: "column_name", Doc: "name of the column in the remote table, by default the foreign table's name for it"},
	{Name: "key", Default: "false", Doc: "whether no two rows have this column, and others with the option, in common: sluice.page then has an order", Check: engines.CheckBool},
}

// Formats of files that a directory server reads.
const (
	parquet = "parquet"
	csv     = "csv"
	json    = "json"
)

// config is what a server's options say.
type config struct {
	database  string // absolute path, or empty
	directory string // absolute path, or empty
	readOnly  bool
	handles   bool
	settings  [][2]string // DuckDB settings that stand in options, in a fixed order
	temp      string      // temp_directory, empty for a private one
}

func parseConfig(options map[string]string) (config, error) {
	cfg := config{readOnly: true}
	database, directory := options["database"], options["directory"]
	switch {
	case database == "" && directory == "":
		return cfg, pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `option "database" or "directory" is required`),
			"Set database to the path of a .duckdb file, or directory to the path of a directory of Parquet, CSV or JSON files.")
	case database != "" && directory != "":
		return cfg, pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `options "database" and "directory" exclude each other`),
			"Create one server for the database and another for the directory.")
	}
	var err error
	if cfg.readOnly, err = engines.ParseBool(options["read_only"], true); err != nil {
		return cfg, pgerr.New(pgerr.FdwInvalidOption, `invalid value for option "read_only": %s`, err)
	}
	if directory != "" && !cfg.readOnly {
		return cfg, pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `a directory cannot be written to`),
			`Leave option "read_only" out, or use a .duckdb file.`)
	}
	if cfg.handles, err = engines.ParseBool(options["handles"], false); err != nil {
		return cfg, pgerr.New(pgerr.FdwInvalidOption, `invalid value for option "handles": %s`, err)
	}
	if cfg.handles && cfg.readOnly {
		return cfg, pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `option "handles" needs a database that may be written to`),
			`Set option "read_only" to false.`)
	}
	if cfg.database, err = absolute(database); err != nil {
		return cfg, err
	}
	if cfg.directory, err = absolute(directory); err != nil {
		return cfg, err
	}
	cfg.temp = options["temp_directory"]
	cfg.settings = [][2]string{{"memory_limit", defaultMemoryLimit}}
	for _, name := range []string{"memory_limit", "threads", "max_temp_directory_size"} {
		if v := options[name]; v != "" {
			cfg.settings = append(cfg.settings, [2]string{name, v})
		}
	}
	return cfg, nil
}

func (c config) equal(d config) bool {
	return c.database == d.database && c.directory == d.directory && c.readOnly == d.readOnly && c.temp == d.temp &&
		slices.Equal(c.settings, d.settings)
}

func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", pgerr.New(pgerr.FdwInvalidOption, "could not make path %q absolute: %s", path, err)
	}
	return abs, nil
}

func checkTable(options map[string]string) error {
	file, glob := options["file"], options["glob"]
	inFiles := file != "" || glob != ""
	switch {
	case file != "" && glob != "":
		return pgerr.New(pgerr.FdwInvalidOption, `options "file" and "glob" exclude each other`)
	case inFiles && (options["table_name"] != "" || options["schema_name"] != ""):
		return pgerr.Hint(pgerr.New(pgerr.FdwInvalidOption, `options "file" and "glob" do not go with "table_name" or "schema_name"`),
			`Use "file" or "glob" on servers with option "directory", and "table_name" on servers with option "database".`)
	}
	for _, name := range []string{"format", "header", "delimiter", "null"} {
		if _, ok := options[name]; ok && !inFiles {
			return pgerr.New(pgerr.FdwInvalidOption, `option %q needs option "file" or "glob"`, name)
		}
	}
	if inFiles && options["format"] == "" && formatOf(file+glob) == "" {
		return pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, "the extension of %q does not tell its format", file+glob),
			`Set option "format" to parquet, csv or json.`)
	}
	return nil
}

// formatOf tells the format of a file from its extension, empty for none that is known.
func formatOf(name string) string {
	switch strings.ToLower(filepath.Ext(trimCompression(name))) {
	case ".parquet":
		return parquet
	case ".csv", ".tsv":
		return csv
	case ".json", ".jsonl", ".ndjson":
		return json
	default:
		return ""
	}
}

func trimCompression(name string) string {
	for _, ext := range []string{".gz", ".zst"} {
		if strings.HasSuffix(strings.ToLower(name), ext) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}

func checkPath(v string) error {
	switch {
	case v == "":
		return errors.New("a path is required")
	case strings.ContainsRune(v, 0):
		return errors.New("a path cannot contain a zero byte")
	case strings.Contains(v, "://"):
		return errors.New("only local paths are allowed")
	case strings.HasPrefix(v, ":"):
		return errors.New("a path of a file is required, not an in-memory database")
	}
	return nil
}

// checkRelative refuses what could name anything outside the server's directory.
func checkRelative(v string) error {
	if err := checkPath(v); err != nil {
		return err
	}
	if filepath.IsAbs(v) || strings.HasPrefix(v, "~") || strings.ContainsRune(v, '\\') {
		return errors.New("the path must be relative to the server's directory")
	}
	if slices.Contains(strings.Split(v, "/"), "..") {
		return errors.New(`the path must not contain ".."`)
	}
	return nil
}

func checkFormat(v string) error {
	if !slices.Contains([]string{parquet, csv, json}, v) {
		return errors.New("valid formats are parquet, csv and json")
	}
	return nil
}

func checkCount(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 1024 {
		return errors.New("a number from 1 to 1024 is required")
	}
	return nil
}

var size = regexp.MustCompile(`(?i)^[0-9]+(\.[0-9]+)?\s*([KMGT]i?B)$`)

func checkSize(v string) error {
	if !size.MatchString(v) {
		return errors.New("a size with a unit is required, for instance 500MB or 4GiB")
	}
	return nil
}
