package tests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
	"github.com/sluicedb/sluice/internal/bigquerytest"
)

// bigRows are values of each type that BigQuery is sent something of, at the ends of their ranges.
const bigRows = `
(1, 5, 1.50, 0.5, 0.00000000000000000001, 'one', 'one', '2024-02-29', '2024-02-29 12:00:00+00', '2024-02-29 12:00:00', true, 0.5),
(2, -9223372036854775808, -0.01, -12345.678901234, 1, 'ONE', 'ONE', '0001-01-01', '0001-01-01 00:00:00+00', '0001-01-01 00:00:00', false, 'NaN'),
(3, 9223372036854775807, 9999999999.99, 99999999999999999.999999999, -1, 'one ', 'x', '9999-12-31', '9999-12-31 23:59:59.999999+00', '9999-12-31 23:59:59.999999', NULL, '-Infinity'),
(4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
(5, 0, 0, 0, 0, '', '', '1970-01-01', '2024-02-29 12:00:00.000001+00', '1969-12-31 23:59:59.999999', true, 0),
(6, 5, 1.5, 0.000000001, 123456789012345678.5, 'né\o', 'né', '2024-02-29', '2024-02-29 13:00:00+01', '2024-02-29 00:00:00', false, 1),
(7, 9007199254740993, -9999999999.99, 7, 7, '100%_x', '𝄞', '2024-03-01', '2024-07-01 00:00:00+00', '2024-07-01 00:00:00', true, 1e300),
(8, 9007199254740992, 12, 7, 7, '１', 'ﬀ', '1582-10-10', '1900-01-01 00:00:00+00', '1900-01-01 00:00:00', NULL, 2.5)`

// bigPlain makes the table of plain Postgres, and returns a connection to it.
func bigPlain(t *testing.T) *pgx.Conn {
	t.Helper()
	direct := hometest.Database(t, hometest.Start(t))
	exec(t, direct, `CREATE TABLE facts (id bigint NOT NULL, a bigint, n numeric(12,2), m numeric(38,9), g numeric(38,20), t text COLLATE "C", u text COLLATE "und-x-icu", d date, moment timestamptz, loc timestamp, ok boolean, f float8)`,
		"INSERT INTO facts VALUES "+bigRows)
	conn := connect(t, direct)
	exec1(t, conn, "SET TimeZone = 'UTC'")
	return conn
}

// bigForeign imports the table of dataset twin.
func bigForeign(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	exec(t, url, "IMPORT FOREIGN SCHEMA twin FROM SERVER big INTO public", `ALTER FOREIGN TABLE facts ALTER t TYPE text COLLATE "C", ALTER u TYPE text COLLATE "und-x-icu"`)
	conn := connect(t, url)
	exec1(t, conn, "SET TimeZone = 'UTC'")
	return conn
}

// TestBigQueryTwin compares answers over a project, for which a DuckDB computes, with those over a plain table, and shows what was shipped.
func TestBigQueryTwin(t *testing.T) {
	p := fake.Start(t, "CREATE SCHEMA twin", `CREATE TABLE twin.facts (id BIGINT NOT NULL, a BIGINT, n DECIMAL(12,2), m DECIMAL(38,9), g DECIMAL(38,20), t VARCHAR, u VARCHAR, d DATE, moment TIMESTAMPTZ, loc TIMESTAMP, ok BOOLEAN, f DOUBLE)`,
		"INSERT INTO twin.facts VALUES "+bigRows)
	plain, foreign := bigPlain(t), bigForeign(t, bigURL(t, p))
	datadriven.RunTest(t, "testdata/bigquery", func(t *testing.T, d *datadriven.TestData) string {
		answer := bigAnswer(t, plain, foreign, d, "", "home_join")
		if len(d.CmdArgs) > 0 {
			jobs := p.Jobs()
			job := jobs[len(jobs)-2].Configuration.Query // the last but that of home_join
			for _, q := range job.QueryParameters {
				answer += fmt.Sprintf("\n%s %s %q", q.Name, q.ParameterType.Type, q.ParameterValue.Value)
			}
			return answer + "\n" + job.Query + "\n"
		}
		return answer + "\n" + strings.Join(remoteLine.FindAllString(rows(t, foreign, "EXPLAIN (VERBOSE) "+d.Input), -1), "\n") + "\n"
	})
}

// bigAnswer is what a plain table answers, and the foreign one too on each of the routes.
func bigAnswer(t *testing.T, plain, foreign *pgx.Conn, d *datadriven.TestData, routes ...string) string {
	t.Helper()
	var params []any
	for _, a := range d.CmdArgs {
		params = append(params, paramOf(strings.ReplaceAll(a.Key, "T", " ")))
	}
	answer := answerOf(t, plain, d.Input, params)
	for _, route := range routes {
		exec1(t, foreign, "SET sluice.route = '"+route+"'")
		if got := answerOf(t, foreign, d.Input, params); got != answer {
			t.Errorf("%s %v\n%s: %s\nplain: %s", d.Input, params, route, got, answer)
		}
	}
	exec1(t, foreign, "RESET sluice.route")
	return answer
}

// notEmulated is shipped where an emulator does not do as the service documents: it has too few numbers of BIGNUMERIC, and no escapes in
// patterns.
var notEmulated = regexp.MustCompile("BIGNUMERIC|`g`|LIKE '[^']*\\\\")

// TestRealBigQueryTwin compares the same answers over an emulator that others have written.
func TestRealBigQueryTwin(t *testing.T) {
	e := bigquerytest.Start(t)
	var fields []any
	for _, f := range strings.Split("id INTEGER REQUIRED,a INTEGER,n NUMERIC(12;2),m NUMERIC,t STRING,u STRING,d DATE,moment TIMESTAMP,loc DATETIME,ok BOOLEAN,f FLOAT", ",") {
		part := strings.Fields(f)
		field := map[string]any{"name": part[0], "mode": "NULLABLE"}
		if len(part) > 2 {
			field["mode"] = part[2]
		}
		typ, digits, ok := strings.Cut(strings.TrimSuffix(part[1], ")"), "(")
		if field["type"] = typ; ok {
			precision, scale, _ := strings.Cut(digits, ";")
			field["precision"], field["scale"] = json.Number(precision), json.Number(scale)
		}
		fields = append(fields, field)
	}
	e.Dataset(t, "twin", map[string]any{"tableReference": map[string]string{"projectId": bigquerytest.Project, "datasetId": "twin", "tableId": "facts"}, "schema": map[string]any{"fields": fields}})
	e.Exec(t, "INSERT INTO twin.facts (id, a, n, m, t, u, d, moment, loc, ok, f) VALUES "+bigEmulated())
	plain, foreign := bigPlain(t), bigForeign(t, emulatedURL(t, e))
	datadriven.RunTest(t, "testdata/bigquery", func(t *testing.T, d *datadriven.TestData) string {
		if !notEmulated.MatchString(d.Expected) {
			bigAnswer(t, plain, foreign, d, "")
		}
		return d.Expected
	})
}

// bigEmulated spells the rows as the service would have them.
func bigEmulated() string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(bigRows), "\n") {
		values := strings.Split(strings.Trim(line, "(),"), ", ")
		for i, v := range values {
			if v == "NULL" {
				continue
			}
			switch i {
			case 2, 3:
				values[i] = "NUMERIC '" + v + "'"
			case 5, 6:
				values[i] = strings.ReplaceAll(v, `\`, `\\`)
			case 7:
				values[i] = "DATE " + v
			case 8:
				values[i] = "TIMESTAMP " + v
			case 9:
				values[i] = "DATETIME " + v
			case 11:
				values[i] = "CAST(" + v + " AS FLOAT64)"
			}
		}
		out = append(out, "("+strings.Join(slices.Delete(values, 4, 5), ", ")+")")
	}
	return strings.Join(out, ",\n")
}
