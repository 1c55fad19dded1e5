package sqldb

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// limits are columns of MariaDB: declaration, two values, type at home, its OID and modifier, and what the values come as.
var limits = []struct {
	declared, values, home string
	field                  engines.Field
	want                   string
}{
	{"TINYINT", "-128 | 127", "smallint", field(21, -1), "-128 127"},
	{"TINYINT UNSIGNED", "0 | 255", "smallint", field(21, -1), "0 255"},
	{"SMALLINT UNSIGNED", "0 | 65535", "integer", field(23, -1), "0 65535"},
	{"MEDIUMINT", "-8388608 | 8388607", "integer", field(23, -1), "-8388608 8388607"},
	{"INT UNSIGNED", "0 | 4294967295", "bigint", field(20, -1), "0 4294967295"},
	{"INT(5) ZEROFILL", "7 | 4294967295", "bigint", field(20, -1), "7 4294967295"},
	{"BIGINT", "-9223372036854775808 | 9223372036854775807", "bigint", field(20, -1), "-9223372036854775808 9223372036854775807"},
	{"BIGINT UNSIGNED", "0 | 18446744073709551615", "numeric(20,0)", field(1700, decimal(20, 0)), "0 18446744073709551615"},
	{"DECIMAL(65,30)", "-99999999999999999999999999999999999.999999999999999999999999999999 | 0", "numeric(65,30)", field(1700, decimal(65, 30)),
		"-99999999999999999999999999999999999.999999999999999999999999999999 0.000000000000000000000000000000"},
	{"DECIMAL(10,2)", "-0.01 | 12345678.90", "numeric(10,2)", field(1700, decimal(10, 2)), "-0.01 12345678.9"},
	{"FLOAT", "16777217 | -0.1", "real", field(700, -1), "1.6777216e+07 -0.1"},
	{"DOUBLE", "0.30000000000000004 | 1.7976931348623157e308", "double precision", field(701, -1), "0.30000000000000004 1.7976931348623157e+308"},
	{"BIT(10)", "b'1000000001' | 3", "bit(10)", field(1560, 10), "1000000001 0000000011"},
	{"BOOLEAN", "TRUE | FALSE", "smallint", field(16, -1), "true false"},
	{"CHAR(4)", "'a  ' | 'é€'", "character(4)", field(1042, 8), "a é€"},
	{"VARCHAR(3)", "'a ' | 'é€𝄞'", "character varying(3)", field(1043, 7), "a  é€𝄞"},
	{"TEXT CHARACTER SET latin1", `'back\slash' | 'ü'`, "text", field(25, -1), `back\slash ü`},
	{"ENUM('a','b''c')", "'a' | 2", "text", field(25, -1), "a b'c"},
	{"SET('x','y')", "'x,y' | ''", "text", field(25, -1), "x,y "},
	{"JSON", `'{"a": [1, null]}' | 'null'`, "text", field(114, -1), `{"a": [1, null]} null`},
	{"BLOB", "x'00ff' | ''", "bytea", field(17, -1), "AP8= "},
	{"BINARY(3)", "'ab' | x'ffffff'", "bytea", field(17, -1), "YWIA ////"},
	{"DATE", "'0001-01-01' | '9999-12-31'", "date", field(1082, -1), "0001-01-01 9999-12-31"},
	{"DATETIME(6)", "'1000-01-01 00:00:00' | '9999-12-31 23:59:59.999999'", "timestamp(6)", field(1114, 6), "1000-01-01T00:00:00 9999-12-31T23:59:59.999999"},
	{"TIMESTAMP(3) NULL", "'1970-01-01 00:00:01' | '2038-01-19 03:14:07.999'", "timestamp(3) with time zone", field(1184, 3),
		"1970-01-01T00:00:01Z 2038-01-19T03:14:07.999Z"},
	{"TIME(6)", "'00:00:00' | '23:59:59.999999'", "time(6)", field(1083, 6), "00:00:00.000000 23:59:59.999999"},
	{"YEAR", "1901 | 2155", "smallint", field(21, -1), "1901 2155"},
	{"UUID", "'123e4567-e89b-12d3-a456-426655440000' | NULL", "uuid", field(2950, -1), "Ej5FZ+ibEtOkVkJmVUQAAA== (null)"},
	{"INET6", "'::1' | NULL", "inet", field(869, -1), "::1 (null)"},
}

// TestMariaDBTypes reads values at the limits of types, imported as they are.
func TestMariaDBTypes(t *testing.T) {
	statements := []string{"SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES'), time_zone = '+00:00'"}
	for i, l := range limits {
		one, two, _ := strings.Cut(l.values, " | ")
		statements = append(statements, fmt.Sprintf("CREATE TABLE t%02d (n INT, x %s)", i, l.declared), fmt.Sprintf("INSERT INTO t%02d VALUES (1, %s), (2, %s), (3, NULL)", i, one, two))
	}
	s := maria(t, statements...)
	e := open(t, s)
	tables, err := e.Introspect(t.Context(), s.Options["database"])
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range limits {
		if got := tables[i].Columns[1].Type; got != l.home {
			t.Errorf("%s is imported as %q, not %q", l.declared, got, l.home)
		}
		sql := fmt.Sprintf("SELECT x FROM t%02d ORDER BY n", i)
		if got := values(t, e, engines.Query{SQL: sql, Fields: []engines.Field{l.field}}); got != l.want+" (null)" {
			t.Errorf("%s: %s; want %s", l.declared, got, l.want+" (null)")
		}
	}
	if _, err := e.Introspect(t.Context(), "nope"); code(err) != "HV00Q" {
		t.Errorf("a schema that is not there: %v", err)
	}
}

// values reads a query of one column, with blanks between.
func values(t testing.TB, e *Engine, q engines.Query) string {
	t.Helper()
	s, err := e.Open(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	defer s.Close()
	list, err := s.(*stream).texts(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	var out []string
	for _, row := range list {
		if row[0] == nil {
			out = append(out, "(null)")
		} else {
			out = append(out, *row[0])
		}
	}
	return strings.Join(out, " ")
}

// failureOf reads a query of one column to its end, or the error that ends it.
func failureOf(t testing.TB, e *Engine, q engines.Query) error {
	t.Helper()
	s, err := e.Open(t.Context(), q)
	if err != nil {
		return err
	}
	defer s.Close()
	for err == nil {
		_, err = s.Next(t.Context())
	}
	return err
}

// TestMariaDBMisfits reads values that the type at home does not hold: an error that names the column, never another value.
func TestMariaDBMisfits(t *testing.T) {
	e := open(t, maria(t, "CREATE TABLE v (zero DATE, part DATE, never DATETIME, long_time TIME, early TIME, big BIGINT UNSIGNED, word VARCHAR(20), fine DECIMAL(5,3), two TINYINT, raw VARBINARY(9))",
		"SET SESSION sql_mode = ''", "INSERT INTO v VALUES ('0000-00-00', '2024-02-00', '0000-00-00 00:00:00', '838:59:59', '-00:00:01', 18446744073709551615, 'x1', 1.005, 2, x'00ff')"))
	for _, c := range []struct {
		sql   string
		field engines.Field
		code  string
	}{
		{"zero", field(1082, -1), "22008"}, {"part", field(1082, -1), "22008"}, {"never", field(1114, -1), "22008"}, {"never", field(1184, -1), "22008"},
		{"long_time", field(1083, -1), "22008"}, {"early", field(1083, -1), "22008"}, {"big", field(20, -1), "22003"}, {"word", field(23, -1), "22P02"},
		{"word", field(1043, 5), "22001"}, {"word", field(1082, -1), "22007"}, {"word", field(114, -1), "22P02"}, {"word", field(2950, -1), "22P02"}, {"fine", field(1700, decimal(5, 2)), "22003"},
		{"fine", field(1700, decimal(3, 3)), "22003"}, {"fine", field(23, -1), "22P02"}, {"two", field(16, -1), "22P02"}, {"raw", field(25, -1), "22021"}, {"300", field(21, -1), ""}, {"40000", field(21, -1), "22003"},
		{"0.1e0", field(700, -1), "22P02"}, {"long_time", field(1186, -1), ""}, {"zero", field(25, -1), ""},
	} {
		err := failureOf(t, e, engines.Query{SQL: "SELECT " + c.sql + " AS x FROM v", Fields: []engines.Field{c.field}})
		if c.code == "" {
			c.code = "EOF"
		}
		if code(err) != c.code || c.code != "EOF" && !strings.Contains(fmt.Sprint(err)+err.Error(), `"x"`) && !strings.Contains(where(err), `"x"`) {
			t.Errorf("%s as %d: %v (%s), want %s", c.sql, c.field.OID, err, where(err), c.code)
		}
	}
	if got := values(t, e, engines.Query{SQL: "SELECT long_time FROM v UNION ALL SELECT early FROM v", Fields: []engines.Field{field(1186, -1)}}); got !=
		`{"months":0,"days":0,"nanoseconds":3020399000000000} {"months":0,"days":0,"nanoseconds":-1000000000}` {
		t.Errorf("hours are %s", got)
	}
}

// TestSQLiteMisfits reads values of other kinds than the column's.
func TestSQLiteMisfits(t *testing.T) {
	e := open(t, lite(t, "CREATE TABLE v (i INTEGER, r REAL, s TEXT, b BLOB, d DATE, f BOOLEAN, n NUMERIC, z)",
		"INSERT INTO v VALUES ('word', 'word', x'ff', 'text', 20240229, 5, 'x', 7)",
		"CREATE TABLE w (i INTEGER, r REAL, s TEXT, b BLOB, d DATE, f BOOLEAN, n NUMERIC, t DATETIME)",
		"INSERT INTO w VALUES (2.5, 9e999, 'a' || char(0) || 'b', x'00', '2024-02-30', 'true', 9e999, '2024-01-01T10:00:00+02:00')"))
	for _, c := range []struct {
		table, column string
		field         engines.Field
		code          string
	}{
		{"v", "i", field(20, -1), "22P02"}, {"v", "r", field(701, -1), "22P02"}, {"v", "s", field(25, -1), "22P02"}, {"v", "b", field(17, -1), "22P02"},
		{"v", "d", field(1082, -1), "22P02"}, {"v", "f", field(16, -1), "22P02"}, {"v", "n", field(1700, -1), "22P02"}, {"v", "z", field(25, -1), "22P02"},
		{"w", "i", field(20, -1), "22P02"}, {"w", "r", field(1700, -1), "22P02"}, {"w", "r", field(701, -1), "EOF"}, {"w", "s", field(25, -1), "22021"}, {"w", "b", field(25, -1), "22P02"},
		{"w", "d", field(1082, -1), "22008"}, {"w", "f", field(16, -1), "22P02"}, {"w", "n", field(1700, decimal(10, 2)), "22P02"},
		{"w", "t", field(1114, -1), "22007"}, {"w", "t", field(1184, -1), "EOF"}, {"w", "i", field(23, -1), "22P02"}, {"v", "z", field(21, -1), "EOF"},
	} {
		err := failureOf(t, e, engines.Query{SQL: "SELECT +" + c.column + " AS x FROM " + c.table, Fields: []engines.Field{c.field}})
		if code(err) != c.code || c.code != "EOF" && !strings.Contains(err.Error(), `"x"`) && !strings.Contains(where(err), `"x"`) {
			t.Errorf("%s.%s as %d: %v (%s), want %s", c.table, c.column, c.field.OID, err, where(err), c.code)
		}
	}
	if got := values(t, e, engines.Query{SQL: "SELECT +t FROM w", Fields: []engines.Field{field(1184, -1)}}); got != "2024-01-01T08:00:00Z" {
		t.Errorf("a time with a zone is %s", got)
	}
}

// TestSQLiteIntrospect reads declarations.
func TestSQLiteIntrospect(t *testing.T) {
	e := open(t, lite(t, `CREATE TABLE "a b" (i INTEGER PRIMARY KEY, u UNSIGNED BIG INT NOT NULL, t VARCHAR(7), c TEXT, r REAL, d DECIMAL(10,2), n NUMERIC, b BLOB, f BOOLEAN, z, "odd ""n""" DATE, g INTEGER AS (i + 1))`,
		"CREATE VIEW v AS SELECT i, t FROM \"a b\"", "CREATE TABLE k (p TEXT PRIMARY KEY) WITHOUT ROWID"))
	tables, err := e.Introspect(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, table := range tables {
		var list []string
		for _, c := range table.Columns {
			list = append(list, fmt.Sprintf("%s %s %t", c.Name, c.Type, c.NotNull))
		}
		got = append(got, table.Name+": "+strings.Join(list, ", "))
	}
	want := `a b: i bigint false, u bigint true, t character varying(7) false, c text false, r double precision false, d numeric(10,2) false, n numeric false, b bytea false, f boolean false, z text false, odd "n" date false, g bigint false
empty: a text false
k: p text true
v: i bigint false, t character varying(7) false`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if _, err := e.Introspect(t.Context(), "nope"); code(err) != "HV00Q" {
		t.Errorf("a schema that is not there: %v", err)
	}
}

// TestReadOnly tries to change what an account may change.
func TestReadOnly(t *testing.T) {
	s := maria(t, "CREATE TABLE v (a INT)")
	s.Mapping = map[string]string{"user": "admin", "password": "admin-secret"}
	for e, statements := range map[*Engine][]string{
		open(t, s): {"INSERT INTO v VALUES (1)", "DELETE FROM v", "CREATE TABLE w (a INT)", "DROP TABLE v"},
		open(t, lite(t, "CREATE TABLE v (a INT)")): {"INSERT INTO v VALUES (1)", "DELETE FROM v", "CREATE TABLE w (a INT)", "DROP TABLE v", "PRAGMA user_version = 7"},
	} {
		for _, sql := range statements {
			if err := failureOf(t, e, engines.Query{SQL: sql}); code(err) != "25006" {
				t.Errorf("%s: %v", sql, err)
			}
		}
		if _, err := e.Begin(context.Background()); code(err) != "0A000" {
			t.Errorf("Begin: %v", err)
		}
	}
}

// TestGone reads from what is not there.
func TestGone(t *testing.T) {
	for _, c := range []struct {
		server engines.Server
		code   string
	}{
		{engines.Server{Name: "other", Options: map[string]string{"driver": "sqlite", "file": "/no/such.db"}}, "HV00N"},
		{engines.Server{Name: "other", Options: map[string]string{"driver": "sqlite", "file": "/etc/passwd"}}, "HV00N"},
		{engines.Server{Name: "other", Options: map[string]string{"driver": "mysql", "host": "127.0.0.1", "port": "1"}}, "08001"},
	} {
		if err := open(t, c.server).Ping(t.Context()); code(err) != c.code || !strings.Contains(where(err), "other") {
			t.Errorf("%v: %v (%s)", c.server.Options, err, where(err))
		}
	}
	s := maria(t)
	s.Mapping = map[string]string{"user": "reader", "password": "wrong"}
	if err := open(t, s).Ping(t.Context()); code(err) != "28P01" || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong password: %v", err)
	}
	// A name in double quotes that names nothing must not be read as a text.
	e := open(t, lite(t, "CREATE TABLE v (a INT)", "INSERT INTO v VALUES (1)"))
	if err := failureOf(t, e, engines.Query{SQL: "SELECT +`gone` AS x FROM v", Fields: []engines.Field{field(25, -1)}}); code(err) != "42703" {
		t.Errorf("a column that is gone: %v", err)
	}
}
