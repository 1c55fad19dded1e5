package clickhouse

import (
	"bytes"
	"fmt"
	"net/url"
)

// feed starts an INSERT, and waits until the server asks for blocks by one that is empty.
func (c *native) feed(s statement) error {
	s.sql += " VALUES"
	if err := c.start(s); err != nil {
		return err
	}
	_, more, err := c.block(ignore)
	if err == nil && !more {
		err = malformed()
	}
	return err
}

// send sends a block, or (nil) says that no more come.
func (c *native) send(block []byte) error {
	if block == nil {
		_, err := c.socket.Write(appendNoData(nil))
		return err
	}
	head := appendNoData(nil)
	if _, err := c.socket.Write(head[:len(head)-2]); err != nil { // up to how many columns and rows there are
		return err
	}
	_, err := c.socket.Write(block)
	return err
}

// feed begins a request whose body is the blocks.
func (w *web) feed(s statement) error {
	parameters := w.begin(s) + "&query=" + url.QueryEscape(s.tag.Comment()+s.sql+" FORMAT Native")
	w.request = w.config.post(parameters, "")
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n", w.request.URL.RequestURI(), w.request.Host)
	if err := w.request.Header.Write(&head); err != nil {
		return err
	}
	head.WriteString("\r\n")
	_, err := w.socket.Write(head.Bytes())
	return err
}

// send sends a block as a chunk, or (nil) the end of the body.
func (w *web) send(block []byte) error {
	if block == nil {
		_, err := w.socket.Write([]byte("0\r\n\r\n"))
		return err
	}
	if _, err := fmt.Fprintf(w.socket, "%x\r\n", len(block)); err != nil {
		return err
	}
	if _, err := w.socket.Write(block); err != nil {
		return err
	}
	_, err := w.socket.Write([]byte("\r\n"))
	return err
}
