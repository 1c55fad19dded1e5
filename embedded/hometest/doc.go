// Package hometest gives tests a home Postgres: one cluster for the test process, one fresh database for each test.
//
// Main runs a package's tests, ends the cluster after them and looks for leaked goroutines. The one rule: a package
// that calls Start has a TestMain that calls Main, for nothing else ends the cluster before the process does.
package hometest
