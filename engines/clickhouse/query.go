package clickhouse

import (
	"crypto/rand"
	"encoding/hex"
	"os"

	"github.com/sluicedb/sluice/engines"
)

// statement is what a server is sent.
type statement struct {
	sql        string
	parameters []string // values of $1…$n that stand beside it
	tag        engines.Tag
	settings   []setting
}

// start sends a statement.
func (c *native) start(s statement) error {
	out := appendSizes(nil, clientQuery)
	out = appendText(out, queryID(s.tag))
	out = append(out, 1) // of a client's own
	out = appendTexts(out, "", "", "0.0.0.0:0")
	out = append(out, 1) // over TCP
	host, _ := os.Hostname()
	out = appendTexts(out, "", host, clientName)
	out = appendSizes(out, 1, 0, revision)
	out = appendText(out, "") // quota key
	out = appendSizes(out, 0) // the last part of the version
	for _, o := range s.settings {
		out = appendSizes(appendText(out, o.name), o.value)
	}
	out = appendText(out, "")
	out = appendSizes(out, stageComplete, 0) // not compressed
	out = appendText(out, s.tag.Comment()+s.sql)
	_, err := c.socket.Write(appendNoData(out))
	return err
}

const stageComplete = 2

// queryID names a statement in the server's lists and logs. Streams of one statement of a client's have names that begin alike.
func queryID(tag engines.Tag) string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	if tag.ID != "" {
		return tag.ID + "-" + hex.EncodeToString(b[:4])
	}
	return "sluice-" + hex.EncodeToString(b[:])
}

// appendNoData is the empty block that says that a statement brings no tables along.
func appendNoData(out []byte) []byte {
	out = appendText(appendSizes(out, clientData), "")
	out = append(out, 1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0)
	return appendSizes(out, 0, 0)
}

// block reads on to the next block of rows, whose columns take fills: false at the statement's end.
func (c *native) block(take func(r *reader) (rows int, err error)) (rows int, more bool, err error) {
	for {
		packet, err := c.in.size()
		if err != nil {
			return 0, false, err
		}
		switch packet {
		case serverData:
			rows, err := c.data(take)
			return rows, true, err
		case serverEnd:
			return 0, false, nil
		case serverException:
			return 0, false, c.exception()
		case serverProgress:
			err = c.sizes(3)
		case serverProfile:
			err = c.profile()
		case serverTotals, serverExtremes, serverLog:
			_, err = c.data(ignore)
		default:
			err = malformed()
		}
		if err != nil {
			return 0, false, err
		}
	}
}

// data reads a block behind its packet's number: a name, what is said of it, and its columns.
func (c *native) data(take func(r *reader) (int, error)) (int, error) {
	if _, err := c.in.text(); err != nil {
		return 0, err
	}
	for {
		field, err := c.in.size()
		switch {
		case err != nil:
			return 0, err
		case field == 1:
			err = c.in.skip(1)
		case field == 2:
			err = c.in.skip(4)
		case field == 0:
			c.in.left = maxBlock
			rows, err := take(&c.in)
			return rows, whole(err)
		default:
			err = malformed()
		}
		if err != nil {
			return 0, err
		}
	}
}

// ignore reads a block that nobody wants, whatever its columns are.
func ignore(r *reader) (int, error) {
	columns, rows, err := header(r)
	for i := 0; err == nil && i < columns; i++ {
		var col *column
		if col, err = readColumn(r); err == nil {
			err = col.load(r, rows)
		}
	}
	return rows, err
}

// profile skips what the server tells at the end.
func (c *native) profile() error {
	if err := c.sizes(3); err != nil {
		return err
	}
	if err := c.in.skip(1); err != nil {
		return err
	}
	if err := c.sizes(1); err != nil {
		return err
	}
	return c.in.skip(1)
}

// exception reads an error: the outermost one, and what it was caused by.
func (c *native) exception() error {
	var first error
	for {
		code, err := c.in.int32()
		if err != nil {
			return err
		}
		var texts [3]string // name, message, stack
		for i := range texts {
			if texts[i], err = c.in.text(); err != nil {
				return err
			}
		}
		if first == nil {
			first = remote{remoteError(code, texts[1])}
		}
		nested, err := c.in.ReadByte()
		switch {
		case err != nil:
			return whole(err)
		case nested == 0:
			return first
		}
	}
}
