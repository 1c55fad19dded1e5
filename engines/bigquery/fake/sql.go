package fake

import (
	"regexp"
	"strings"
)

// parameterForms are the spellings that values of parameters have, by type.
var parameterForms = map[string]*regexp.Regexp{
	"STRING": regexp.MustCompile(``), "INT64": regexp.MustCompile(`^-?\d{1,19}$`), "BOOL": regexp.MustCompile(`^(true|false)$`),
	"NUMERIC": regexp.MustCompile(`^-?\d{1,29}(\.\d{1,9})?$`), "BIGNUMERIC": regexp.MustCompile(`^-?\d{1,38}(\.\d{1,38})?$`),
	"DATE": regexp.MustCompile(`^\d{4}-\d\d-\d\d$`), "DATETIME": regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$`),
	"TIMESTAMP": regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$`),
}

var (
	words = strings.NewReplacer("INT64", "BIGINT", "FLOAT64", "DOUBLE", " AS STRING)", " AS VARCHAR)", "TO_JSON_STRING(", "to_json(",
		" AS DATETIME)", " AS timestamp)", " AS TIMESTAMP)", " AS timestamptz)", " AS BYTES)", " AS BLOB)", " AS NUMERIC)", " AS DECIMAL(38,9))",
		" AS BIGNUMERIC)", " AS DECIMAL(38,10))", "logical_and(", "bool_and(", "logical_or(", "bool_or(", "DATETIME ", "timestamp ", "TIMESTAMP ", "timestamptz ")
	quoted     = regexp.MustCompile("(?s)'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`")
	escapes    = regexp.MustCompile("(?s)\\\\(?:[\\\\'`]|x[01][0-9a-f]|x7f)")
	parameters = regexp.MustCompile(`@p(\d+)`)
	numbers    = regexp.MustCompile(`\(SELECT a \* 1000000 \+ b AS i FROM UNNEST\(GENERATE_ARRAY\(0, \d+\)\) AS a, UNNEST\(GENERATE_ARRAY\(0, 999999\)\) AS b\) WHERE i < (\d+) ORDER BY i$`)
	sequences  = regexp.MustCompile(`UNNEST\(GENERATE_ARRAY\((\d+), (\d+)\)\) AS (\w+)`)
	sums       = regexp.MustCompile(`\bsum\(("[^()]*")\)`)
	decimals   = regexp.MustCompile(`(?:BIG)?NUMERIC ('[^']*')`)
	patterns   = regexp.MustCompile(`(?s)LIKE (CAST\(\$\d+ AS VARCHAR\)|'(?:[^']|\'\')*')`)
)

// toDuckDB puts DuckDB's words for a statement's, and its quotes, in which a backslash escapes nothing.
func toDuckDB(text string) string {
	text = sequences.ReplaceAllString(numbers.ReplaceAllString(text, "range($1) AS r(i)"), "range($1, $2 + 1) AS r_$3($3)") // the former are in order
	var b strings.Builder
	for text != "" {
		at := quoted.FindStringIndex(text)
		if at == nil {
			at = []int{len(text), len(text)}
		}
		b.WriteString(parameters.ReplaceAllString(words.Replace(text[:at[0]]), "$$$1"))
		if at[0] < at[1] {
			b.WriteString(requoted(text[at[0]:at[1]]))
		}
		text = text[at[1]:]
	}
	out := sums.ReplaceAllString(decimals.ReplaceAllString(b.String(), "CAST($1 AS DECIMAL(38,9))"), "CAST(sum($1) AS BIGINT)") // of integers
	return patterns.ReplaceAllString(out, `LIKE $1 ESCAPE '\'`)
}

func requoted(text string) string {
	quote := "'"
	if text[0] == '`' {
		quote = `"`
	}
	inner := escapes.ReplaceAllStringFunc(text[1:len(text)-1], func(e string) string {
		if e[1] == 'x' {
			return string(rune(unhex(e[2])<<4 | unhex(e[3])))
		}
		return e[1:]
	})
	return quote + strings.ReplaceAll(inner, quote, quote+quote) + quote
}

func unhex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
