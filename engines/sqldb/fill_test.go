package sqldb

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
)

// filled keeps a query of columns with their fields, and returns what the table has then, a text a row; ok is false where nothing was kept.
func filled(t *testing.T, e *Engine, columns []engines.Column, q engines.Query) (rows []string, ok bool, err error) {
	t.Helper()
	ctx := t.Context()
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n, ok, err := tx.(engines.Maker).Fill(ctx, "keep_1", columns, q)
	if ok && err == nil {
		rows = keptRows(t, e, columns, q.Fields)
		if int(n) != len(rows) {
			t.Errorf("%d rows are said to be %d", len(rows), n)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "keep_"); err != nil || len(names) > 0 {
		t.Errorf("%v is left: %v", names, err)
	}
	return rows, ok, err
}

// keptRows reads table keep_1 as a handle's foreign table does, where texts that home reads are just these.
func keptRows(t *testing.T, e *Engine, columns []engines.Column, fields []engines.Field) (rows []string) {
	t.Helper()
	options, err := e.Declare(columns)
	if err != nil {
		t.Fatal(err)
	}
	read := slices.Clone(fields)
	for i := range read {
		if options[i][spelled] == "true" {
			read[i] = field(oidText, -1)
		}
	}
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT * FROM " + e.source.keeping().table("keep_1") + " ORDER BY 1", Fields: read})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.(*stream).texts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		values := make([]string, len(r))
		for i, v := range r {
			if values[i] = "NULL"; v != nil {
				values[i] = *v
			}
		}
		rows = append(rows, strings.Join(values, "|"))
	}
	return rows
}

// fillCase is a query of one column, and the type that home has for it.
type fillCase struct {
	typ   string
	field engines.Field
	sql   string
	want  string // what is kept, "none" where nothing is, or an error's code
}

func fillsAs(t *testing.T, e *Engine, cases []fillCase) {
	for _, c := range cases {
		f := c.field
		f.Name = "a"
		rows, ok, err := filled(t, e, []engines.Column{{Name: "a", Type: c.typ}}, engines.Query{SQL: c.sql, Fields: []engines.Field{f}})
		got := strings.Join(rows, "\n")
		switch {
		case err != nil:
			got = code(err)
		case !ok:
			got = "none"
		}
		if got != c.want {
			t.Errorf("%s as %s: %q instead of %q (%v)", c.sql, c.typ, got, c.want, err)
		}
	}
}

// TestFillMaria keeps what MariaDB computes where types say that values stay the same, and leaves others to the way through the proxy.
func TestFillMaria(t *testing.T) {
	e := keepers(t)["maria"]
	fillsAs(t, e, []fillCase{
		{"bigint", field(20, -1), "SELECT CAST(5 AS UNSIGNED) UNION ALL SELECT 18446744073709551615", "none"},
		{"bigint", field(20, -1), "SELECT CAST(-9223372036854775808 AS SIGNED) UNION ALL SELECT NULL", "NULL\n-9223372036854775808"},
		{"bigint", field(20, -1), "SELECT CAST('12' AS CHAR)", "none"},
		{"smallint", field(21, -1), "SELECT 32768", "none"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT CAST(1.5 AS DECIMAL(9,1))", "1.5"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT CAST(1.234 AS DECIMAL(9,3))", "none"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT CAST(1000 AS DECIMAL(9,1))", "none"},
		{"numeric", field(1700, -1), "SELECT CAST(-0.50 AS DECIMAL(9,3)) UNION ALL SELECT 7", "-0.500\n7.000"},
		{"boolean", field(16, -1), "SELECT 1 UNION ALL SELECT 0 UNION ALL SELECT NULL", "NULL\nfalse\ntrue"},
		{"boolean", field(16, -1), "SELECT 2", "none"},
		{"bytea", field(17, -1), "SELECT X'00ff'", "AP8="},
		{"bytea", field(17, -1), "SELECT 'x'", "none"},
		{"text", field(25, -1), "SELECT 'é 𝄞 ' UNION ALL SELECT ''", "\né 𝄞 "},
		{"text", field(25, -1), "SELECT CONVERT('é' USING latin1)", "é"},
		{"text", field(25, -1), "SELECT CONCAT('a', CHAR(0 USING utf8mb4))", "none"},
		{"character varying(2)", field(1043, 4+2), "SELECT 'éé'", "éé"},
		{"character varying(2)", field(1043, 4+2), "SELECT 'ééé'", "none"},
		{"date", field(1082, -1), "SELECT DATE '2024-02-29' UNION ALL SELECT NULL", "NULL\n2024-02-29"},
		{"date", field(1082, -1), "SELECT DATE('2024-00-10')", "none"},
		{"timestamp without time zone", field(1114, -1), "SELECT CAST('2024-02-29 12:34:56.789' AS DATETIME(6))", "2024-02-29 12:34:56.789000"},
		{"timestamp(3) without time zone", field(1114, 3), "SELECT CAST('2024-02-29 12:34:56.789' AS DATETIME(6))", "none"},
		{"double precision", field(701, -1), "SELECT CAST(0.1 AS DOUBLE)", "none"},
		{"integer", field(23, -1), "SELECT nope", "42703"},
	})
	for _, sql := range []string{"SELECT CAST($1 AS SIGNED), 'x' ORDER BY 1 LIMIT 1", "WITH v AS (SELECT CAST($1 AS SIGNED) AS a) SELECT a, 'x' FROM v"} {
		given := "7"
		q := engines.Query{SQL: sql, Args: []*string{&given}, Fields: []engines.Field{field(23, -1), field(25, -1)}, Tag: engines.Tag{Role: "r", ID: "i"}}
		if rows, ok, err := filled(t, e, []engines.Column{{Name: "a", Type: "integer"}, {Name: "b", Type: "text"}}, q); !ok || err != nil || !slices.Equal(rows, []string{"7|x"}) {
			t.Errorf("%s: %q, %t: %v", sql, rows, ok, err)
		}
	}
}

// TestFillLite keeps values of SQLite's as they are read, each of which has a type of its own, and refuses those that would be refused then.
func TestFillLite(t *testing.T) {
	e := keepers(t)["lite"]
	fillsAs(t, e, []fillCase{
		{"bigint", field(20, -1), "SELECT -9223372036854775807 - 1 UNION ALL SELECT NULL", "NULL\n-9223372036854775808"},
		{"bigint", field(20, -1), "SELECT NULL", "NULL"},
		{"numeric", field(1700, -1), "SELECT NULL", "NULL"},
		{"bigint", field(20, -1), "SELECT '12'", "22P02"},
		{"bigint", field(20, -1), "SELECT 1.0", "22P02"},
		{"smallint", field(21, -1), "SELECT 32768", "22003"},
		{"integer", field(23, -1), "SELECT -2147483649", "22003"},
		{"boolean", field(16, -1), "SELECT 1 UNION ALL SELECT 0 UNION ALL SELECT NULL", "NULL\nfalse\ntrue"},
		{"boolean", field(16, -1), "SELECT 2", "22P02"},
		{"bytea", field(17, -1), "SELECT X'00ff'", "AP8="},
		{"bytea", field(17, -1), "SELECT 'x'", "22P02"},
		{"text", field(25, -1), "SELECT 'é 𝄞 ' UNION ALL SELECT '' UNION ALL SELECT 'plain ~ text'", "\nplain ~ text\né 𝄞 "},
		{"text", field(25, -1), "SELECT 7", "22P02"},
		{"text", field(25, -1), "SELECT 'a' || char(0) || 'é'", "22021"},
		{"text", field(25, -1), "SELECT CAST(X'61ff' AS TEXT)", "22021"},
		{"character varying(2)", field(1043, 4+2), "SELECT 'éé'", "éé"},
		{"character varying(2)", field(1043, 4+2), "SELECT 'abc'", "22001"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT 1.25 UNION ALL SELECT -3", "-3\n1.25"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT 1.234", "22003"},
		{"numeric", field(1700, -1), "SELECT 1e20 UNION ALL SELECT 0.1", "0.1\n100000000000000000000"},
		{"numeric", field(1700, -1), "SELECT 'x'", "22P02"},
		{"double precision", field(701, -1), "SELECT 0.1 + 0.2 UNION ALL SELECT 9e999 UNION ALL SELECT 7", "+Inf\n0.30000000000000004\n7"},
		{"date", field(1082, -1), "SELECT '2024-02-29' UNION ALL SELECT NULL", "NULL\n2024-02-29"},
		{"date", field(1082, -1), "SELECT '2023-02-29'", "22008"},
		{"date", field(1082, -1), "SELECT '0000-01-01'", "22008"},
		{"date", field(1082, -1), "SELECT 'now'", "22007"},
		{"timestamp without time zone", field(1114, -1), "SELECT '2024-02-29 12:34:56' UNION ALL SELECT '2024-02-29T12:34:56.789'", "2024-02-29 12:34:56\n2024-02-29T12:34:56.789"},
		{"timestamp(0) without time zone", field(1114, 0), "SELECT '2024-02-29 12:34:56.5'", "22008"},
		{"json", field(114, -1), `SELECT '{"a": 1}'`, `{"a": 1}`},
		{"json", field(114, -1), "SELECT '{'", "22P02"},
		{"uuid", field(2950, -1), "SELECT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "none"},
		{"bigint", field(20, -1), "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g LIMIT 9) SELECT abs(-9223372036854775807 - i / 9) FROM g", "22003"},
		{"integer", field(23, -1), "SELECT nope", "42703"},
	})
	given := "7"
	q := engines.Query{SQL: "SELECT +CAST($1 AS INTEGER), +'x' ORDER BY 1 LIMIT 1", Args: []*string{&given}, Fields: []engines.Field{field(23, -1), field(25, -1)}, Tag: engines.Tag{Role: "r", ID: "i"}}
	if rows, ok, err := filled(t, e, []engines.Column{{Name: "a", Type: "integer"}, {Name: "b", Type: "text"}}, q); !ok || err != nil || !slices.Equal(rows, []string{"7|x"}) {
		t.Errorf("%q, %t: %v", rows, ok, err)
	}
}

// TestFillServer keeps what a SQL Server computes, as its types are.
func TestFillServer(t *testing.T) {
	e := keepers(t)["mssql"]
	fillsAs(t, e, []fillCase{
		{"bigint", field(20, -1), "SELECT CAST(-9223372036854775808 AS BIGINT) AS x UNION ALL SELECT NULL ORDER BY x", "NULL\n-9223372036854775808"},
		{"smallint", field(21, -1), "SELECT CAST(32768 AS INT) AS x", "none"},
		{"bigint", field(20, -1), "SELECT CAST(5 AS DECIMAL(9,0)) AS x", "5"},
		{"bigint", field(20, -1), "SELECT CAST(1.5 AS DECIMAL(9,1)) AS x", "none"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT CAST(1.5 AS DECIMAL(9,1)) AS x", "1.5"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT CAST(1.234 AS DECIMAL(9,3)) AS x", "none"},
		{"numeric(5,2)", field(1700, decimal(5, 2)), "SELECT CAST(1000 AS DECIMAL(9,1)) AS x", "none"},
		{"text", field(25, -1), "SELECT N'é 𝄞 ' AS x", "é 𝄞 "},
		{"character varying(9)", field(1043, 4+9), "SELECT N'é' AS x", "none"},
		{"character varying(9)", field(1043, 4+9), "SELECT CAST(N'é' AS VARCHAR(9)) AS x", "none"},
		{"date", field(1082, -1), "SELECT CAST(N'2024-02-29' AS DATE) AS x", "none"},
		{"integer", field(23, -1), "SELECT nope AS x", "none"},
	})
	for remote, length := range map[string]int{"nvarchar(max)": 0, "nvarchar(8)": 8, "nvarchar(9)": 8, "varchar(8)": 8, "nvarchar(4000)": 0, "nchar(8)": 8} {
		if held := sqlServerHolds(remote, keep.Column{Type: keep.Type{Name: "character varying", Length: length}, Remote: sqlServerText}); held != (strings.HasPrefix(remote, "nvarchar") && remote != "nvarchar(9)") {
			t.Errorf("%s in %d characters: %t", remote, length, held)
		}
	}
	given := "7"
	q := engines.Query{SQL: "SELECT CAST($1 AS INT) AS x, N'x' AS y ORDER BY x OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY", Args: []*string{&given}, Fields: []engines.Field{field(23, -1), field(25, -1)}, Tag: engines.Tag{Role: "r", ID: "i"}}
	if rows, ok, err := filled(t, e, []engines.Column{{Name: "a", Type: "integer"}, {Name: "b", Type: "text"}}, q); !ok || err != nil || !slices.Equal(rows, []string{"7|x"}) {
		t.Errorf("%q, %t: %v", rows, ok, err)
	}
}

// TestFillCancelled cancels while a server computes, which has nothing to do for it soon, and keeps nothing.
func TestFillCancelled(t *testing.T) {
	for name, e := range keepers(t) {
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := e.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Probes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			q := engines.Query{SQL: p.Rows(1_000_000_000_000, 1), Fields: []engines.Field{field(20, -1), field(25, -1)}}
			_, _, err := tx.(engines.Maker).Fill(ctx, "keep_1", []engines.Column{{Name: "i", Type: "bigint"}, {Name: "s", Type: "text"}}, q)
			done <- err
		}()
		for made := false; !made; {
			names, err := e.Kept(t.Context(), "keep_")
			if made = len(names) > 0; err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				t.Fatalf("%s: %v", name, err)
			default:
			}
		}
		cancel()
		if err := <-done; code(err) != "57014" {
			t.Errorf("%s: %v", name, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if names, err := e.Kept(t.Context(), "keep_"); err != nil || len(names) > 0 {
			t.Errorf("%s: %v: %v", name, names, err)
		}
	}
}
