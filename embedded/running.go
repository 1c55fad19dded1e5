package embedded

import (
	"net"
	"net/url"
	"strconv"
)

// RunningURL returns the connection URL of a database of a home that runs in dir, started by whichever process; false
// where none runs there.
func RunningURL(dir, database string) (string, bool) {
	const portLine, statusLine = 3, 7
	c := cluster{dir: dir}
	lines, ok := c.pidLines()
	if !ok || len(lines) <= statusLine || lines[statusLine] != "ready" {
		return "", false
	}
	pid, _ := c.postmasterPID()
	port, err := strconv.Atoi(lines[portLine])
	if err != nil || !c.isPostmaster(pid) {
		return "", false
	}
	return urlOf(port, database), true
}

// urlOf is the connection URL of a database of a home that listens on a port of this machine.
func urlOf(port int, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User(superuser), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}
