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

// fewDigits reads a decimal of at most 18 digits without a text in between: its value in units of the scale. It is false for all
// others, and for what does not fit.
func fewDigits[T string | []byte](text T, precision, scale int) (n int64, ok bool) {
	i, digits, behind := 0, 0, -1
	if len(text) > 0 && text[0] == '-' {
		i = 1
	}
	for ; i < len(text); i++ {
		switch d := text[i]; {
		case d >= '0' && d <= '9':
			n = n*10 + int64(d-'0')
			digits++
			if behind >= 0 {
				behind++
			}
		case d == '.' && behind < 0:
			behind = 0
		default:
			return 0, false
		}
		if digits > 18 {
			return 0, false
		}
	}
	if digits == 0 {
		return 0, false
	}
	for behind = max(behind, 0); behind < scale && digits <= 18; behind++ {
		n *= 10
		digits++
	}
	if digits > 18 || behind > scale || precision < 18 && n >= powers[precision] {
		return 0, false
	}
	if text[0] == '-' {
		n = -n
	}
	return n, true
}

// powers are those of ten.
var powers = func() (list [19]int64) {
	for i := range list {
		list[i] = 1
		for range i {
			list[i] *= 10
		}
	}
	return list
}()

// shortDecimal is fewDigits of a value.
func (c *column) shortDecimal(v driver.Value, precision, scale int) (int64, bool) {
	switch v := v.(type) {
	case float64:
		return shortFloat(v, precision, scale)
	case []byte:
		n, ok := fewDigits(v, precision, scale)
		return n, ok && !c.strict
	case string:
		n, ok := fewDigits(v, precision, scale)
		return n, ok && !c.strict
	}
	return 0, false
}

// shortFloat is fewDigits of a float, spelled with the fewest digits that tell it from others: of 15 digits no other float has the
// same.
func shortFloat(f float64, precision, scale int) (int64, bool) {
	if scale > 15 {
		return 0, false
	}
	unit := float64(powers[scale])
	whole := math.RoundToEven(f * unit) // what is in between is no such decimal
	if !(math.Abs(whole) < 1e15) || whole/unit != f || precision < 15 && math.Abs(whole) >= float64(powers[precision]) {
		return 0, false
	}
	return int64(whole), true
}

func putDecimal(c *column, v driver.Value) error {
	precision, scale, _ := digitsOf(c.field)
	if n, ok := c.shortDecimal(v, precision, scale); ok {
		c.builder.(*array.Decimal128Builder).Append(decimal128.FromI64(n))
		return nil
	}
	text, err := c.decimalText(v)
	if err != nil {
		return err
	}
	if n, ok := fewDigits(text, precision, scale); ok {
		c.builder.(*array.Decimal128Builder).Append(decimal128.FromI64(n))
		return nil
	}
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
