package dialect

import (
	"slices"
	"strings"
)

// trinoFunction is a function that is defined in front of the statement that calls it. Numerics whose scale hangs on their
// values are texts, spelled as Postgres does; what goes beyond the digits of a decimal is an error, upon which home computes.
type trinoFunction struct {
	name, arguments, returns string
	body                     string
}

// trinoFunctions call but those in front of them.
var trinoFunctions = []trinoFunction{
	{"sluice_numeric_scale", "a varchar", "integer",
		"RETURN CAST(CASE WHEN strpos(a, '.') = 0 THEN 0 ELSE length(a) - strpos(a, '.') END AS integer)"},
	{"sluice_numeric_units", "a varchar", "decimal(38,0)", "RETURN CAST(replace(a, '.', '') AS decimal(38,0))"},
	{"sluice_numeric_power", "n integer", "decimal(38,0)", "RETURN CAST(rpad('1', n + 1, '0') AS decimal(38,0))"},
	{"sluice_numeric_shifted", "a varchar, n integer", "decimal(38,0)", "RETURN sluice_numeric_units(a) * sluice_numeric_power(n - sluice_numeric_scale(a))"},
	{"sluice_numeric_point", "digits varchar, n integer", "varchar",
		"RETURN CASE WHEN n = 0 THEN digits WHEN length(digits) > n THEN substr(digits, 1, length(digits) - n) || '.' || substr(digits, length(digits) - n + 1) " +
			"ELSE '0.' || lpad(digits, n, '0') END"},
	{"sluice_numeric_text", "u decimal(38,0), n integer", "varchar",
		"RETURN CASE WHEN u < 0 THEN '-' ELSE '' END || sluice_numeric_point(CAST(abs(u) AS varchar), n)"},
	{"sluice_numeric_add", "a varchar, b varchar", "varchar",
		"BEGIN DECLARE n integer; SET n = greatest(sluice_numeric_scale(a), sluice_numeric_scale(b)); " +
			"RETURN sluice_numeric_text(CAST(sluice_numeric_shifted(a, n) + sluice_numeric_shifted(b, n) AS decimal(38,0)), n); END"},
	{"sluice_numeric_subtract", "a varchar, b varchar", "varchar",
		"BEGIN DECLARE n integer; SET n = greatest(sluice_numeric_scale(a), sluice_numeric_scale(b)); " +
			"RETURN sluice_numeric_text(CAST(sluice_numeric_shifted(a, n) - sluice_numeric_shifted(b, n) AS decimal(38,0)), n); END"},
	{"sluice_numeric_multiply", "a varchar, b varchar", "varchar",
		"RETURN sluice_numeric_text(sluice_numeric_units(a) * sluice_numeric_units(b), sluice_numeric_scale(a) + sluice_numeric_scale(b))"},
	{"sluice_numeric_digits", "a varchar", "varchar", "RETURN trim(LEADING '0' FROM replace(replace(a, '.', ''), '-', ''))"},
	{"sluice_numeric_exponent", "a varchar", "integer", "RETURN CAST(length(sluice_numeric_digits(a)) - sluice_numeric_scale(a) - 1 AS integer)"},
	{"sluice_numeric_first", "a varchar", "integer", // the first digit of those to the base 10000
		"BEGIN DECLARE n integer; SET n = sluice_numeric_exponent(a) - CAST(floor(sluice_numeric_exponent(a) / 4e0) AS integer) * 4 + 1; " +
			"RETURN CASE WHEN sluice_numeric_digits(a) = '' THEN 0 ELSE CAST(substr(rpad(sluice_numeric_digits(a), 4, '0'), 1, n) AS integer) END; END"},
	{"sluice_numeric_weight", "a varchar", "integer", // and which place it has
		"RETURN CASE WHEN sluice_numeric_digits(a) = '' THEN 0 ELSE CAST(floor(sluice_numeric_exponent(a) / 4e0) AS integer) END"},
	{"sluice_numeric_divide", "a varchar, b varchar", "varchar", divideTrino},
	{"sluice_numeric_round", "a varchar, to_scale varchar", "varchar", roundTrino},
	{"sluice_numeric_display", "a varchar, to_scale varchar", "varchar",
		"RETURN CASE WHEN strpos(a, '.') = 0 THEN a WHEN to_scale = '0' THEN substr(a, 1, strpos(a, '.') - 1) ELSE substr(a, 1, strpos(a, '.') + CAST(to_scale AS integer)) END"},
	{"sluice_numeric_key", "a varchar", "varchar", keyTrino},
}

// divideTrino divides by hand, some digits at a time, to the scale that Postgres chooses: at least 16 digits are significant.
const divideTrino = `BEGIN
DECLARE n, some integer; DECLARE divisor, rest, next, quotient decimal(38,0);
SET divisor = abs(sluice_numeric_units(b));
IF divisor = 0 THEN RETURN fail('SQLSTATE 22012: division by zero'); END IF;
SET n = 16 - 4 * (sluice_numeric_weight(a) - sluice_numeric_weight(b) - CASE WHEN sluice_numeric_first(a) <= sluice_numeric_first(b) THEN 1 ELSE 0 END);
SET n = greatest(n, sluice_numeric_scale(a), sluice_numeric_scale(b), 0);
SET next = abs(sluice_numeric_units(a));
SET rest = next % divisor;
SET quotient = CAST((next - rest) / divisor AS decimal(38,0));
SET some = n - sluice_numeric_scale(a) + sluice_numeric_scale(b);
WHILE some > 0 DO
 SET next = rest * sluice_numeric_power(least(some, 6));
 SET rest = next % divisor;
 SET quotient = CAST(quotient * sluice_numeric_power(least(some, 6)) + CAST((next - rest) / divisor AS decimal(38,0)) AS decimal(38,0));
 SET some = some - 6;
END WHILE;
IF rest >= divisor - rest THEN SET quotient = CAST(quotient + 1 AS decimal(38,0)); END IF;
RETURN sluice_numeric_text(CASE WHEN (a LIKE '-%') = (b LIKE '-%') THEN quotient ELSE -quotient END, n);
END`

// roundTrino rounds half away from zero.
const roundTrino = `BEGIN
DECLARE n, more integer; DECLARE digits varchar;
SET n = CAST(to_scale AS integer);
SET more = sluice_numeric_scale(a) - n;
IF more <= 0 THEN RETURN sluice_numeric_text(sluice_numeric_shifted(a, n), n); END IF;
SET digits = CAST(CAST(abs(sluice_numeric_units(a)) + 5 * sluice_numeric_power(more - 1) AS decimal(38,0)) AS varchar);
SET digits = CASE WHEN length(digits) > more THEN substr(digits, 1, length(digits) - more) ELSE '0' END;
RETURN CASE WHEN a LIKE '-%' AND digits <> '0' THEN '-' ELSE '' END || sluice_numeric_point(digits, n);
END`

// keyTrino makes texts that are in the order of numbers, and equal where these are.
const keyTrino = `BEGIN
DECLARE digits varchar;
IF length(a) > 400 OR translate(a, '0123456789.-', '') <> '' THEN RETURN fail('SQLSTATE 0A000: a number beyond those of decimals'); END IF;
SET digits = trim(TRAILING '0' FROM sluice_numeric_digits(a));
RETURN CASE WHEN digits = '' THEN '1'
 WHEN a LIKE '-%' THEN '0' || lpad(CAST(499 - sluice_numeric_exponent(a) AS varchar), 3, '0') || translate(digits, '0123456789', '9876543210') || '~'
 ELSE '2' || lpad(CAST(500 + sluice_numeric_exponent(a) AS varchar), 3, '0') || digits END;
END`

// Declared is a statement with the functions that it calls defined in front of it.
func (Trino) Declared(sql string) string {
	needed := sql
	var list []string
	for _, f := range slices.Backward(trinoFunctions) {
		if !strings.Contains(needed, f.name+"(") {
			continue
		}
		needed += f.body
		list = append(list, "FUNCTION "+f.name+"("+f.arguments+") RETURNS "+f.returns+" RETURNS NULL ON NULL INPUT "+f.body)
	}
	if len(list) == 0 {
		return sql
	}
	slices.Reverse(list)
	return "WITH " + strings.Join(list, ", ") + " " + sql
}
