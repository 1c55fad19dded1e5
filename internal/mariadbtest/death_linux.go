package mariadbtest

import "syscall"

// dieWithParent has the kernel ask the server for a fast shutdown if the proxy dies without stopping it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
