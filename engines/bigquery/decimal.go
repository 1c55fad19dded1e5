package bigquery

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// digitsOf returns precision and scale of numeric(p,s), false for what has none, or a scale that decimals do not have.
func digitsOf(f engines.Field) (precision, scale int, ok bool) {
	if f.Typmod < 4 {
		return 0, 0, false
	}
	t := f.Typmod - 4
	precision, scale = int(t>>16)&0xffff, int(t&0x7ff)
	return precision, scale, scale <= precision
}

// decimals brings numbers to the digits that home has for the column, rounded as Postgres rounds.
func decimals(f engines.Field, a arrow.Array) (arrow.Array, error) {
	precision, scale, _ := digitsOf(f)
	out := make([]decimal128.Num, a.Len())
	value, from := valuesOf(a)
	for i := range out {
		if a.IsNull(i) {
			continue
		}
		n, ok := value(i, from-scale)
		if !ok || !n.FitsInPrecision(int32(precision)) {
			e := pgerr.New(pgerr.NumericOutOfRange, "numeric field overflow")
			return nil, inColumn(f, pgerr.Detail(e, "A field with precision %d, scale %d does not hold the value.", precision, scale))
		}
		out[i] = n
	}
	return like(&arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, a, arrow.GetBytes(out)), nil
}

// valuesOf returns how a value is read with so many digits less behind the point, and how many it has.
func valuesOf(a arrow.Array) (value func(i, less int) (decimal128.Num, bool), scale int) {
	if a, ok := a.(*array.Decimal256); ok {
		return func(i, less int) (decimal128.Num, bool) { return shortened(a.Value(i).BigInt(), less) }, int(a.DataType().(*arrow.Decimal256Type).Scale)
	}
	d := a.(*array.Decimal128)
	return func(i, less int) (decimal128.Num, bool) {
		n := d.Value(i)
		if less < 0 || less > 18 || n.HighBits() == -1<<63 {
			return shortened(n.BigInt(), less)
		}
		return rounded(n, less), true
	}, int(d.DataType().(*arrow.Decimal128Type).Scale)
}

// rounded leaves out digits, at most 18, which half of one away from zero makes one more.
func rounded(n decimal128.Num, less int) decimal128.Num {
	if less == 0 {
		return n
	}
	negative := n.Sign() < 0
	if negative {
		n = n.Negate()
	}
	by := uint64(1)
	for range less {
		by *= 10
	}
	hi := uint64(n.HighBits())
	top, rest := hi/by, hi%by
	low, rest := bits.Div64(rest, n.LowBits(), by)
	if rest >= by-rest {
		var carry uint64
		low, carry = bits.Add64(low, 1, 0)
		top += carry
	}
	if n = decimal128.New(int64(top), low); negative {
		n = n.Negate()
	}
	return n
}

// shortened is rounded for numbers of any size, and for digits that are added; false where the result is too large.
func shortened(n *big.Int, less int) (decimal128.Num, bool) {
	by := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(less, -less))), nil)
	switch {
	case less < 0:
		n.Mul(n, by)
	case less > 0:
		sign := big.NewInt(int64(n.Sign()))
		rest := new(big.Int)
		n.QuoRem(n, by, rest)
		if rest.Abs(rest).Lsh(rest, 1).Cmp(by) >= 0 {
			n.Add(n, sign)
		}
	}
	if n.BitLen() > 127 {
		return decimal128.Num{}, false
	}
	return decimal128.FromBigInt(n), true
}
