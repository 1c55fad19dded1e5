package demo

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

//go:embed testdata/*.csv
var testdata embed.FS

// files are where the data outside of home lie.
type files struct {
	database  string // a .duckdb file with table flights
	directory string // holds weather.parquet
}

// makeFiles makes the DuckDB database and the Parquet file below dir from the CSV files in this binary.
func makeFiles(ctx context.Context, dir string) (files, error) {
	f := files{database: filepath.Join(dir, "lake", "flights.duckdb"), directory: filepath.Join(dir, "files")}
	for _, d := range []string{filepath.Dir(f.database), f.directory} {
		if err := os.RemoveAll(d); err != nil {
			return f, err
		}
		if err := os.MkdirAll(d, 0o755); err != nil {
			return f, err
		}
	}
	source := filepath.Join(dir, "source")
	if err := unpack(source); err != nil {
		return f, err
	}
	err := runDuckDB(ctx, f.database,
		`CREATE TABLE flights (departed TIMESTAMP NOT NULL, delay INTEGER NOT NULL, distance INTEGER, origin VARCHAR, destination VARCHAR)`,
		`COMMENT ON TABLE flights IS 'flights in the United States, January to March 2001'`,
		`COMMENT ON COLUMN flights.delay IS 'minutes late on arrival, negative for early'`,
		fmt.Sprintf(`INSERT INTO flights FROM read_csv(%s, header = true)`, quote(filepath.Join(source, "flights.csv"))),
	)
	if err == nil {
		err = runDuckDB(ctx, "", fmt.Sprintf(
			`COPY (FROM read_csv(%s, header = true, columns = {city: 'VARCHAR', day: 'DATE', precipitation: 'DECIMAL(5,1)',
			       temp_max: 'DECIMAL(4,1)', temp_min: 'DECIMAL(4,1)', wind: 'DECIMAL(4,1)', weather: 'VARCHAR'}))
			 TO %s (FORMAT parquet)`,
			quote(filepath.Join(source, "weather.csv")), quote(filepath.Join(f.directory, "weather.parquet"))))
	}
	return f, errors.Join(err, os.RemoveAll(source))
}

// unpack writes the CSV files of this binary into dir.
func unpack(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"flights.csv", "weather.csv"} {
		text, err := testdata.ReadFile("testdata/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runDuckDB runs statements in a database file, or in memory where path is empty.
func runDuckDB(ctx context.Context, path string, statements ...string) (err error) {
	connector, err := duckdb.NewConnector(path, nil)
	if err != nil {
		return fmt.Errorf("cannot open DuckDB: %w", err)
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("cannot make the demo's files: %w", err)
		}
	}
	return nil
}

// quote makes a string literal that both Postgres and DuckDB take.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
