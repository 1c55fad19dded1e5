// Package startup does everything between accept and the moment a client is logged in at home: TLS, the startup packet,
// and authentication on both legs. Accept takes a client's connection to a Result; Dial, SendCancel and Result.OpenSide
// reach home without a client.
//
// Home decides who may log in: it is asked with the client's own parameters, and what it asks for is either answered
// here (SCRAM, with the role's verifier, which yields the key that logs in to home) or relayed to the client. A home
// that lets the proxy in without asking (trust, peer, or a certificate of the proxy's) lets every client in that
// Config.Admit does not stop.
//
// The one rule: no password is ever seen here unless home asked for one in clear or md5, and none is ever kept.
package startup
