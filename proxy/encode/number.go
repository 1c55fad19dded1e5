package encode

import (
	"encoding/binary"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// Limits of a numeric without typmod.
const (
	maxWhole    = 131072
	maxFraction = 16383
)

// number is a decimal number taken apart.
type number struct {
	negative bool
	digits   []byte // at least one
	scale    int    // how many of them stand behind the point
}

// parseNumber reads a number as JSON or a numeric's text form writes it.
func parseNumber(s string) (number, error) {
	var n number
	rest := s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		n.negative, rest = rest[0] == '-', rest[1:]
	}
	exp := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		var err error
		if exp, err = parseExponent(s, rest[at+1:]); err != nil {
			return n, err
		}
		rest = rest[:at]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	n.digits = []byte(whole + fraction)
	n.scale = len(fraction) - exp
	for _, d := range n.digits {
		if d < '0' || d > '9' {
			return n, invalidNumber(s)
		}
	}
	if len(n.digits) == 0 {
		return n, invalidNumber(s)
	}
	if n.scale < 0 {
		n.digits, n.scale = shift(trimLeading(n.digits), -n.scale), 0
	}
	if significant(n.digits)-n.scale > maxWhole || n.scale > maxFraction {
		return n, tooManyDigits()
	}
	return n, nil
}

func invalidNumber(s string) error {
	return pgerr.New(pgerr.InvalidTextRepr, "invalid input syntax for type numeric: %q", s)
}

func tooManyDigits() error {
	return pgerr.New(pgerr.NumericOutOfRange, "value overflows numeric format")
}

// parseExponent reads the exponent of a number, and refuses one that no numeric has.
func parseExponent(number, s string) (int, error) {
	digits := s
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if digits == "" {
		return 0, invalidNumber(number)
	}
	n := 0
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return 0, invalidNumber(number)
		}
		if n = n*10 + int(d-'0'); n > 2*maxWhole {
			return 0, tooManyDigits()
		}
	}
	if s[0] == '-' {
		return -n, nil
	}
	return n, nil
}

// special are the values of a numeric that are no numbers: how engines spell them, how Postgres does, and their sign
// word in binary.
var special = map[string]struct {
	text string
	sign uint16
}{
	"nan": {"NaN", 0xc000},
	"inf": {"Infinity", 0xd000}, "+inf": {"Infinity", 0xd000}, "infinity": {"Infinity", 0xd000},
	"-inf": {"-Infinity", 0xf000}, "-infinity": {"-Infinity", 0xf000},
}

// numericText binds numerics that come as text, because the engine has no decimal that is wide enough.
func numericText(c column) cell {
	texts, _ := stringsOf(c)
	t := numericTypeOf(c.field.Typmod)
	return func(dst []byte, i int) ([]byte, error) {
		s := string(texts.value(i))
		n, err := parseNumber(s)
		if err == nil {
			return appendNumeric(dst, n.digits, n.scale, n.negative, t, c.binary)
		}
		special, ok := special[strings.ToLower(s)]
		if !ok {
			return dst, err
		}
		if t.limited && special.text != "NaN" {
			return dst, pgerr.Detail(pgerr.New(pgerr.NumericOutOfRange, "numeric field overflow"),
				"A field with precision %d, scale %d cannot hold an infinite value.", t.precision, t.scale)
		}
		if c.binary {
			dst = binary.BigEndian.AppendUint32(dst, 0)
			dst = binary.BigEndian.AppendUint16(dst, special.sign)
			scale := uint16(0)
			if special.sign != 0xc000 {
				scale = infiniteScale
			}
			return binary.BigEndian.AppendUint16(dst, scale), nil
		}
		return append(dst, special.text...), nil
	}
}

// infiniteScale is what Postgres sends as display scale of an infinite numeric.
const infiniteScale = 0x20
