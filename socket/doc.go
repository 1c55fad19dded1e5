// Package socket reads from and writes to connections by system calls that the Go scheduler is not told of.
//
// The scheduler takes any system call for one that may block, and wakes the thread that looks after those when the process
// has been idle before. A relay is idle before nearly every message, so that it spent a third of its time on this. But the
// sockets of package net never block: where there is nothing to read, or no room, the goroutine waits for the poller, as ever.
package socket
