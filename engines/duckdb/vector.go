package duckdb

import (
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// vector is one column of a chunk, or the elements of a list column: memory of DuckDB's, valid until the chunk is
// destroyed.
type vector struct {
	handle bindings.Vector
	data   unsafe.Pointer
	valid  unsafe.Pointer // one bit a row, set for not NULL, lowest first as in Arrow; nil when no row is NULL
	rows   int
}

func vectorOf(v bindings.Vector, rows int) vector {
	return vector{handle: v, data: bindings.VectorGetData(v), valid: bindings.VectorGetValidity(v), rows: rows}
}

func (v *vector) isValid(i int) bool {
	return v.valid == nil || *(*byte)(unsafe.Add(v.valid, i>>3))&(1<<(i&7)) != 0
}

// slice views n values of DuckDB's memory as Go values. T must be laid out as DuckDB lays out the vector's values.
func slice[T any](p unsafe.Pointer, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(p), n)
}

// raw views n bytes of memory.
func raw(p unsafe.Pointer, n int) []byte { return slice[byte](p, n) }

// bytesOf views a Go slice as bytes.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// stringT is duckdb_string_t: up to 12 bytes stand in the value itself, longer ones behind a pointer after a prefix of
// four.
type stringT struct {
	length uint32
	inline [4]byte
	rest   uint64 // the inlined value's other eight bytes, or a pointer
}

const inlined = 12

// bytes views the string. The pointer is DuckDB's, so the garbage collector does not know it and must not: it is kept
// as an integer and only turned around here.
func (s *stringT) bytes() []byte {
	if s.length <= inlined {
		return unsafe.Slice(&s.inline[0], s.length)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&s.rest)), s.length)
}

// listEntry is duckdb_list_entry: where a list's elements stand in the child vector.
type listEntry struct{ offset, length uint64 }

// hugeint is duckdb_hugeint and, with the upper half unsigned, duckdb_uhugeint.
type hugeint struct {
	lower uint64
	upper int64
}

// typed views bytes, aligned for T, as values.
func typed[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(t)))
}
