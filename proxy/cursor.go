package proxy

import (
	"context"
	"encoding/binary"
	"strconv"

	"github.com/sluicedb/sluice/parser"
)

// attribute names a column as a RowDescription does.
type attribute struct {
	table uint32
	num   int16
}

// noteCursor remembers which columns of foreign tables the inputs of a DECLARE CURSOR hold, or those of a portal that FETCH
// can name: from now on home describes the cursor's rows, and what it says of their origin is restored.
func (s *Session) noteCursor(ctx context.Context, x *execution) error {
	cursor := x.statement.Kind == parser.DeclareCursor
	if !cursor && (x.bind == nil || x.bind.DestinationPortal == "") {
		return nil
	}
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		rows, err := s.Query(ctx, "SELECT pg_catalog.to_regclass($1)::pg_catalog.oid", "pg_temp."+in.TempName)
		if err != nil || rows[0][0] == nil {
			return err
		}
		oid, err := strconv.ParseUint(*rows[0][0], 10, 32)
		if err != nil {
			return err
		}
		s.mu.Lock()
		if s.shippedColumns == nil {
			s.shippedColumns = map[attribute]attribute{}
		}
		for j, c := range in.Columns {
			at := attribute{uint32(oid), int16(j + 1)}
			s.shippedColumns[at] = attribute{in.Relation.OID, in.Relation.Columns[c].Num}
			if !cursor {
				s.portalColumns = append(s.portalColumns, at)
			}
		}
		s.mu.Unlock()
	}
	return nil
}

// forgetPortalColumns forgets what noteCursor has noted for portals, which end with their transaction.
func (s *Session) forgetPortalColumns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.portalColumns {
		delete(s.shippedColumns, at)
	}
	s.portalColumns = nil
}

const cursorHold = 0x20 // CURSOR_OPT_HOLD of Postgres

// checkCursor refuses a DECLARE CURSOR that needs a transaction block where there is none. Home cannot be left to do so: the
// inputs are shipped before it, and from Postgres 18 on what is pipelined behind another statement is in an implicit block,
// so that it is left to home where the client has executed another.
func (s *Session) checkCursor(x *execution) error {
	d := x.statement.Node.Stmt.GetDeclareCursorStmt()
	if d == nil || d.Options&cursorHold != 0 || s.home.inBlock() || s.hasExecuted() {
		return nil
	}
	return needsBlock("DECLARE CURSOR")
}

// restoreColumns makes a RowDescription say of columns of shipped inputs what it would of the foreign tables', and of those
// of a twin what it would of the view that it stands for (protocol chapter "Message Formats": name, table, attribute number, type, size, modifier, format).
func (s *Session) restoreColumns(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var twins map[uint32]uint32
	if p := s.twins.Load(); p != nil {
		twins = *p
	}
	if len(s.shippedColumns)+len(twins) == 0 || len(body) < 2 {
		return
	}
	const behindName = 4 + 2 + 4 + 2 + 4 + 2
	rest := body[2:]
	for range binary.BigEndian.Uint16(body) {
		_, field, ok := cString(rest)
		if !ok || len(field) < behindName {
			return
		}
		at := attribute{binary.BigEndian.Uint32(field), int16(binary.BigEndian.Uint16(field[4:]))}
		if origin, ok := s.shippedColumns[at]; ok {
			binary.BigEndian.PutUint32(field, origin.table)
			binary.BigEndian.PutUint16(field[4:], uint16(origin.num))
		} else if view, ok := twins[at.table]; ok {
			binary.BigEndian.PutUint32(field, view)
		}
		rest = field[behindName:]
	}
}
