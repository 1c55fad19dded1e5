package clickhouse

import (
	"net"

	"github.com/sluicedb/sluice/pgerr"
)

// native is the protocol that ClickHouse's own client speaks.
type native struct {
	config *config
	socket net.Conn
	in     reader
}

// Revisions of the protocol. Servers of any later one adapt to the one spoken, which is so old that the server sends columns of
// dictionaries as plain ones, and says how its own settings are written.
const (
	revision      = 54404
	leastRevision = 54401 // has all that hello sends
)

// Packets of clients and servers.
const (
	clientHello, clientQuery, clientData, clientCancel, clientPing = 0, 1, 2, 3, 4

	serverHello, serverData, serverException, serverProgress, serverPong, serverEnd = 0, 1, 2, 3, 4, 5
	serverProfile, serverTotals, serverExtremes, serverLog                          = 6, 7, 8, 10
)

// hello logs in.
func (c *native) hello() error {
	out := appendSizes(nil, clientHello)
	out = appendText(out, clientName)
	out = appendSizes(out, 1, 0, revision)
	out = appendTexts(out, c.config.database, c.config.user, c.config.password)
	if _, err := c.socket.Write(out); err != nil {
		return err
	}
	packet, err := c.in.size()
	switch {
	case err != nil:
		return err
	case packet == serverException:
		return c.exception()
	case packet != serverHello:
		return malformed()
	}
	return c.welcome()
}

const clientName = "sluice"

// welcome reads what the server says of itself.
func (c *native) welcome() error {
	if _, err := c.in.text(); err != nil {
		return err
	}
	var numbers [3]uint64 // the version's major and minor number, the revision
	for i := range numbers {
		var err error
		if numbers[i], err = c.in.size(); err != nil {
			return err
		}
	}
	if numbers[2] < leastRevision {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "ClickHouse %d.%d is too old", numbers[0], numbers[1]), "Upgrade the server to 18.16 or later.")
	}
	for range 2 { // time zone, name
		if _, err := c.in.text(); err != nil {
			return err
		}
	}
	_, err := c.in.size() // the last part of the version
	return err
}

// leave tells the server to stop, which notices a closed socket too.
func (c *native) leave() { _, _ = c.socket.Write([]byte{clientCancel}) }

// binds is false: in the revision that is spoken there are no parameters.
func (c *native) binds() bool { return false }

// reusable is true: the end of a statement is a packet.
func (c *native) reusable() bool { return true }

// ping asks for a sign of life.
func (c *native) ping() error {
	if _, err := c.socket.Write([]byte{clientPing}); err != nil {
		return err
	}
	for {
		packet, err := c.in.size()
		switch {
		case err != nil:
			return err
		case packet == serverPong:
			return nil
		case packet == serverProgress: // of a statement that has ended
			err = c.sizes(3)
		default:
			err = malformed()
		}
		if err != nil {
			return err
		}
	}
}

// sizes skips so many numbers.
func (c *native) sizes(n int) error {
	for range n {
		if _, err := c.in.size(); err != nil {
			return err
		}
	}
	return nil
}
