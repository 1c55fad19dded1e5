package tdstest

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

//go:embed catalog.sql
var catalog string

// unknown is what T-SQL does not have.
var unknown = regexp.MustCompile("(?i)`|::|\\$\\d|\\b(LIMIT|TRUE|FALSE|NULLS|BOOLEAN|FILTER|ILIKE|USING)\\b")

// spelled are what Postgres calls things of T-SQL. The catalog has the others.
var spelled = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`@p(\d+)`), "$$$1"},
	{regexp.MustCompile(`(?i)\bCOUNT_BIG\(`), "count("},
	{regexp.MustCompile(`(?i)\bDATALENGTH\(`), "octet_length("},
	{regexp.MustCompile(`(?i)\bLatin1_General_BIN2\b`), "dbo.code_points"},
	{regexp.MustCompile(`(?i)\bREPLICATE\(`), "repeat("},
	{regexp.MustCompile(`(?i)\bLEN\(`), "length("},
	{regexp.MustCompile(`(?i)\bN?VARCHAR\(MAX\)`), "text"},
	{regexp.MustCompile(`(?i)\bNVARCHAR\(`), "varchar("},
	{regexp.MustCompile(`(?i)\bVARBINARY\(MAX\)`), "bytea"},
	{regexp.MustCompile(`(?i)\bDATETIME2\b`), "timestamp"},
	{regexp.MustCompile(`(?i)\bDATETIMEOFFSET\b`), "timestamptz"},
	{regexp.MustCompile(`(?i)\bUNIQUEIDENTIFIER\b`), "uuid"},
	{regexp.MustCompile(`(?i)\bFLOAT\b`), "float8"},
	{regexp.MustCompile(`(?i)\bAS BIT\)`), "AS int)::boolean"},
	{regexp.MustCompile(`(?i)\bFROM GENERATE_SERIES\((CAST\(\d+ AS BIGINT\)), (CAST\(\d+ AS BIGINT\))\)`), "FROM (SELECT generate_series($1, $2) AS value) AS g"},
}

// translate writes a statement for Postgres. Texts and names in double quotes stay.
func translate(sql string) (string, error) {
	var out strings.Builder
	for rest := sql; rest != ""; {
		at := strings.IndexAny(rest, `'"`)
		if at < 0 {
			at = len(rest)
		}
		plain := rest[:at]
		if word := unknown.FindString(plain); word != "" {
			return "", fmt.Errorf("incorrect syntax near '%s'", word)
		}
		rest = rest[at:]
		if rest != "" && rest[0] == '\'' {
			plain = strings.TrimSuffix(plain, "N")
		}
		for _, s := range spelled {
			plain = s.from.ReplaceAllString(plain, s.to)
		}
		out.WriteString(plain)
		if rest == "" {
			break
		}
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return "", errors.New("unclosed quotation mark")
		}
		out.WriteString(rest[:end+2])
		rest = rest[end+2:]
	}
	return sorted(out.String()), nil
}

// sorted has NULL sort before all values, as it does there.
func sorted(sql string) string {
	at := strings.LastIndex(sql, " ORDER BY ")
	if at < 0 {
		return sql
	}
	at += len(" ORDER BY ")
	keys, rest := sql[at:], ""
	if end := strings.Index(keys, " OFFSET "); end >= 0 {
		keys, rest = keys[:end], keys[end:]
	}
	list := strings.Split(keys, ", ") // which names of columns in tests do not have in them
	for i, key := range list {
		if strings.HasSuffix(key, " DESC") {
			list[i] += " NULLS LAST"
		} else {
			list[i] += " NULLS FIRST"
		}
	}
	return sql[:at] + strings.Join(list, ", ") + rest
}
