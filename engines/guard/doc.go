// Package guard stands between the proxy and each engine. An Engine of it is one server as one role logs in to it, whatever
// becomes of its definition and its secrets: it bounds how many sessions use the server at once (gate), stops asking a server
// that cannot be reached (breaker), opens what it guards anew when options or files with secrets change (renewal), and knows
// how the server is (Health).
//
// The one rule: nobody waits for himself. A session that holds a permit takes no second one, and a circle of sessions that
// wait for one another is let go on.
package guard
