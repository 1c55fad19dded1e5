package dialect

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

var bigTypes = map[uint32]string{
	boolOID: "BOOL", byteaOID: "BYTES", int8OID: "INT64", int2OID: "INT64", int4OID: "INT64", float4OID: "FLOAT64", float8OID: "FLOAT64",
	dateOID: "DATE", timeOID: "TIME", timestampOID: "DATETIME", timestamptzOID: "TIMESTAMP",
}

// Type returns the type of masks, NULLs, literals and parameters. It has no digits: these are the columns' alone.
func (BigQuery) Type(oid uint32, typmod int32) string {
	if t := bigTypes[oid]; t != "" {
		return t
	}
	if precision, scale, ok := numericTypmod(typmod); ok && oid == numericOID && scale >= 0 && scale <= precision && precision <= MostDigits {
		if scale <= 9 && precision-scale <= 29 {
			return "NUMERIC"
		}
		return "BIGNUMERIC"
	}
	return "STRING"
}

// bigBase is the remote type of a column without its parameters; empty where that is not known.
func bigBase(c *catalog.Column) string {
	t := strings.TrimSpace(c.Options["remote_type"])
	if at := strings.IndexAny(t, "(< "); at >= 0 {
		t = t[:at]
	}
	return strings.ToUpper(t)
}

// Computes takes columns whose values at the service are those at home, as far as these are of types in the table. A text of a collation
// is equal to others than itself, and char(n) has no blanks at its end at home.
func (BigQuery) Computes(c *catalog.Column) bool {
	base, t := bigBase(c), Type{OID: c.Type, Typmod: c.Typmod}
	switch {
	case t.IsInt():
		return base == "INT64"
	case t.IsText():
		return base == "STRING" && !strings.Contains(strings.ToUpper(c.Options["remote_type"]), "COLLATE")
	case t.OID == numericOID:
		return bigDigits(c) == t.Typmod && base == (BigQuery{}).Type(t.OID, t.Typmod)
	}
	return base != "" && base == map[uint32]string{boolOID: "BOOL", dateOID: "DATE", timestampOID: "DATETIME", timestamptzOID: "TIMESTAMP"}[t.OID] && !strings.Contains(c.Options["remote_type"], "(")
}

var bigDigitsForm = regexp.MustCompile(`^(?i:BIG)?(?i:NUMERIC)(?:\((\d+)(?:, ?(\d+))?\))?$`)

// bigDigits is the modifier that a remote column of numbers has at home, 0 where home has no decimal for it.
func bigDigits(c *catalog.Column) int32 {
	m := bigDigitsForm.FindStringSubmatch(strings.TrimSpace(c.Options["remote_type"]))
	switch {
	case m == nil:
		return 0
	case m[1] == "" && bigBase(c) == "NUMERIC":
		return Decimal(38, 9).Typmod
	}
	precision, _ := strconv.Atoi(m[1])
	scale, _ := strconv.Atoi(m[2])
	if precision < 1 || precision > MostDigits {
		return 0
	}
	return Decimal(precision, scale).Typmod
}

// bigSpelled are the types whose literals the service has words for.
var bigSpelled = map[uint32]bool{dateOID: true, timestampOID: true, timestamptzOID: true, numericOID: true}

// Constant prints a literal that is a constant to the service already when it looks for the partitions to read.
func (d BigQuery) Constant(text string, t Type) (string, bool) {
	switch {
	case t.IsInt():
		n, err := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(n, 10), err == nil
	case t.OID == boolOID:
		return strconv.FormatBool(text[0] == 't'), true
	case bigSpelled[t.OID]:
		return d.Type(t.OID, t.Typmod) + " " + d.Literal(text), true
	}
	return "", false
}

// Parameter casts a value to the type that it is bound with.
func (d BigQuery) Parameter(placeholder string, t Type) (string, func(string) bool, bool) {
	sql := "CAST(" + placeholder + " AS " + d.Type(t.OID, t.Typmod) + ")"
	switch {
	case t.IsInt(), t.IsText(), t.OID == boolOID, t.OID == dateOID, t.OID == timestampOID, t.OID == numericOID:
		return sql, nil, true
	case t.OID == timestamptzOID:
		return sql, isBigMoment, true
	}
	return "", nil, false
}

// isBigMoment leaves out the years at the ends of the service's, which another time zone may reach beyond.
func isBigMoment(text string) bool {
	return !strings.HasPrefix(text, "0001") && !strings.HasPrefix(text, "9999")
}
