package databricks

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/columnar"
)

// chunks reads the files of one result.
type chunks struct {
	engine *Engine
	id     string
	total  *int64 // rows that the service says there are

	links   []link // of parts that come next, as far as they are known
	next    *int   // the part behind them, nil at the end
	open    *file
	record  arrow.RecordBatch // rows of it that were not given out before
	read    int64             // rows that were given out in all
	retries int
}

// file is one part of a result that is read.
type file struct {
	link   link
	body   io.Closer
	reader *ipc.Reader
	rows   int64 // that were read
	given  int64 // of these, in an earlier attempt at the same file, to be left out
}

// newStream reads the result of a statement that has succeeded.
func newStream(e *Engine, a *answer) (engines.Stream, error) {
	var fields []engines.Field
	for _, c := range a.Manifest.Schema.Columns {
		f, err := c.field()
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	c := &chunks{engine: e, id: a.ID, total: a.Manifest.Rows, links: a.Result.Links}
	if first := 0; len(c.links) == 0 && (a.Manifest.Chunks == nil || *a.Manifest.Chunks > 0) {
		c.next = &first
	} else if len(c.links) > 0 {
		c.next = c.links[len(c.links)-1].Next
	}
	return columnar.NewStream(e.server, fields, c), nil
}

// tries is how often a file is opened whose reading breaks off. Its rows stay as they are, so that those that were given out
// are left out.
const tries = 3

// Next comes to the next record batch, of this file or the next.
func (c *chunks) Next(ctx context.Context) (arrow.RecordBatch, error) {
	c.drop()
	for c.record == nil {
		err := c.step(ctx)
		if err == nil {
			continue
		}
		if err == io.EOF || ctx.Err() != nil || !c.again(ctx) {
			return nil, err
		}
	}
	return c.record, nil
}

// again reports whether the file that broke off is read once more.
func (c *chunks) again(ctx context.Context) bool {
	f := c.open
	if c.retries++; f == nil || c.retries >= tries {
		return false
	}
	given := max(f.rows, f.given)
	c.closeFile()
	fresh, err := c.engine.links(ctx, c.id, f.link.Chunk)
	if err != nil || len(fresh.Links) == 0 {
		return false
	}
	c.open = &file{link: fresh.Links[0], given: given}
	return true
}

func (c *chunks) step(ctx context.Context) error {
	if c.open == nil {
		l, err := c.following(ctx)
		if err != nil {
			return err
		}
		c.open = &file{link: l}
		return nil
	}
	f := c.open
	if f.reader == nil {
		return c.startFile(ctx, f)
	}
	if f.reader.Next() {
		c.take(f, f.reader.RecordBatch())
		return nil
	}
	if err := f.reader.Err(); err != nil && err != io.EOF {
		return err
	}
	if f.rows != f.link.Rows { // the format has no end that a cut could not be taken for
		return fmt.Errorf("a file has %d rows of %d", f.rows, f.link.Rows)
	}
	c.closeFile()
	c.retries = 0
	return nil
}

// take has rows of a file given out, but for those that were before.
func (c *chunks) take(f *file, record arrow.RecordBatch) {
	skip := min(max(f.given-f.rows, 0), record.NumRows())
	f.rows += record.NumRows()
	c.read += record.NumRows() - skip
	c.record = record.NewSlice(skip, record.NumRows())
}

// following returns the link to the next part; io.EOF at the end.
func (c *chunks) following(ctx context.Context) (link, error) {
	if len(c.links) == 0 {
		if c.next == nil {
			return link{}, c.complete()
		}
		r, err := c.engine.links(ctx, c.id, *c.next)
		if err != nil {
			return link{}, err
		}
		if len(r.Links) == 0 {
			return link{}, malformed(fmt.Errorf("part %d has no link", *c.next))
		}
		c.links, c.next = r.Links, r.Links[len(r.Links)-1].Next
	}
	l := c.links[0]
	c.links = c.links[1:]
	return l, nil
}

func (c *chunks) complete() error {
	if c.total != nil && *c.total != c.read {
		return fmt.Errorf("there are %d rows of %d", c.read, *c.total)
	}
	return io.EOF
}

// startFile opens a file, whose body is read as long as ctx goes on.
func (c *chunks) startFile(ctx context.Context, f *file) error {
	body, err := c.engine.client.file(ctx, f.link)
	if err != nil {
		return err
	}
	f.body = body
	f.reader, err = ipc.NewReader(body)
	return err
}

func (c *chunks) drop() {
	if c.record != nil {
		c.record.Release()
		c.record = nil
	}
}

func (c *chunks) closeFile() {
	c.drop()
	if c.open == nil {
		return
	}
	if c.open.reader != nil {
		c.open.reader.Release()
	}
	if c.open.body != nil {
		_ = c.open.body.Close()
	}
	c.open = nil
}

// Close frees the file, and ends the statement where it has not come to its end.
func (c *chunks) Close(complete bool) {
	c.closeFile()
	if !complete {
		c.engine.cancel(c.id)
	}
}
