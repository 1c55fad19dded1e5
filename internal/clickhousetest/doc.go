// Package clickhousetest gives tests a ClickHouse: the server of Debian's package, unpacked and not installed, one for a test
// process and its children.
//
// The one rule: where the package cannot be had, tests that need a server are skipped, and say why.
package clickhousetest
