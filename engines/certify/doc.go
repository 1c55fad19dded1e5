// Package certify looks at whether an engine does what engines.Stream promises: laziness, bounded memory, early stop, cancel,
// failures in mid-stream, a stable schema. A Harness says how to make the engine under test do what a check needs. Tests run
// all checks by engines/enginetest; Live runs those that are safe on a server that is in use.
//
// Checks are named after the invariants of the design (I2, I5, …).
//
// The one rule: what is not certified does not count as a capability, whatever an engine says of itself.
package certify
