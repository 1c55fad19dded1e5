package proxy

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
)

// rowsName is the name of the statement that a homeStream was opened by.
const rowsName = ownPrefix + "rows"

// openRows opens a portal at home over a statement of a plan and returns its rows as a stream, in the formats given. The
// name must be one that no open stream has. The statement has the parameters of x, none where x is nil.
func (s *Session) openRows(ctx context.Context, name, sql string, x *execution, formats []int16) (*homeStream, error) {
	bind := pgproto3.Bind{DestinationPortal: name, PreparedStatement: rowsName, ResultFormatCodes: formats}
	var types []uint32
	if x != nil && x.bind != nil {
		types, bind.Parameters, bind.ParameterFormatCodes = x.described.params, x.bind.Parameters, x.bind.ParameterFormatCodes
	}
	var r request
	r.close('S', rowsName).parse(rowsName, sql, types).describe('S', rowsName)
	d, err := s.readDescription(ctx, &r)
	if err != nil {
		return nil, err
	}
	b := request{}
	b.add('B', &bind)
	if err := s.ask(ctx, &b, nil); err != nil {
		return nil, err
	}
	return &homeStream{session: s, portal: name, fields: engineFields(d.fields)}, nil
}

// homeStream reads a portal at home batch by batch, home being free in between.
type homeStream struct {
	session *Session
	portal  string
	fields  []engines.Field
	rows    uint32 // to ask for next
	done    bool
	data    []byte
}

const firstRows = 256

func (h *homeStream) Fields() []engines.Field { return h.fields }

func (h *homeStream) Next(ctx context.Context) (engines.Batch, error) {
	if h.done {
		return nil, io.EOF
	}
	h.rows = h.nextRows()
	var r request
	r.add('E', &pgproto3.Execute{Portal: h.portal, MaxRows: h.rows})
	f := engines.Frames{Data: h.data[:0]}
	err := h.session.ask(ctx, &r, func(typ byte, body []byte) error {
		switch typ {
		case 'D':
			f.Data = appendFrame(f.Data, 'D', body)
			f.Rows++
		case 'C':
			h.done = true
		}
		return nil
	})
	h.data = f.Data
	if err == nil && f.Rows == 0 {
		err = io.EOF
	}
	return f, err
}

// nextRows aims at batches of BatchBytes.
func (h *homeStream) nextRows() uint32 {
	switch {
	case h.rows == 0:
		return firstRows
	case len(h.data) > engines.BatchBytes:
		return max(h.rows/2, 1)
	case len(h.data) < engines.BatchBytes/4:
		return min(h.rows*2, 1<<14)
	}
	return h.rows
}

// Close has the portal closed before its tables are dropped, or leaves it to the end of the transaction.
func (h *homeStream) Close() error {
	h.done = true
	if h.portal != "" {
		h.session.unread = append(h.session.unread, h.portal)
		h.portal = ""
	}
	return nil
}

// closeUnread closes the portals that are read no more, home being ours: while one is open nothing that it reads can be
// altered.
func (s *Session) closeUnread(ctx context.Context) error {
	if len(s.unread) == 0 || s.home.failed() {
		return nil
	}
	var r request
	for _, name := range s.unread {
		r.close('P', name)
	}
	s.unread = nil
	return s.ask(ctx, &r, nil)
}

func appendFrame(dst []byte, typ byte, body []byte) []byte {
	dst = append(dst, typ)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)+4))
	return append(dst, body...)
}
