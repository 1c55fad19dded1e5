package duckdb

/*
#include <stdint.h>
#include <string.h>

void duckdb_unsafe_vector_assign_string_element_len(void *vector, uint64_t index, const char *str, uint64_t len);

// Strings of up to 12 bytes stand in the vector itself, longer ones are copied to its heap.
static void sluice_assign_texts(void *vector, unsigned char *entries, uint64_t at, const int32_t *offsets, const char *bytes, uint64_t n) {
	for (uint64_t i = 0; i < n; i++) {
		uint32_t length = (uint32_t)(offsets[i + 1] - offsets[i]);
		const char *text = bytes + (offsets[i] - offsets[0]);
		if (length > 12) {
			duckdb_unsafe_vector_assign_string_element_len(vector, at + i, text, length);
			continue;
		}
		unsigned char *entry = entries + (at + i) * 16;
		memset(entry, 0, 16);
		memcpy(entry, &length, 4);
		memcpy(entry + 4, text, length);
	}
}
*/
import "C"

import "unsafe"

// assignTexts puts len(offsets)-1 strings into a vector of strings from row at on, by one call for all. Offsets count from
// the first of them; the bytes of the first string stand at the start of bytes. They must be valid for the vector's type.
func (v *sink) assignTexts(at int, offsets []int32, bytes []byte) {
	if len(offsets) < 2 {
		return
	}
	var none [1]byte // a string without bytes needs an address, too
	if len(bytes) == 0 {
		bytes = none[:]
	}
	C.sluice_assign_texts(v.handle.Ptr, (*C.uchar)(v.data), C.uint64_t(at), (*C.int32_t)(unsafe.Pointer(&offsets[0])),
		(*C.char)(unsafe.Pointer(&bytes[0])), C.uint64_t(len(offsets)-1))
}
