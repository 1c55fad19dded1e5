// Package registry is for tests against servers and emulators that come from a package registry. They take minutes the first time, so
// that only `make real` (and `make interop`) asks for them, by SLUICE_REGISTRIES=1; such tests are called TestReal….
//
// The one rule: where a registry cannot be reached, a test is skipped and says why.
package registry
