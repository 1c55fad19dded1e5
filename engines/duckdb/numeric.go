package duckdb

import (
	"bytes"
	"errors"
	"math/big"
	"strconv"
)

// numeric is a finite value of Postgres' type of that name: coefficient × 10^-scale, the scale being what is displayed.
type numeric struct {
	coefficient big.Int
	scale       int
}

var (
	errNumeric      = errors.New("SQLSTATE 0A000: a value is no plain number")
	errZeroDivision = errors.New("SQLSTATE 22012: division by zero")
)

// parse reads a value as DuckDB prints decimals and integers.
func (n *numeric) parse(text []byte) error {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	digits := append(append(make([]byte, 0, len(text)), whole...), fraction...)
	n.scale = len(fraction)
	if _, ok := n.coefficient.SetString(string(digits), 10); !ok || len(fraction) > 0 && (fraction[0] < '0' || fraction[0] > '9') {
		return errNumeric
	}
	return nil
}

// append prints the value as Postgres does.
func (n *numeric) append(dst []byte) []byte {
	var buf [64]byte
	digits := n.coefficient.Append(buf[:0], 10)
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	for missing := n.scale + 1 - len(digits); missing > 0; missing-- {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - n.scale
	dst = append(dst, digits[:point]...)
	if n.scale > 0 {
		dst = append(append(dst, '.'), digits[point:]...)
	}
	return dst
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// rescale gives the value a larger scale.
func (n *numeric) rescale(scale int) {
	if scale > n.scale {
		n.coefficient.Mul(&n.coefficient, power(scale-n.scale))
		n.scale = scale
	}
}

// display gives the value a smaller scale, which loses nothing but zeros.
func (n *numeric) display(scale int) error {
	if scale < 0 || scale > n.scale {
		return errNumeric
	}
	var rest big.Int
	n.coefficient.QuoRem(&n.coefficient, power(n.scale-scale), &rest)
	if rest.Sign() != 0 {
		return errNumeric
	}
	n.scale = scale
	return nil
}

func add(a, b *numeric) error {
	a.rescale(b.scale)
	b.rescale(a.scale)
	a.coefficient.Add(&a.coefficient, &b.coefficient)
	return nil
}

func subtract(a, b *numeric) error {
	b.coefficient.Neg(&b.coefficient)
	return add(a, b)
}

func multiply(a, b *numeric) error {
	a.coefficient.Mul(&a.coefficient, &b.coefficient)
	a.scale += b.scale
	return nil
}

// divide rounds half away from zero at the scale that Postgres' select_div_scale would choose.
func divide(a, b *numeric) error {
	if b.coefficient.Sign() == 0 {
		return errZeroDivision
	}
	aWeight, aFirst := a.leading()
	bWeight, bFirst := b.leading()
	weight := aWeight - bWeight
	if aFirst <= bFirst {
		weight--
	}
	const significant, base, most = 16, 4, 1000
	scale := min(max(significant-weight*base, a.scale, b.scale, 0), most)
	negative := a.coefficient.Sign()*b.coefficient.Sign() < 0
	x, y := new(big.Int).Abs(&a.coefficient), new(big.Int).Abs(&b.coefficient)
	if shift := scale + b.scale - a.scale; shift >= 0 {
		x.Mul(x, power(shift))
	} else {
		y.Mul(y, power(-shift))
	}
	x.Lsh(x, 1).Add(x, y) // (2x + y) / 2y, rounded down, is x/y rounded half up
	a.coefficient.Quo(x, y.Lsh(y, 1))
	if negative {
		a.coefficient.Neg(&a.coefficient)
	}
	a.scale = scale
	return nil
}

// leading returns the place and the value of the first digit that is not 0 in base 10000, as Postgres stores numerics; 0
// and 0 for 0.
func (n *numeric) leading() (weight, digit int) {
	if n.coefficient.Sign() == 0 {
		return 0, 0
	}
	digits := bytes.TrimPrefix(n.coefficient.Append(nil, 10), []byte("-"))
	exponent := len(digits) - 1 - n.scale
	weight = exponent >> 2 // rounds down
	count := exponent - weight*4 + 1
	for len(digits) < count {
		digits = append(digits, '0')
	}
	digit, _ = strconv.Atoi(string(digits[:count]))
	return weight, digit
}

// appendKey appends a text that compares by bytes as the values do: a sign, the exponent, and the digits without zeros
// at the end, both turned around for negative values.
func (n *numeric) appendKey(dst []byte) []byte {
	sign := n.coefficient.Sign()
	if sign == 0 {
		return append(dst, 'o')
	}
	digits := bytes.TrimPrefix(n.coefficient.Append(nil, 10), []byte("-"))
	const offset = 500_000 // above any exponent of a numeric
	from := len(dst)
	dst = strconv.AppendInt(append(dst, 'p'), int64(offset+len(digits)-n.scale), 10)
	dst = append(dst, bytes.TrimRight(digits, "0")...)
	if sign > 0 {
		return dst
	}
	dst[from] = 'm'
	for i := from + 1; i < len(dst); i++ {
		dst[i] = '0' + '9' - dst[i]
	}
	return append(dst, '~')
}

// round rounds half away from zero to a scale, or fills zeros in.
func round(n *numeric, scale int) {
	if scale >= n.scale {
		n.rescale(scale)
		return
	}
	unit := power(n.scale - scale)
	half := new(big.Int).Rsh(unit, 1)
	if n.coefficient.Sign() < 0 {
		half.Neg(half)
	}
	n.coefficient.Quo(n.coefficient.Add(&n.coefficient, half), unit)
	n.scale = scale
}

// truncate leaves out what is behind a scale, or fills zeros in.
func truncate(n *numeric, scale int) {
	if scale >= n.scale {
		n.rescale(scale)
		return
	}
	n.coefficient.Quo(&n.coefficient, power(n.scale-scale))
	n.scale = scale
}

// variance makes of the number of values, their sum and that of their squares how much they vary, as Postgres does: of a sample,
// or of all there are; squared, or its root.
func variance(count, sum, squares *numeric, sample, root bool) error {
	_ = multiply(sum, sum)
	_ = multiply(squares, count)
	_ = subtract(squares, sum)
	if squares.coefficient.Sign() <= 0 {
		squares.coefficient.SetInt64(0)
		squares.scale = 0
		return nil
	}
	divisor := new(big.Int).Set(&count.coefficient)
	if sample {
		divisor.Sub(divisor, big.NewInt(1))
	}
	count.coefficient.Mul(&count.coefficient, divisor)
	if err := divide(squares, count); err != nil || !root {
		return err
	}
	squares.root()
	return nil
}

// root replaces the value by its square root, rounded at the same scale.
func (n *numeric) root() {
	n.coefficient.Mul(&n.coefficient, power(n.scale+2)) // one digit more than is kept
	n.coefficient.Sqrt(&n.coefficient)
	n.coefficient.Add(&n.coefficient, big.NewInt(5))
	n.coefficient.Quo(&n.coefficient, big.NewInt(10))
}
