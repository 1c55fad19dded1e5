package trino

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// pageOf returns a page with one column and its values as JSON.
func pageOf(typ string, values ...string) string {
	return `{"id":"x","nextUri":"http://x/next","columns":[{"name":"c","type":"` + typ + `"}],"data":[[` + strings.Join(values, "],[") + `]],"stats":{"a":[1,{"b":null}]}}`
}

// TestValues reads values of each type at their limits as the protocol has them.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		typ    string
		values []string
		want   string
	}{
		{"boolean", []string{"true", "false", "null"}, "true false (null)"},
		{"tinyint", []string{"-128", "127"}, "-128 127"},
		{"smallint", []string{"-32768", "32767"}, "-32768 32767"},
		{"integer", []string{"-2147483648", "2147483647"}, "-2147483648 2147483647"},
		{"bigint", []string{"-9223372036854775808", "9223372036854775807", "0"}, "-9223372036854775808 9223372036854775807 0"},
		{"real", []string{"1.1", `"NaN"`, `"-Infinity"`, "3.4028235E38"}, "1.1 NaN -Inf 3.4028235e+38"},
		{"double", []string{"-0.0", `"Infinity"`, "1.0E-7", "1.7976931348623157E308"}, "-0 +Inf 1e-07 1.7976931348623157e+308"},
		{"decimal(38, 3)", []string{`"99999999999999999999999999999999999.999"`, `"-0.001"`, `"0.000"`}, "99999999999999999999999999999999999.999 -0.001 0"},
		{"decimal(20)", []string{`"-12345678901234567890"`, `"1234567890123456789"`, `"123456789012345678"`}, "-12345678901234567890 1234567890123456789 123456789012345678"},
		{"varchar(3)", []string{`"a\"b"`, `"\u00e9\ud83d\ude00\n\\\/"`, `""`}, "a\"b é😀\n\\/ "},
		{"char(4)", []string{`"ab  "`}, "ab"},
		{"varbinary", []string{`"AP8="`, `""`}, "AP8= "},
		{"date", []string{`"2024-02-29"`, `"-0044-03-15"`, `"+12345-01-01"`, `"1969-12-31"`}, "2024-02-29 -0044-03-15 12345-01-01 1969-12-31"},
		{"time(9)", []string{`"23:59:59.999999000"`, `"00:00:00"`, `"01:02:03.4"`}, "23:59:59.999999 00:00:00.000000 01:02:03.400000"},
		{"timestamp(6)", []string{`"2024-02-29 12:34:56.123456"`, `"1969-12-31 23:59:59.999999"`}, "2024-02-29T12:34:56.123456 1969-12-31T23:59:59.999999"},
		{"timestamp(3) with time zone", []string{`"2024-02-29 12:34:56.789 UTC"`, `"2024-02-29 12:34:56 +05:30"`, `"2024-02-29 12:34:56 -00:30"`},
			"2024-02-29T12:34:56.789Z 2024-02-29T07:04:56Z 2024-02-29T13:04:56Z"},
		{"uuid", []string{`"00112233-4455-6677-8899-AABBCCDDEEFF"`}, "ABEiM0RVZneImaq7zN3u/w=="},
		{"json", []string{`"{\"a\":[1,null]}"`}, `{"a":[1,null]}`},
		{"array(integer)", []string{"[1,null,-3]", "[]", "null"}, "[1,null,-3] [] (null)"},
		{"array(varchar)", []string{`["a","\u0041"]`}, `["a","A"]`},
		{"INTERVAL YEAR TO MONTH", []string{`"1-2"`, `"-0-1"`}, `{"months":14,"days":0,"nanoseconds":0} {"months":-1,"days":0,"nanoseconds":0}`},
		{"interval day to second", []string{`"-1 02:03:04.005"`}, `{"months":0,"days":-1,"nanoseconds":-7384005000000}`},
	} {
		var tb table
		p, err := tb.read([]byte(pageOf(c.typ, c.values...)))
		if err != nil || p.rows != len(c.values) || p.next != "http://x/next" {
			t.Errorf("%s: %+v, %v", c.typ, p, err)
			continue
		}
		record := tb.record(p.rows)
		var got []string
		for i := range p.rows {
			got = append(got, record.Column(0).ValueStr(i))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.typ, s, c.want)
		}
	}
}

// TestMisfits refuses what the type at home does not hold, and names the column.
func TestMisfits(t *testing.T) {
	for _, c := range [][3]string{
		{"tinyint", "32768", "22003"},
		{"integer", "2147483648", "22003"},
		{"bigint", "9223372036854775808", "08P01"},
		{"decimal(3, 1)", `"100.0"`, "22008"},
		{"decimal(3, 1)", `"10.05"`, "22008"},
		{"varchar", `"a\u0000"`, "22021"},
		{"varchar", "\"\xff\"", "22021"},
		{"varchar", `"\ud83d"`, "08P01"},
		{"date", `"2023-02-29"`, "22008"},
		{"date", `"2024-13-01"`, "22008"},
		{"date", `"+9999999-01-01"`, "22008"},
		{"time(9)", `"00:00:00.0000001"`, "22008"},
		{"timestamp(9)", `"2024-01-01 00:00:00.000000001"`, "22008"},
		{"timestamp(3) with time zone", `"2024-10-27 02:30:00 Europe/Berlin"`, "22008"},
		{"uuid", `"0011223344556677-8899-aabbccddeeff"`, "22008"},
		{"varbinary", `"?"`, "22008"},
		{"double", "1e999", "08P01"},
		{"boolean", "1", "08P01"},
		{"row(a integer)", "[1]", "HV004"},
		{"map(varchar, integer)", "{}", "HV004"},
		{"array(array(integer))", "[]", "HV004"},
		{"decimal(39)", `"1"`, "HV004"},
		{"hyperloglog", `""`, "HV004"},
	} {
		var tb table
		_, err := tb.read([]byte(pageOf(c[0], c[1])))
		if code(err) != c[2] {
			t.Errorf("%s %s: %v, want %s", c[0], c[1], err, c[2])
		}
		if err != nil && c[2] != "08P01" && !strings.Contains(err.Error(), `"c"`) && !strings.Contains(c[2], "22021") {
			t.Errorf("%s %s does not name the column: %v", c[0], c[1], err)
		}
	}
}

// TestMalformed refuses answers that are cut or are none.
func TestMalformed(t *testing.T) {
	whole := pageOf("varchar", `"a\u00e9"`, `"b"`, "null")
	for i := range len(whole) {
		var tb table
		if _, err := tb.read([]byte(whole[:i])); code(err) != "08P01" {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	for _, text := range []string{"", "x", "[]", "{]", `{"data":[[1]]}`, `{"nextUri":1}`, `{"a":` + strings.Repeat("[", 300) + "}",
		pageOf("bigint", "1,2"), pageOf("bigint", "1e1"), pageOf("bigint", `"1"`), pageOf("bigint", "-")} {
		var tb table
		if _, err := tb.read([]byte(text)); code(err) != "08P01" {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// TestImported declares columns by the names of their types.
func TestImported(t *testing.T) {
	for remote, want := range map[string]string{
		"tinyint": "smallint", "varchar(25)": "character varying(25)", "varchar(2147483646)": "text", "char(3)": "character(3)", "decimal(15,2)": "numeric(15,2)",
		"timestamp(9)": "timestamp without time zone", "timestamp(3) with time zone": "timestamp with time zone", "time(3) with time zone": "", "array(decimal(5, 1))": "numeric(5,1)[]",
		"array(varchar(3))": "character varying(3)[]", "array(row(a integer, b varchar))": "jsonb", "map(varchar, array(integer))": "jsonb", `row("a)" integer)`: "jsonb",
		"interval day to second": "interval", "hyperloglog": "", "ipaddress": "inet", "array(ipaddress)": "jsonb", "decimal(39)": "",
	} {
		if got := postgresName(remote); got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
}

// TestStatement puts values apart from the SQL, and leaves what only looks like a parameter.
func TestStatement(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		sql  string
		args []*string
		want string
		code string
	}{
		{"SELECT '$1'", nil, "SELECT '$1'", ""},
		{`SELECT CAST($2 AS BIGINT), $1, '$1''?', "$2""", $2`, []*string{text(`it's \ $2`), nil},
			`EXECUTE IMMEDIATE 'SELECT CAST(? AS BIGINT), ?, ''$1''''?'', "$2""", ?' USING NULL, 'it''s \ $2', NULL`, ""},
		{"SELECT 1", []*string{text("unused")}, "SELECT 1", ""},
		{"SELECT $3", []*string{nil}, "", "XX000"},
		{"SELECT $0", []*string{nil}, "", "XX000"},
	} {
		got, err := statement(engines.Query{SQL: c.sql, Args: c.args})
		if c.code != "" {
			if code(err) != c.code {
				t.Errorf("%s: %v", c.sql, err)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.sql, got, err)
		}
	}
}

// FuzzPage reads anything without a panic, and what it takes for rows has columns of as many.
func FuzzPage(f *testing.F) {
	for _, typ := range []string{"varchar", "bigint", "array(date)", "decimal(10,2)"} {
		f.Add([]byte(pageOf(typ, `"a"`, "1", "[null]", `"1.00"`)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var tb table
		p, err := tb.read(bytes.Clone(body))
		if err == nil && p.rows > 0 && tb.record(p.rows).NumRows() != int64(p.rows) {
			t.Fatal("rows are missing")
		}
	})
}
