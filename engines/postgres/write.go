package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var syncMessage = &pgproto3.Sync{}

// writeName is the prepared statement that each row is bound to.
const writeName = "write"

// Rows are written in pipelines of so many, the answers to which fit into any socket's buffer: neither side may come to wait
// for the other to read.
const (
	pipelineRows  = 500
	pipelineBytes = 1 << 20
)

// Insert adds the rows, each value read by the type of its remote column.
func (t *tx) Insert(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	if err := t.writable(target); err != nil {
		return 0, err
	}
	generated, err := t.generated(ctx, target)
	if err != nil {
		return 0, err
	}
	var names, values []string
	types := make([]uint32, len(columns))
	for i, c := range columns {
		if slices.Contains(target.Generated, c) && slices.Contains(generated, c) {
			types[i] = textOID // bound, and not used
			continue
		}
		names, values = append(names, ident(c)), append(values, "$"+strconv.Itoa(i+1))
	}
	sql := "INSERT INTO " + relation(target) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	if len(names) == 0 {
		sql = "INSERT INTO " + relation(target) + " DEFAULT VALUES"
	}
	if target.Skip {
		sql += " ON CONFLICT DO NOTHING"
	}
	return t.write(ctx, sql, types, rows)
}

// rowPlace turns the number that stands for a row into its place.
const rowPlace = "ctid = format('(%s,%s)', $1::bigint >> 16, $1::bigint & 65535)::tid"

// Update sets columns of the rows whose places the first field holds.
func (t *tx) Update(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	if err := t.addressable(ctx, target); err != nil {
		return 0, err
	}
	generated, err := t.generated(ctx, target)
	if err != nil {
		return 0, err
	}
	types := make([]uint32, len(columns)+1)
	var sets []string
	for i, c := range columns {
		if slices.Contains(target.Generated, c) && slices.Contains(generated, c) {
			types[i+1] = textOID
			continue
		}
		sets = append(sets, ident(c)+" = $"+strconv.Itoa(i+2))
	}
	if len(sets) == 0 {
		return 0, pgerr.New(pgerr.InternalError, "an update of no columns")
	}
	return t.write(ctx, "UPDATE "+relation(target)+" SET "+strings.Join(sets, ", ")+" WHERE "+rowPlace, types, rows)
}

// Delete removes the rows whose places the only field holds.
func (t *tx) Delete(ctx context.Context, target engines.Target, rows engines.Stream) (int64, error) {
	if err := t.addressable(ctx, target); err != nil {
		return 0, err
	}
	return t.write(ctx, "DELETE FROM "+relation(target)+" WHERE "+rowPlace, make([]uint32, 1), rows)
}

const textOID = 25

// generated returns the columns that the remote table computes itself.
func (t *tx) generated(ctx context.Context, target engines.Target) ([]string, error) {
	name := relation(target)
	rows, err := t.texts(ctx, `SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attgenerated <> '' AND NOT attisdropped`, name)
	var list []string
	for _, r := range rows {
		list = append(list, *r[0])
	}
	return list, err
}

// addressable refuses tables of several heaps, in which the place of a row does not say which row it is.
func (t *tx) addressable(ctx context.Context, target engines.Target) error {
	if err := t.writable(target); err != nil {
		return err
	}
	rows, err := t.texts(ctx, `SELECT FROM pg_class WHERE oid = $1::text::regclass AND relkind = 'r' AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = oid)`,
		relation(target))
	if err == nil && len(rows) == 0 {
		err = pgerr.AtServer(t.engine.server, pgerr.Hint(
			pgerr.New(pgerr.FeatureNotSupported, "cannot update or delete rows of foreign table %q: %s is not a plain table of its own", target.Relation, relation(target)),
			"Make foreign tables of its partitions or children and write to those."))
	}
	return err
}

// texts reads a bounded result within the transaction.
func (t *tx) texts(ctx context.Context, sql string, args ...string) ([][]*string, error) {
	q := engines.Query{SQL: sql}
	for i := range args {
		q.Args = append(q.Args, &args[i])
	}
	s, err := t.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return collect(ctx, s)
}

// write runs a statement once for each row and returns how many rows it has written.
func (t *tx) write(ctx context.Context, sql string, types []uint32, rows engines.Stream) (int64, error) {
	n, err := t.writeRows(ctx, sql, types, rows)
	if err != nil {
		return 0, pgerr.AtServer(t.engine.server, pgerr.Interrupted(ctx, err))
	}
	return n, nil
}

func (t *tx) writeRows(ctx context.Context, sql string, types []uint32, rows engines.Stream) (int64, error) {
	c := t.connection
	stop := c.watch(ctx)
	defer stop()
	styled, err := c.take(plain)
	if err != nil {
		return 0, err
	}
	err = errors.Join(c.send(&pgproto3.Close{ObjectType: 'S', Name: writeName}),
		c.send(&pgproto3.Parse{Name: writeName, Query: sql, ParameterOIDs: types}), c.send(syncMessage), c.flush())
	if err != nil {
		return 0, errors.Join(err, errBroken)
	}
	if styled {
		if err := c.sync(); err != nil {
			return 0, errors.Join(err, c.sync())
		}
		c.styles = plain
	}
	if err := c.sync(); err != nil {
		return 0, err
	}
	var written int64
	for {
		batch, err := rows.Next(ctx)
		if err == io.EOF {
			return written, nil
		}
		if err != nil {
			return written, err
		}
		frames, ok := batch.(engines.Frames)
		if !ok {
			return written, pgerr.New(pgerr.InternalError, "cannot write a batch of form %T", batch)
		}
		n, err := c.writeFrames(frames.Data, len(types))
		if err != nil {
			return written, err
		}
		written += n
	}
}

// writeFrames binds each row to the statement, a pipeline at a time.
func (c *connection) writeFrames(data []byte, columns int) (written int64, err error) {
	for len(data) > 0 {
		for n := 0; len(data) > 0 && n < pipelineRows && len(c.out) < pipelineBytes; n++ {
			size, ok := rowSize(data)
			if !ok || int(binary.BigEndian.Uint16(data[headerSize:])) != columns {
				return written, malformed()
			}
			c.bindRow(data[headerSize:size])
			if err := c.send(&pgproto3.Execute{}); err != nil {
				return written, err
			}
			data = data[size:]
		}
		if err := errors.Join(c.send(syncMessage), c.flush()); err != nil {
			return written, errors.Join(err, errBroken)
		}
		n, err := c.written()
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

// bindRow adds a Bind whose parameters are the body of a DataRow: the two are laid out alike.
func (c *connection) bindRow(row []byte) {
	const fixed = 4 + 1 + len(writeName) + 1 + 2 + 2
	c.out = append(c.out, 'B')
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(fixed+len(row)))
	c.out = append(c.out, 0)
	c.out = append(c.out, writeName...)
	c.out = append(c.out, 0, 0, 0) // no formats: all are text
	c.out = append(c.out, row...)
	c.out = append(c.out, 0, 0)
}

// written reads the answers of a pipeline and returns how many rows were written.
func (c *connection) written() (n int64, err error) {
	for {
		typ, body, err := c.next()
		switch {
		case err != nil:
			return n, err
		case typ == 'C':
			n += countOf(string(body[:len(body)-1]))
		case typ == 'E':
			return n, c.failed(body)
		case typ == 'Z':
			return n, nil
		}
	}
}
