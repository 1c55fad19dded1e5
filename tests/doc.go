// Package tests holds what is tested from a client's side of the socket: pgtest scripts and oracle statements in
// testdata, and Go tests for what neither can say. Each runs against bare Postgres and against the proxy.
//
// The one rule: nothing here knows the proxy's insides. It is reached as a client reaches it, over a socket.
package tests
