// Package archtest holds the tests that read the tree itself: who imports whom, and how large files grow. It has no
// code. The one rule: a limit is moved here, with a reason, or not at all.
package archtest
