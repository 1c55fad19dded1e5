package duckdb

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
)

// TestNumeric compares the functions for numerics with Postgres' operators, over values of any size and scale.
func TestNumeric(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	a, b := randomNumerics(1), randomNumerics(2)
	const arrays = " FROM unnest($1::text[], $2::text[]) AS v(x, y), LATERAL (SELECT x::numeric, y::numeric) n(a, b) "
	const sums = "sluice_numeric_add(a, b), sluice_numeric_add(sluice_numeric_multiply(a, a), sluice_numeric_multiply(b, b))"
	e := database(t, nil)
	for _, c := range []struct{ home, remote string }{
		{"a + b", "sluice_numeric_add(a, b)"},
		{"a - b", "sluice_numeric_subtract(a, b)"},
		{"a * b", "sluice_numeric_multiply(a, b)"},
		{"CASE WHEN trim_scale(a) = a THEN trim_scale(a) END", "sluice_numeric_display(a, CAST(length(rtrim(split_part(a, '.', 2), '0')) AS VARCHAR))"},
		{"CASE WHEN b <> 0 THEN a / b END", "CASE WHEN NOT regexp_full_match(b, '-?0\\.?0*') THEN sluice_numeric_divide(a, b) END"},
		{"round(a, 3)", "sluice_numeric_round(a, '3')"},
		{"round(a)", "sluice_numeric_round(a, '0')"},
		{"trunc(a, 2)", "sluice_numeric_trunc(a, '2')"},
		{"(SELECT var_samp(v) FROM (VALUES (a), (b)) t (v))", "sluice_numeric_var_samp('2', " + sums + ")"},
		{"(SELECT var_pop(v) FROM (VALUES (a), (b)) t (v))", "sluice_numeric_var_pop('2', " + sums + ")"},
		{"(SELECT stddev_samp(v) FROM (VALUES (a), (b)) t (v))", "sluice_numeric_stddev_samp('2', " + sums + ")"},
		{"(SELECT stddev_pop(v) FROM (VALUES (a), (b)) t (v))", "sluice_numeric_stddev_pop('2', " + sums + ")"},
		{"a::float8::numeric", "sluice_float8_numeric(CAST(a AS DOUBLE))"},
		{"sign(a - b)", "CASE WHEN sluice_numeric_key(a) < sluice_numeric_key(b) THEN -1 WHEN sluice_numeric_key(a) = sluice_numeric_key(b) THEN 0 ELSE 1 END"},
	} {
		rows, err := conn.Query(t.Context(), "SELECT coalesce(("+c.home+")::text, 'NULL')"+arrays, a, b)
		if err != nil {
			t.Fatal(err)
		}
		want, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		list := func(v []string) string { return "unnest(['" + strings.Join(v, "', '") + "'])" }
		_, got := read(t, e, "SELECT "+c.remote+" FROM (SELECT "+list(a)+" AS a, "+list(b)+" AS b)")
		if len(got) != len(want) {
			t.Fatalf("%s: %d values for %d", c.remote, len(got), len(want))
		}
		for i := range want {
			if got[i][0] != want[i] {
				t.Errorf("%s with a = %s, b = %s: %s; want %s", c.remote, a[i], b[i], got[i], want[i])
			}
		}
	}
}

// TestNumericErrors has Postgres' SQLSTATE for what cannot be computed.
func TestNumericErrors(t *testing.T) {
	e := database(t, nil)
	for sql, want := range map[string]string{
		"SELECT sluice_numeric_divide('1', '0.00')":            codeDivisionByZero,
		"SELECT sluice_numeric_add('1', 'NaN')":                "0A000",
		"SELECT sluice_float8_divide(1, 0)":                    codeDivisionByZero,
		"SELECT sluice_float8_divide(1e-300, 1e300)":           "22003",
		"SELECT sluice_float8_divide(1e300, 1e-300)":           "22003",
		"SELECT sluice_float8_multiply(1e300, 1e300)":          "22003",
		"SELECT sluice_float8_multiply(1e-300, 1e-300)":        "22003",
		"SELECT sluice_float8_add(1.7e308, 1.7e308)":           "22003",
		"SELECT sluice_float8_subtract(-1.7e308, 1.7e308)":     "22003",
		"SELECT sluice_float8_numeric('NaN'::DOUBLE)":          "0A000",
		"SELECT error('SQLSTATE 22003: integer out of range')": "22003",
		"SELECT sluice_numeric_display('1.50', '0')":           "0A000",
		"SELECT sluice_numeric_display('1.50', '3')":           "0A000",
		"SELECT sluice_numeric_add('1', '1.-5')":               "0A000",
	} {
		s, err := e.Open(t.Context(), engines.Query{SQL: sql})
		if err == nil {
			_, err = drain(s)
			s.Close()
		}
		if code(err) != want {
			t.Errorf("%s: %v; want %s", sql, err, want)
		}
	}
}

func randomNumerics(seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 0))
	list := []string{"0", "0.00", "1", "-1", "0.5", "9999", "10000", "0.0001", "0.00009999", "7.0", "100.00"}
	for range 2000 {
		digits := make([]byte, 1+r.IntN(30))
		for i := range digits {
			digits[i] = byte('0' + r.IntN(10))
			if r.IntN(3) == 0 {
				digits[i] = '0'
			}
		}
		text := string(digits[:len(digits)-1]) + string('1'+digits[len(digits)-1]%9)
		if n := r.IntN(len(text) + 1); n < len(text) && n > 0 {
			text = text[:n] + "." + text[n:]
		} else if n == 0 {
			text = "0." + text
		}
		text = trimZeros(text)
		if r.IntN(2) == 0 {
			text = "-" + text
		}
		list = append(list, text)
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return slices.Clip(list)
}

// trimZeros removes zeros in front, which neither side prints.
func trimZeros(text string) string {
	for len(text) > 1 && text[0] == '0' && text[1] != '.' {
		text = text[1:]
	}
	return text
}
