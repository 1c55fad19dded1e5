package sqldb

import (
	"database/sql/driver"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/sluicedb/sluice/pgerr"
)

// numberText spells a number in full; false for what is none.
func numberText(v driver.Value) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32), !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
	}
	return "", false
}

// isNumeric reports whether a text is a number: digits with a point, and perhaps an exponent.
func isNumeric(text string) bool {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	if scientific {
		if _, err := strconv.Atoi(exponent); err != nil {
			return false
		}
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	return whole+fraction != "" && strings.Trim(whole+fraction, "0123456789") == ""
}

// decimalText spells a value as a decimal without an exponent.
func (c *column) decimalText(v driver.Value) (string, error) {
	text, ok := numberText(v)
	if !ok {
		if text, ok = c.textOf(v); !ok || c.strict || !isNumeric(text) || strings.ContainsAny(text, "eE") {
			return "", c.misfit(v)
		}
	}
	return text, nil
}

// digits returns the digits of a decimal before and behind the point, without zeros that say nothing.
func digits(text string) (negative bool, whole, fraction string) {
	whole, fraction, _ = strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return strings.HasPrefix(text, "-"), strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
}

// fitting refuses a decimal that the column's type would round or cannot hold.
func (c *column) fitting(text, whole, fraction string, precision, scale int) error {
	if len(fraction) > scale {
		return pgerr.Hint(pgerr.New(pgerr.NumericOutOfRange, "%s has more than the %d digits behind the point of column %q", cut(text), scale, c.field.Name),
			"Declare the column with the scale that its values have at the foreign server.")
	}
	if len(whole) > precision-scale {
		return c.outOfRange(text)
	}
	return nil
}

func putDecimal(c *column, v driver.Value) error {
	text, err := c.decimalText(v)
	if err != nil {
		return err
	}
	precision, scale, _ := digitsOf(c.field)
	negative, whole, fraction := digits(text)
	if err := c.fitting(text, whole, fraction, precision, scale); err != nil {
		return err
	}
	n := decimal128.FromU64(0)
	ten := decimal128.FromU64(10)
	for _, d := range whole + fraction + strings.Repeat("0", scale-len(fraction)) {
		n = n.Mul(ten).Add(decimal128.FromU64(uint64(d - '0')))
	}
	if negative {
		n = n.Negate()
	}
	c.builder.(*array.Decimal128Builder).Append(n)
	return nil
}

// putNumericText takes numerics that have no bounds, or more digits than decimals, spelled as Postgres does: with the scale
// that the type has, or else that the value came with.
func putNumericText(c *column, v driver.Value) error {
	text, err := c.decimalText(v)
	if err != nil {
		return err
	}
	negative, whole, fraction := digits(text)
	precision, scale, bounded := digitsOf(c.field)
	switch {
	case bounded:
		if err := c.fitting(text, whole, fraction, precision, scale); err != nil {
			return err
		}
	case c.field.Typmod >= 4:
		return pgerr.New(pgerr.FeatureNotSupported, "column %q has a negative scale, or one larger than its precision", c.field.Name)
	default:
		_, all, _ := strings.Cut(text, ".")
		scale = len(all)
	}
	sign := ""
	if negative && whole+fraction != "" {
		sign = "-"
	}
	if whole == "" {
		whole = "0"
	}
	if text = sign + whole; scale > 0 {
		text += "." + fraction + strings.Repeat("0", scale-len(fraction))
	}
	c.builder.(*array.StringBuilder).Append(text)
	return nil
}
