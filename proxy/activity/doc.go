// Package activity knows what a proxy is doing and what it has done: the statements over foreign tables that run and how
// often each has run (Statement), what is being read of which server (Source), and how far long work has come (Task). A Book
// holds all of it in the memory of one proxy, and forgets the statements that have not run for longest.
//
// The one rule: nobody waits for it. Counting is an atomic addition, the end of a statement a short lock.
package activity
