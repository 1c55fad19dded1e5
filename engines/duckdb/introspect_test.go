package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

func describeTables(tables []engines.Table) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "%s %v %q\n", t.Name, t.Options, t.Comment)
		for _, c := range t.Columns {
			typ := c.Type
			if typ == "" {
				typ = "(" + c.RemoteType + ")"
			}
			fmt.Fprintf(&b, "  %s %s", c.Name, typ)
			if c.NotNull {
				b.WriteString(" NOT NULL")
			}
			if c.Comment != "" {
				fmt.Fprintf(&b, " %q", c.Comment)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestIntrospectDatabase(t *testing.T) {
	e := database(t, nil,
		`CREATE TABLE "MixedCase"("Id" INTEGER NOT NULL, "order" VARCHAR, "a ""b" DECIMAL(10,2), "日本" TIMESTAMPTZ)`,
		`COMMENT ON TABLE "MixedCase" IS 'it''s one'`,
		`COMMENT ON COLUMN "MixedCase"."Id" IS 'the key'`,
		`CREATE TYPE mood AS ENUM ('sad', 'ok')`,
		`CREATE TABLE kinds(a BOOLEAN, b TINYINT, c UTINYINT, d SMALLINT, e USMALLINT, f INTEGER, g UINTEGER, h BIGINT,
			i UBIGINT, j HUGEINT, k UHUGEINT, l FLOAT, m DOUBLE, n BLOB, o DATE, p TIME, q TIMETZ, r TIMESTAMP, s TIMESTAMP_S,
			t TIMESTAMP_MS, u TIMESTAMP_NS, v INTERVAL, w UUID, x mood, y BIT, z JSON,
			aa INTEGER[], ab VARCHAR[3], ac STRUCT(a INTEGER, b VARCHAR[]), ad MAP(VARCHAR, INTEGER), ae UNION(a INTEGER, b VARCHAR),
			af INTEGER[][], ag STRUCT(a INTEGER)[], ah DECIMAL(5,1)[], ai BIGNUM, aj mood[])`,
		`CREATE VIEW v AS SELECT 1 AS one, 'x' AS two`,
		`CREATE SCHEMA other`, `CREATE TABLE other.t(a INTEGER)`,
		`CREATE SCHEMA hollow`)
	tables, err := e.Introspect(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	want := `MixedCase map[schema_name:main table_name:MixedCase] "it's one"
  Id integer NOT NULL "the key"
  order text
  a "b numeric(10,2)
  日本 timestamp with time zone
kinds map[schema_name:main table_name:kinds] ""
  a boolean
  b smallint
  c smallint
  d smallint
  e integer
  f integer
  g bigint
  h bigint
  i numeric(20,0)
  j numeric
  k numeric
  l real
  m double precision
  n bytea
  o date
  p time without time zone
  q time with time zone
  r timestamp without time zone
  s timestamp without time zone
  t timestamp without time zone
  u timestamp without time zone
  v interval
  w uuid
  x text
  y bit varying
  z json
  aa integer[]
  ab text[]
  ac json
  ad json
  ae json
  af json
  ag json
  ah numeric(5,1)[]
  ai (BIGNUM)
  aj text[]
v map[schema_name:main table_name:v] ""
  one integer
  two text
`
	if got := describeTables(tables); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if tables, err := e.Introspect(t.Context(), "other"); err != nil || len(tables) != 1 {
		t.Error(tables, err)
	}
	if tables, err := e.Introspect(t.Context(), "hollow"); err != nil || len(tables) != 0 {
		t.Error(tables, err)
	}
	if _, err := e.Introspect(t.Context(), "nosuch"); code(err) != "HV00Q" {
		t.Error(err)
	}
}

func TestIntrospectDirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	build(t, "", "COPY (SELECT 1 AS id, 'x' AS name, {'a': 1} AS s) TO '"+dir+"/orders.parquet'",
		"COPY (SELECT 1 AS id, DATE '2024-01-01' AS day) TO '"+dir+"/days.csv.gz'",
		"COPY (SELECT 1 AS id) TO '"+dir+"/days.json'",
		"COPY (SELECT 1 AS id) TO '"+dir+"/odd[1].parquet'",
		"COPY (SELECT 1 AS id) TO '"+outside+"/secret.parquet'")
	write(t, filepath.Join(dir, "notes.txt"), []byte("x"))
	if err := os.Symlink(filepath.Join(outside, "secret.parquet"), filepath.Join(dir, "link.parquet")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "deep.parquet"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := server(t, map[string]string{"directory": dir})
	want := `days.csv.gz map[file:days.csv.gz] ""
  id bigint
  day date
days.json map[file:days.json] ""
  id bigint
odd[1] map[file:odd[1].parquet] ""
  id integer
orders map[file:orders.parquet] ""
  id integer
  name text
  s json
`
	for _, schema := range []string{"", "main", "files"} {
		tables, err := e.Introspect(t.Context(), schema)
		if err != nil {
			t.Fatal(err)
		}
		if got := describeTables(tables); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		for _, table := range tables {
			if err := (Wrapper{}).Check(engines.TableObject, table.Options); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := e.Introspect(t.Context(), "nosuch"); code(err) != "HV00Q" {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "bad.parquet"), []byte("x"))
	if _, err := e.Introspect(t.Context(), "files"); code(err) != "58030" || !strings.Contains(err.Error(), "bad.parquet") {
		t.Error(err)
	}
}
