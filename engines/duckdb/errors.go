package duckdb

import (
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// SQLSTATE codes that only DuckDB's errors need.
const (
	codeDataException    = "22000"
	codeDateTimeOverflow = "22008"
	codeDateTimeFormat   = "22007"
	codeDivisionByZero   = "22012"
	codeFile             = "22P04"
	codeLogarithm        = "2201E"
	codePower            = "2201F"
	codeIntegrity        = "23000"
	codeNotNull          = "23502"
	codeForeignKey       = "23503"
	codeUnique           = "23505"
	codeCheck            = "23514"
	codeCursorState      = "24000"
	codeTransactionState = "25000"
	codeSerialization    = "40001"
	codeSchema           = "3F000"
	codeFunction         = "42883"
	codeDatatypeMismatch = "42804"
	codeDuplicateTable   = "42P07"
)

// rule maps errors of one class whose text matches to a SQLSTATE. An empty class or text matches any.
type rule struct {
	class, text, code string
}

// rules are tried in order. A class is what stands before " Error: " in DuckDB's message.
var rules = []rule{
	{"INTERRUPT", "", pgerr.QueryCanceled},
	{"", `Could not set lock on file`, pgerr.ObjectInUse},
	{"", `different configuration than existing connections|already (opened|attached)`, pgerr.ObjectInUse},
	{"", `No files found|does not exist: |No such file|Cannot open database .* does not exist`, pgerr.UndefinedFile},
	{"", `No space left on device`, pgerr.DiskFull},
	{"", `attached in read-only mode`, pgerr.ReadOnlyTransaction},
	{"", `(?i)division by zero|divide by zero`, codeDivisionByZero},
	{"", `cannot take logarithm`, codeLogarithm},
	{"", `square root of a negative`, codePower},
	{"", `(?i)\b(date|timestamp|interval)\b.*out of range|overflow.*\b(DATE|TIMESTAMP|INTERVAL)|(?i)date field value out of range`, codeDateTimeOverflow},
	{"Conversion", `out of range|(?i)overflow`, pgerr.NumericOutOfRange},
	{"", `Failed to cast decimal value`, pgerr.NumericOutOfRange},
	{"Conversion", `Could not cast value -?[0-9.e+]+ to`, pgerr.NumericOutOfRange},
	{"Conversion", `Could not convert string ['"][+-]?[0-9]+(\.[0-9]*)?['"] to (U?INT|DECIMAL|U?HUGEINT|FLOAT|DOUBLE)`, pgerr.NumericOutOfRange},
	{"Conversion", `(?i)(date|timestamp|time|interval) field|to '?(DATE|TIMESTAMP|TIME|INTERVAL)`, codeDateTimeFormat},
	{"Conversion", "", pgerr.InvalidTextRepr},
	{"Out of Range", "", pgerr.NumericOutOfRange},
	{"Out of Memory", "", pgerr.OutOfMemory},
	{"Catalog", `^Table with name|^View with name|because schema`, pgerr.UndefinedTable},
	{"Catalog", `Function with name .* does not exist`, codeFunction},
	{"Catalog", `^Schema with name`, codeSchema},
	{"Catalog", `already exists`, codeDuplicateTable},
	{"Catalog", "", pgerr.UndefinedObject},
	{"Binder", `generated column`, codeGeneratedAlways},
	{"Binder", `(?i)referenced (column|table)|does not have a column|column .* not found`, pgerr.UndefinedColumn},
	{"Binder", `No function matches|does not exist`, codeFunction},
	{"Binder", `Cannot (compare|combine|mix)|Cannot cast`, codeDatatypeMismatch},
	{"Parser", "", pgerr.SyntaxError},
	{"Constraint", `NOT NULL`, codeNotNull},
	{"Constraint", `(?i)foreign key`, codeForeignKey},
	{"Constraint", `(?i)duplicate|unique|primary key`, codeUnique},
	{"Constraint", `CHECK`, codeCheck},
	{"Constraint", "", codeIntegrity},
	{"TransactionContext", `(?i)conflict|failed to commit`, codeSerialization},
	{"Transaction", `(?i)conflict`, codeSerialization},
	{"TransactionContext", "", codeTransactionState},
	{"Transaction", "", codeTransactionState},
	{"Dependency", "", pgerr.DependentObjects},
	{"Permission", "", pgerr.InsufficientPrivilege},
	{"Not implemented", "", pgerr.FeatureNotSupported},
	{"Invalid Input", `magic bytes|too small to be a Parquet|not a valid DuckDB|corrupt`, pgerr.IOError},
	{"Invalid Input", `Error when converting column`, pgerr.InvalidTextRepr},
	{"Invalid Input", `CSV Error|sniffing file|Malformed JSON`, codeFile},
	{"IO", "", pgerr.IOError},
	{"Serialization", "", pgerr.IOError},
}

type compiled struct {
	class, code string
	text        *regexp.Regexp
}

var compiledRules = func() []compiled {
	out := make([]compiled, len(rules))
	for i, r := range rules {
		out[i] = compiled{class: r.class, code: r.code, text: regexp.MustCompile(r.text)}
	}
	return out
}()

// stated matches an error that names its SQLSTATE, as those do that a dialect's SQL and our own functions raise.
var stated = regexp.MustCompile(`^SQLSTATE ([0-9A-Z]{5}): (.*)`)

var prefix = regexp.MustCompile(`^((?:[A-Za-z]+ ){0,3}?[A-Za-z]+) Error: `)

// errorOf makes a Postgres error of DuckDB's message.
func errorOf(message string) *pgconn.PgError {
	class := ""
	if m := prefix.FindStringSubmatch(message); m != nil {
		class, message = m[1], message[len(m[0]):]
	}
	message = clean(message)
	if m := stated.FindStringSubmatch(message); m != nil {
		return pgerr.New(m[1], "%s", m[2])
	}
	for _, r := range compiledRules {
		if (r.class == "" || strings.EqualFold(r.class, class)) && r.text.MatchString(message) {
			return withHint(r.code, message)
		}
	}
	return pgerr.New(pgerr.FdwError, "%s", message)
}

func withHint(code, message string) *pgconn.PgError {
	e := pgerr.New(code, "%s", message)
	switch code {
	case pgerr.NumericOutOfRange:
		if m := integerOverflow.FindStringSubmatch(message); m != nil {
			e.Message = map[string]string{"16": "smallint", "32": "integer", "64": "bigint"}[m[1]] + " out of range"
		}
	case pgerr.QueryCanceled:
		e.Message = "canceling statement due to user request"
	case pgerr.UndefinedFile:
		e.Hint = `Look at the paths in the options "file" and "glob" of the foreign table, and at what the machine of the proxy has.`
	case pgerr.IOError:
		e.Hint = "Look at the file and its disk, on the machine of the proxy."
	case pgerr.ObjectInUse:
		e.Hint = "Another process has the file open. Close it there, or open it read-only everywhere."
	case pgerr.OutOfMemory:
		e.Hint = `Raise the server's option "memory_limit" or "max_temp_directory_size", or lower "threads".`
	}
	return e
}

// integerOverflow matches what Postgres says in fewer words.
var integerOverflow = regexp.MustCompile(`^Overflow in \w+ of INT(16|32|64) `)

// trailers begin the parts of a message that suggest something, show the engine's own SQL or quote the data.
var trailers = []string{
	"Did you mean", "Candidate ", "LINE ", "Stack Trace", "Possible fixes", "Possible solutions", "Original Line",
	"It was not possible to automatically detect", "Expected Number", "HINT:", "This error signals an assertion failure",
	"For more information",
}

// clean keeps the part of a message that says what was wrong.
func clean(message string) string {
	var kept []string
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimSpace(line)
		if slicesHasPrefix(trailers, line) {
			break
		}
		if line != "" {
			kept = append(kept, line)
		}
	}
	return staging.ReplaceAllString(strings.Join(kept, " "), "")
}

// staging matches what names a column of a table that rows are staged in, which nobody else knows.
var staging = regexp.MustCompile(` when casting from source column c[0-9]+`)

func slicesHasPrefix(prefixes []string, line string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}
