package dialect

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

func TestType(t *testing.T) {
	numeric := func(precision, scale int32) int32 { return precision<<16 | scale&0x7ff + 4 }
	for _, c := range []struct {
		oid    uint32
		typmod int32
		want   string
	}{
		{int4OID, -1, "INTEGER"}, {varcharOID, 14, "VARCHAR"}, {numericOID, numeric(10, 2), "DECIMAL(10,2)"}, {numericOID, numeric(38, 38), "DECIMAL(38,38)"},
		{numericOID, numeric(39, 0), "VARCHAR"}, {numericOID, numeric(3, 5), "VARCHAR"}, {numericOID, -1, "VARCHAR"}, {1007, -1, "INTEGER[]"}, {1231, numeric(5, 1), "DECIMAL(5,1)[]"},
		{600, -1, "VARCHAR"}, {timestamptzOID, -1, "TIMESTAMPTZ"},
	} {
		if got := (DuckDB{}).Type(c.oid, c.typmod); got != c.want {
			t.Errorf("type %d, typmod %d: %s; want %s", c.oid, c.typmod, got, c.want)
		}
	}
}

func TestColumn(t *testing.T) {
	c := &catalog.Column{Name: "a", Type: textOID, Typmod: -1, Options: map[string]string{"column_name": `odd "name"`}}
	for alias, want := range map[string]string{"": `CAST("odd ""name""" AS VARCHAR)`, "T": `CAST("T"."odd ""name""" AS VARCHAR)`} {
		if got := (DuckDB{}).Column(c, alias); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// TestRelation reads tables of databases and files of directories, or says which option is wrong.
func TestRelation(t *testing.T) {
	type options = map[string]string
	for _, c := range []struct {
		server, table options
		want          string
	}{
		{options{"database": "/x"}, nil, `"main"."t"`},
		{options{"database": "/x"}, options{"schema_name": "s", "table_name": `o"dd`}, `"s"."o""dd"`},
		{options{"directory": "/d"}, options{"file": "it's.parquet"}, `read_parquet('/d/it''s.parquet')`},
		{options{"directory": "/d"}, options{"file": "a[1]*.csv.gz"}, `read_csv('/d/a[[]1][*].csv.gz')`},
		{options{"directory": "/d"}, options{"glob": "**/*.jsonl"}, `read_json('/d/**/*.jsonl')`},
		{options{"directory": "/d"}, options{"file": "a.txt", "format": "csv", "delimiter": "'", "header": "false"}, `read_csv('/d/a.txt', header = 'false', delim = '''')`},
		{options{"directory": "/d"}, options{"file": "a.txt"}, "HV00B"},
		{options{"directory": "/d"}, nil, "HV00B"},
		{options{"database": "/x"}, options{"file": "a.csv"}, "HV00D"},
	} {
		r := &catalog.Relation{Name: "t", Options: c.table, Server: &catalog.Server{Name: "f", Options: c.server}}
		got, err := DuckDB{}.Relation(r)
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			if got = pe.Code; pe.Hint == "" {
				t.Errorf("%v has no hint", err)
			}
		}
		if got != c.want {
			t.Errorf("%v, %v: %s; want %s", c.server, c.table, got, c.want)
		}
	}
}
