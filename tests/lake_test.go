package tests

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/sluicedb/sluice/internal/oracle"
)

// TestLake checks that a copy in DuckDB holds what home holds: the oracle rests on it.
func TestLake(t *testing.T) {
	_, admin := fixture(t)
	file := filepath.Join(t.TempDir(), "lake.duckdb")
	if _, err := oracle.Copy(t.Context(), admin, "plain", file); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		"SELECT count(*) FROM orders":                                                              "200",
		"SELECT i8 FROM ints WHERE k = 5":                                                          "-9223372036854775808",
		"SELECT w FROM nums WHERE k = 4":                                                           "9999999999999999999999999999.9999999999",
		"SELECT f8 FROM floats WHERE k = 2":                                                        "-0.0",
		"SELECT f8 FROM floats WHERE k = 3":                                                        "nan",
		"SELECT f4 FROM floats WHERE k = 4":                                                        "inf",
		"SELECT d FROM dates WHERE k = 3":                                                          "infinity",
		"SELECT year(d) FROM dates WHERE k = 7":                                                    "-43",
		"SELECT epoch_us(ts) FROM dates WHERE k = 14":                                              "-1",
		"SELECT epoch_us(tz) FROM dates WHERE k = 9":                                               "1710055800000000",
		"SELECT year(tz AT TIME ZONE 'UTC') FROM dates WHERE k = 7":                                "-43",
		"SELECT v = INTERVAL '1 month' FROM spans WHERE k = 5":                                     "true",
		"SELECT datepart('month', v) || ' ' || datepart('day', v) FROM spans WHERE k = 4":          "0 30",
		"SELECT hex(y) FROM misc WHERE k = 1":                                                      "DEADBEEF",
		"SELECT j FROM misc WHERE k = 1":                                                           `{"a":1,"a":2, "b" : [1, 2]}`,
		"SELECT length(ai) || ai[1] FROM misc WHERE k = 5":                                         "2-2147483648",
		"SELECT \"at\"[2] || '|' || \"at\"[4] || '|' || (\"at\"[3] IS NULL) FROM misc WHERE k = 1": "b c||true",
		"SELECT t FROM texts WHERE k = 5":                                                          "a ",
		"SELECT c || '|' FROM texts WHERE k = 1":                                                   "a|",
		`SELECT "quote""d" FROM "Odd Names" WHERE "Id" = 1`:                                        "3",
	} {
		var got sql.NullString
		if err := db.QueryRow("SELECT (" + query + ")::VARCHAR").Scan(&got); err != nil {
			t.Errorf("%s: %v", query, err)
		} else if got.String != want {
			t.Errorf("%s: got %q, want %q", query, got.String, want)
		}
	}
}
