// Package clickhousetest gives tests a ClickHouse, one for a test process and its children: by Start the server of Debian's package,
// unpacked and not installed, which is an old one, and by Current a current one, as npm's package of chdb has it.
//
// The one rule: where a package cannot be had, tests that need a server are skipped, and say why.
package clickhousetest
