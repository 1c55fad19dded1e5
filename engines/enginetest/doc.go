// Package enginetest is the conformance that every engine passes: laziness, bounded memory, early stop, back-pressure,
// cancel, failures in mid-stream, a stable schema. A Harness says how to make the engine under test do what a check
// needs; Run runs all checks on it.
//
// Checks are named after the invariants of the design (I2, I5, …). Those about memory run in a child process, which is
// the test binary itself with an environment variable set, and read the peak that the kernel keeps for it.
//
// The one rule: a check that cannot fail is worthless. The package's own tests run all checks on an engine that collects
// a result and then slices it, and demand that it fails.
package enginetest
