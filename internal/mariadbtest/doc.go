// Package mariadbtest gives tests a MariaDB server: one for the test process, on the loopback interface, as an unprivileged
// user, with a directory of its own. Where the machine has no MariaDB, tests that need one are skipped with the reason.
//
// The one rule: a package that calls Start has a TestMain that calls hometest.Main, for nothing else ends the server before
// the process does.
package mariadbtest
