package duckdb

/*
#include <malloc.h>

// Blocks from 128 KiB on come from the kernel and go back to it when they are freed. Left to itself, the C library
// raises that bound with each large block that is freed, up to 32 MiB, and keeps what was freed below it.
static void sluice_limit_heap(void) {
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
	mallopt(M_ARENA_MAX, 4);
#endif
}
*/
import "C"

// DuckDB allocates with the C library, in this process.
func init() { C.sluice_limit_heap() }
