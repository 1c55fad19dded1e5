package proxy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// write is the open write transaction of one foreign server. It is committed just before home's own transaction, so it
// must be the only writer of it.
type write struct {
	server *catalog.Server
	tx     engines.Tx
}

var writeNames = map[plan.WriteKind]string{
	plan.Insert: "Insert", plan.Update: "Update", plan.Delete: "Delete", plan.Truncate: "Truncate", plan.CopyFrom: "Insert",
}

var writeVerbs = map[plan.WriteKind]string{
	plan.Insert: "INSERT", plan.Update: "UPDATE", plan.Delete: "DELETE", plan.Truncate: "TRUNCATE", plan.CopyFrom: "COPY FROM",
}

// runWrite carries out DML on a foreign table: home computes the rows, with its defaults, casts and checks, the engine
// takes them, and the RETURNING list, if any, is the result.
func (s *Session) runWrite(ctx context.Context, x *execution, formats []int16) (*cursor, error) {
	w := x.plan.Write
	tx, err := s.writeTx(ctx, x)
	if err != nil {
		return nil, err
	}
	for _, sql := range w.Setup {
		if _, err := s.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	for i := range x.plan.Inputs {
		if err := s.ship(ctx, x, &x.plan.Inputs[i]); err != nil {
			return nil, err
		}
	}
	if err := s.fillRows(ctx, x); err != nil {
		return nil, err
	}
	if err := s.setStyles(ctx, x.facts, isoStyles); err != nil {
		return nil, err
	}
	n, err := s.applyWrite(ctx, tx, w)
	if err != nil {
		return nil, err
	}
	if err := s.setStyles(ctx, x.facts, ownStyles(x.facts)); err != nil {
		return nil, err
	}
	x.tag = writeTag(w.Kind, n)
	if w.ReturningSQL == "" {
		return nil, nil
	}
	rows, err := s.openRows(ctx, "returning", w.ReturningSQL, formats)
	if err != nil {
		return nil, err
	}
	return &cursor{stream: rows}, nil
}

// fillRows makes home compute the rows to write, in temporary tables.
func (s *Session) fillRows(ctx context.Context, x *execution) error {
	w := x.plan.Write
	switch {
	case w.RunSQL == "":
		return nil
	case w.Kind == plan.CopyFrom:
		return s.copyFromClient(w.RunSQL)
	default:
		_, _, err := s.once(ctx, w.RunSQL, x.described.params, x.bind)
		return err
	}
}

// styles are the settings that decide how home writes values as text.
type styles struct{ date, interval, bytea, float string }

// isoStyles are those that engines read.
var isoStyles = styles{"ISO", "postgres", "hex", "1"}

func ownStyles(f *catalog.Facts) styles {
	return styles{f.DateStyle, f.IntervalStyle, f.ByteaOutput, strconv.Itoa(f.ExtraFloatDigits)}
}

// setStyles changes the session's styles, for the transaction, where its own are not what engines read.
func (s *Session) setStyles(ctx context.Context, f *catalog.Facts, to styles) error {
	if strings.HasPrefix(f.DateStyle, "ISO") && f.IntervalStyle == "postgres" && f.ByteaOutput == "hex" && f.ExtraFloatDigits >= 1 {
		return nil
	}
	_, err := s.Query(ctx, `SELECT pg_catalog.set_config('DateStyle', $1, true), pg_catalog.set_config('IntervalStyle', $2, true), `+
		`pg_catalog.set_config('bytea_output', $3, true), pg_catalog.set_config('extra_float_digits', $4, true)`,
		to.date, to.interval, to.bytea, to.float)
	return err
}

// copyFromClient lets home run a COPY … FROM STDIN with the client's own data. Errors reach the client as home says them.
func (s *Session) copyFromClient(sql string) error {
	if err := s.flush(); err != nil {
		return err
	}
	var r request
	r.close('S', onceName).parse(onceName, sql, nil).bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal)
	for i := range r.replies {
		r.replies[i].Fate = wire.Swallow
	}
	if err := s.home.send(append(r.data, flushMessage...), r.replies...); err != nil {
		return homeGone(err)
	}
	err := s.home.wait()
	if err == errCopyIn {
		if err := s.relayCopyIn(); err != nil {
			return err
		}
		err = s.home.wait()
	}
	if err == nil && s.home.failed() {
		return errSkipped
	}
	return homeErr(err)
}

func (s *Session) applyWrite(ctx context.Context, tx engines.Tx, w *plan.Write) (int64, error) {
	r := w.Relation
	target := engines.Target{Relation: r.Name, Schema: r.Schema, Options: r.Options}
	if w.Kind == plan.Truncate {
		return 0, tx.Truncate(ctx, target)
	}
	rows, err := s.openRows(ctx, "rows", w.RowsSQL, nil)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	switch w.Kind {
	case plan.Update:
		return tx.Update(ctx, target, w.Columns, rows)
	case plan.Delete:
		return tx.Delete(ctx, target, rows)
	default:
		return tx.Insert(ctx, target, w.Columns, rows)
	}
}

func writeTag(kind plan.WriteKind, n int64) func(int64) string {
	count := strconv.FormatInt(n, 10)
	switch kind {
	case plan.Insert:
		return fixedTag("INSERT 0 " + count)
	case plan.CopyFrom:
		return fixedTag("COPY " + count)
	case plan.Truncate:
		return fixedTag("TRUNCATE TABLE")
	default:
		return fixedTag(writeVerbs[kind] + " " + count)
	}
}

// writeTx returns the transaction that a write belongs to, begun at the first write of home's transaction.
func (s *Session) writeTx(ctx context.Context, x *execution) (engines.Tx, error) {
	w := x.plan.Write
	verb := writeVerbs[w.Kind]
	if x.facts.ReadOnly {
		return nil, pgerr.New(pgerr.ReadOnlyTransaction, "cannot execute %s in a read-only transaction", verb)
	}
	server := w.Relation.Server
	if s.writing != nil {
		if s.writing.server.OID != server.OID {
			return nil, alone(verb, w.Relation, fmt.Sprintf("this transaction has written to server %q", s.writing.server.Name))
		}
		return s.writing.tx, nil
	}
	if s.hasSavepoints() {
		return nil, alone(verb, w.Relation, "this transaction has savepoints, which the server cannot roll back to")
	}
	if wrote, err := s.wroteHome(ctx); err != nil {
		return nil, err
	} else if wrote {
		return nil, alone(verb, w.Relation, "this transaction has written to home")
	}
	engine, err := s.server.engines.get(ctx, s.database, server)
	if err != nil {
		return nil, err
	}
	tx, err := engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	s.writing = &write{server, tx}
	return tx, nil
}

// wroteHome reports whether the open transaction has changed anything at home but temporary tables of our own.
func (s *Session) wroteHome(ctx context.Context) (bool, error) {
	if s.shipped { // a transaction ID is assigned, and may be so for our tables only
		return false, nil
	}
	rows, err := s.Query(ctx, "SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL")
	return err == nil && *rows[0][0] == "t", err
}

// alone says that a write would not be the only one of its transaction.
func alone(verb string, r *catalog.Relation, why string) error {
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot execute %s on foreign table %q: %s", verb, r.Name, why),
		"Write to one foreign server in a transaction of its own.")
}

// endWrite commits or rolls back the open write transaction, if any.
func (s *Session) endWrite(commit bool) error {
	w := s.writing
	if w == nil {
		return nil
	}
	s.writing = nil
	if !commit {
		return w.tx.Rollback()
	}
	run := s.begin()
	defer run.end()
	if err := w.tx.Commit(run.ctx); err != nil {
		_ = w.tx.Rollback()
		return s.cause(err)
	}
	return nil
}

// openRows opens a portal at home over a statement of a plan and returns its rows as a stream, in the formats given.
func (s *Session) openRows(ctx context.Context, name, sql string, formats []int16) (*homeStream, error) {
	name = ownPrefix + name
	var r request
	r.close('P', name).close('S', name).parse(name, sql, nil).describe('S', name)
	d, err := s.readDescription(ctx, &r)
	if err != nil {
		return nil, err
	}
	var b request
	b.add('B', &pgproto3.Bind{DestinationPortal: name, PreparedStatement: name, ResultFormatCodes: formats})
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

// Close leaves the portal to the end of the transaction.
func (h *homeStream) Close() error {
	h.done = true
	return nil
}

func appendFrame(dst []byte, typ byte, body []byte) []byte {
	dst = append(dst, typ)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)+4))
	return append(dst, body...)
}
