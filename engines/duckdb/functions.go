package duckdb

/*
typedef void (*sluice_function)(void *, void *, void *);
void sluice_numeric_add(void *, void *, void *);
void sluice_numeric_subtract(void *, void *, void *);
void sluice_numeric_multiply(void *, void *, void *);
void sluice_numeric_divide(void *, void *, void *);
void sluice_numeric_round(void *, void *, void *);
void sluice_numeric_trunc(void *, void *, void *);
void sluice_numeric_var_samp(void *, void *, void *);
void sluice_numeric_var_pop(void *, void *, void *);
void sluice_numeric_stddev_samp(void *, void *, void *);
void sluice_numeric_stddev_pop(void *, void *, void *);
void sluice_numeric_display(void *, void *, void *);
void sluice_numeric_key(void *, void *, void *);
void sluice_float8_add(void *, void *, void *);
void sluice_float8_subtract(void *, void *, void *);
void sluice_float8_multiply(void *, void *, void *);
void sluice_float8_divide(void *, void *, void *);
void sluice_float8_numeric(void *, void *, void *);
*/
import "C"

import (
	"slices"
	"strconv"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/pgerr"
)

// This file gives every instance functions for numerics whose scale depends on their values, as that of a quotient does
// in Postgres. Such values are text, which is how results come to the client. The functions stand in DuckDB's system
// catalog, in memory: no database file knows them.

// function is one of them: of so many arguments of one type.
type function struct {
	name             string
	arguments        int
	argument, result bindings.Type
	call             C.sluice_function
}

func ofTexts(name string, arguments int, call unsafe.Pointer) function {
	return function{"sluice_numeric_" + name, arguments, bindings.TypeVarchar, bindings.TypeVarchar, C.sluice_function(call)}
}

func ofFloats(name string, call unsafe.Pointer) function {
	return function{"sluice_float8_" + name, 2, bindings.TypeDouble, bindings.TypeDouble, C.sluice_function(call)}
}

var functions = []function{
	ofTexts("add", 2, C.sluice_numeric_add),
	ofTexts("subtract", 2, C.sluice_numeric_subtract),
	ofTexts("multiply", 2, C.sluice_numeric_multiply),
	ofTexts("divide", 2, C.sluice_numeric_divide),
	ofTexts("round", 2, C.sluice_numeric_round),
	ofTexts("trunc", 2, C.sluice_numeric_trunc),
	ofTexts("var_samp", 3, C.sluice_numeric_var_samp),
	ofTexts("var_pop", 3, C.sluice_numeric_var_pop),
	ofTexts("stddev_samp", 3, C.sluice_numeric_stddev_samp),
	ofTexts("stddev_pop", 3, C.sluice_numeric_stddev_pop),
	ofTexts("display", 2, C.sluice_numeric_display),
	ofTexts("key", 1, C.sluice_numeric_key),
	ofFloats("add", C.sluice_float8_add),
	ofFloats("subtract", C.sluice_float8_subtract),
	ofFloats("multiply", C.sluice_float8_multiply),
	ofFloats("divide", C.sluice_float8_divide),
	{"sluice_float8_numeric", 1, bindings.TypeDouble, bindings.TypeVarchar, C.sluice_function(C.sluice_float8_numeric)},
}

// register gives the instance its functions. NULL is what they make of NULL, by DuckDB's default.
func (c *connection) register() error {
	for _, f := range functions {
		argument, result := bindings.CreateLogicalType(f.argument), bindings.CreateLogicalType(f.result)
		scalar := bindings.CreateScalarFunction()
		bindings.ScalarFunctionSetName(scalar, f.name)
		for range f.arguments {
			bindings.ScalarFunctionAddParameter(scalar, argument)
		}
		bindings.ScalarFunctionSetReturnType(scalar, result)
		bindings.ScalarFunctionSetFunction(scalar, unsafe.Pointer(f.call))
		state := bindings.RegisterScalarFunction(c.handle, scalar)
		bindings.DestroyScalarFunction(&scalar)
		bindings.DestroyLogicalType(&argument)
		bindings.DestroyLogicalType(&result)
		if state == bindings.StateError {
			return pgerr.New(pgerr.InternalError, "DuckDB refuses function %s", f.name)
		}
	}
	return nil
}

//export sluice_numeric_add
func sluice_numeric_add(info, chunk, out unsafe.Pointer) { pairwise(info, chunk, out, add) }

//export sluice_numeric_subtract
func sluice_numeric_subtract(info, chunk, out unsafe.Pointer) { pairwise(info, chunk, out, subtract) }

//export sluice_numeric_multiply
func sluice_numeric_multiply(info, chunk, out unsafe.Pointer) { pairwise(info, chunk, out, multiply) }

//export sluice_numeric_divide
func sluice_numeric_divide(info, chunk, out unsafe.Pointer) { pairwise(info, chunk, out, divide) }

// pairwise computes a function of two values for each row.
func pairwise(info, chunk, out unsafe.Pointer, compute func(a, b *numeric) error) {
	each(info, chunk, out, func(dst []byte, row [][]byte) ([]byte, error) {
		var a, b numeric
		err := a.parse(row[0])
		if err == nil {
			err = b.parse(row[1])
		}
		if err == nil {
			err = compute(&a, &b)
		}
		return a.append(dst), err
	})
}

//export sluice_numeric_round
func sluice_numeric_round(info, chunk, out unsafe.Pointer) { scaled(info, chunk, out, round) }

//export sluice_numeric_trunc
func sluice_numeric_trunc(info, chunk, out unsafe.Pointer) { scaled(info, chunk, out, truncate) }

// scaled brings the value in each row to a scale, the second argument.
func scaled(info, chunk, out unsafe.Pointer, compute func(n *numeric, scale int)) {
	each(info, chunk, out, func(dst []byte, row [][]byte) ([]byte, error) {
		var a numeric
		err := a.parse(row[0])
		if scale, _ := strconv.Atoi(string(row[1])); err == nil {
			compute(&a, scale)
		}
		return a.append(dst), err
	})
}

//export sluice_numeric_var_samp
func sluice_numeric_var_samp(info, chunk, out unsafe.Pointer) {
	variances(info, chunk, out, true, false)
}

//export sluice_numeric_var_pop
func sluice_numeric_var_pop(info, chunk, out unsafe.Pointer) {
	variances(info, chunk, out, false, false)
}

//export sluice_numeric_stddev_samp
func sluice_numeric_stddev_samp(info, chunk, out unsafe.Pointer) {
	variances(info, chunk, out, true, true)
}

//export sluice_numeric_stddev_pop
func sluice_numeric_stddev_pop(info, chunk, out unsafe.Pointer) {
	variances(info, chunk, out, false, true)
}

// variances finishes an aggregate over a number of values, their sum and that of their squares.
func variances(info, chunk, out unsafe.Pointer, sample, root bool) {
	each(info, chunk, out, func(dst []byte, row [][]byte) ([]byte, error) {
		var parts [3]numeric
		for i := range parts {
			if err := parts[i].parse(row[i]); err != nil {
				return dst, err
			}
		}
		err := variance(&parts[0], &parts[1], &parts[2], sample, root)
		return parts[2].append(dst), err
	})
}

// sluice_numeric_display leaves out the zeros behind a scale, which is the second argument.
//
//export sluice_numeric_display
func sluice_numeric_display(info, chunk, out unsafe.Pointer) {
	each(info, chunk, out, func(dst []byte, row [][]byte) ([]byte, error) {
		var a numeric
		err := a.parse(row[0])
		if scale, _ := strconv.Atoi(string(row[1])); err == nil {
			err = a.display(scale)
		}
		return a.append(dst), err
	})
}

//export sluice_numeric_key
func sluice_numeric_key(info, chunk, out unsafe.Pointer) {
	each(info, chunk, out, func(dst []byte, row [][]byte) ([]byte, error) {
		var a numeric
		err := a.parse(row[0])
		return a.appendKey(dst), err
	})
}

// each computes one text for each row of a chunk of texts.
func each(info, chunk, out unsafe.Pointer, compute func(dst []byte, row [][]byte) ([]byte, error)) {
	var row [][]byte
	var buf []byte
	perRow(info, chunk, out, func(vectors []vector, r int) (err error) {
		row = row[:0]
		for i := range vectors {
			row = append(row, slice[stringT](vectors[i].data, vectors[i].rows)[r].bytes())
		}
		if buf, err = compute(buf[:0], row); err == nil {
			bindings.VectorAssignStringElementLen(bindings.Vector{Ptr: out}, bindings.IdxT(r), buf)
		}
		return err
	})
}

// perRow computes the value of each row of a chunk; it is NULL where any argument is.
func perRow(info, chunk, out unsafe.Pointer, compute func(vectors []vector, r int) error) {
	in := bindings.DataChunk{Ptr: chunk}
	rows := int(bindings.DataChunkGetSize(in))
	result := bindings.Vector{Ptr: out}
	vectors := make([]vector, bindings.DataChunkGetColumnCount(in))
	for i := range vectors {
		vectors[i] = vectorOf(bindings.DataChunkGetVector(in, bindings.IdxT(i)), rows)
	}
	for r := range rows {
		if slices.ContainsFunc(vectors, func(v vector) bool { return !v.isValid(r) }) {
			bindings.VectorEnsureValidityWritable(result)
			bindings.ValiditySetRowInvalid(bindings.VectorGetValidity(result), bindings.IdxT(r))
			continue
		}
		if err := compute(vectors, r); err != nil {
			bindings.ScalarFunctionSetError(bindings.FunctionInfo{Ptr: info}, err.Error())
			return
		}
	}
}
