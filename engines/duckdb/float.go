package duckdb

import "C"

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// This file has the arithmetic of double precision: that of the hardware, with the errors that Postgres raises where a
// result is infinite or zero and its operands were not.

var (
	errOverflow  = errors.New("SQLSTATE 22003: value out of range: overflow")
	errUnderflow = errors.New("SQLSTATE 22003: value out of range: underflow")
)

//export sluice_float8_add
func sluice_float8_add(info, chunk, out unsafe.Pointer) {
	floats(info, chunk, out, func(a, b float64) (float64, error) { return bounded(a+b, a, b) })
}

//export sluice_float8_subtract
func sluice_float8_subtract(info, chunk, out unsafe.Pointer) {
	floats(info, chunk, out, func(a, b float64) (float64, error) { return bounded(a-b, a, b) })
}

//export sluice_float8_multiply
func sluice_float8_multiply(info, chunk, out unsafe.Pointer) {
	floats(info, chunk, out, func(a, b float64) (float64, error) {
		if r := a * b; r != 0 || a == 0 || b == 0 {
			return bounded(r, a, b)
		}
		return 0, errUnderflow
	})
}

//export sluice_float8_divide
func sluice_float8_divide(info, chunk, out unsafe.Pointer) {
	floats(info, chunk, out, func(a, b float64) (float64, error) {
		r := a / b
		switch {
		case b == 0 && !math.IsNaN(a):
			return 0, errZeroDivision
		case math.IsInf(r, 0) && !math.IsInf(a, 0):
			return 0, errOverflow
		case r == 0 && a != 0 && !math.IsInf(b, 0):
			return 0, errUnderflow
		}
		return r, nil
	})
}

// bounded refuses a result that is infinite where no operand is.
func bounded(r, a, b float64) (float64, error) {
	if math.IsInf(r, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, errOverflow
	}
	return r, nil
}

// floats computes a function of two values for each row.
func floats(info, chunk, out unsafe.Pointer, compute func(a, b float64) (float64, error)) {
	var a, b, results []float64
	perRow(info, chunk, out, func(vectors []vector, r int) (err error) {
		if results == nil {
			a, b = slice[float64](vectors[0].data, vectors[0].rows), slice[float64](vectors[1].data, vectors[0].rows)
			results = slice[float64](bindings.VectorGetData(bindings.Vector{Ptr: out}), vectors[0].rows)
		}
		results[r], err = compute(a[r], b[r])
		return err
	})
}

// sluice_float8_numeric makes a numeric of the 15 digits that a double precision is sure to have.
//
//export sluice_float8_numeric
func sluice_float8_numeric(info, chunk, out unsafe.Pointer) {
	perRow(info, chunk, out, func(vectors []vector, r int) error {
		var n numeric
		if err := n.setFloat(slice[float64](vectors[0].data, vectors[0].rows)[r]); err != nil {
			return err
		}
		bindings.VectorAssignStringElementLen(bindings.Vector{Ptr: out}, bindings.IdxT(r), n.append(nil))
		return nil
	})
}

// setFloat takes on the value of 15 digits.
func (n *numeric) setFloat(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return errNumeric
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', 14, 64)
	mantissa, rest, _ := bytes.Cut(text, []byte("e"))
	exponent, _ := strconv.Atoi(string(rest))
	if err := n.parse(bytes.TrimRight(mantissa, "0")); err != nil {
		return err
	}
	if n.scale -= exponent; n.scale < 0 {
		n.coefficient.Mul(&n.coefficient, power(-n.scale))
		n.scale = 0
	}
	return nil
}
