package duckdb

/*
typedef void (*sluice_function)(void *, void *, void *);
void sluice_numeric_add(void *, void *, void *);
void sluice_numeric_subtract(void *, void *, void *);
void sluice_numeric_multiply(void *, void *, void *);
void sluice_numeric_divide(void *, void *, void *);
void sluice_numeric_display(void *, void *, void *);
void sluice_numeric_key(void *, void *, void *);
*/
import "C"

import (
	"strconv"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/pgerr"
)

// This file gives every instance functions for numerics whose scale depends on their values, as that of a quotient does
// in Postgres. Such values are text, which is how results come to the client. The functions stand in DuckDB's system
// catalog, in memory: no database file knows them.

var functions = []struct {
	name      string
	arguments int
	call      C.sluice_function
}{
	{"sluice_numeric_add", 2, C.sluice_function(C.sluice_numeric_add)},
	{"sluice_numeric_subtract", 2, C.sluice_function(C.sluice_numeric_subtract)},
	{"sluice_numeric_multiply", 2, C.sluice_function(C.sluice_numeric_multiply)},
	{"sluice_numeric_divide", 2, C.sluice_function(C.sluice_numeric_divide)},
	{"sluice_numeric_display", 2, C.sluice_function(C.sluice_numeric_display)},
	{"sluice_numeric_key", 1, C.sluice_function(C.sluice_numeric_key)},
}

// register gives the instance its functions. NULL is what they make of NULL, by DuckDB's default.
func (c *connection) register() error {
	text := bindings.CreateLogicalType(bindings.TypeVarchar)
	defer bindings.DestroyLogicalType(&text)
	for _, f := range functions {
		scalar := bindings.CreateScalarFunction()
		bindings.ScalarFunctionSetName(scalar, f.name)
		for range f.arguments {
			bindings.ScalarFunctionAddParameter(scalar, text)
		}
		bindings.ScalarFunctionSetReturnType(scalar, text)
		bindings.ScalarFunctionSetFunction(scalar, unsafe.Pointer(f.call))
		state := bindings.RegisterScalarFunction(c.handle, scalar)
		bindings.DestroyScalarFunction(&scalar)
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

// each computes one text for each row of a chunk of texts, NULL where any of them is.
func each(info, chunk, out unsafe.Pointer, compute func(dst []byte, row [][]byte) ([]byte, error)) {
	in := bindings.DataChunk{Ptr: chunk}
	rows := int(bindings.DataChunkGetSize(in))
	result := bindings.Vector{Ptr: out}
	vectors := make([]vector, bindings.DataChunkGetColumnCount(in))
	for i := range vectors {
		vectors[i] = vectorOf(bindings.DataChunkGetVector(in, bindings.IdxT(i)), rows)
	}
	row := make([][]byte, len(vectors))
	var buf []byte
	for r := range rows {
		null := false
		for i := range vectors {
			if null = null || !vectors[i].isValid(r); !null {
				row[i] = slice[stringT](vectors[i].data, rows)[r].bytes()
			}
		}
		if null {
			bindings.VectorEnsureValidityWritable(result)
			bindings.ValiditySetRowInvalid(bindings.VectorGetValidity(result), bindings.IdxT(r))
			continue
		}
		var err error
		if buf, err = compute(buf[:0], row); err != nil {
			bindings.ScalarFunctionSetError(bindings.FunctionInfo{Ptr: info}, err.Error())
			return
		}
		bindings.VectorAssignStringElementLen(result, bindings.IdxT(r), buf)
	}
}
