//go:build !linux

package mariadbtest

import "syscall"

// dieWithParent does nothing where the kernel cannot do it: a killed proxy leaves its server, and the next Start says
// how to stop it.
func dieWithParent(*syscall.SysProcAttr) {}
