package proxy

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

var writeNames = map[plan.WriteKind]string{
	plan.Insert: "Insert", plan.Update: "Update", plan.Delete: "Delete", plan.Truncate: "Truncate", plan.CopyFrom: "Insert",
}

var writeVerbs = map[plan.WriteKind]string{
	plan.Insert: "INSERT", plan.Update: "UPDATE", plan.Delete: "DELETE", plan.Truncate: "TRUNCATE TABLE", plan.CopyFrom: "COPY FROM",
}

// runWrite carries out DML on a foreign table: home computes the rows, with its defaults, casts and checks, the engine
// takes them, and the RETURNING list, if any, is the result. Its temporary tables are left to p.
func (s *Session) runWrite(ctx context.Context, x *execution, p *portal) (*cursor, error) {
	tx, err := s.writeTx(ctx, x)
	if err != nil {
		return nil, err
	}
	t, err := s.readTarget(ctx, x)
	if err != nil {
		return nil, err
	}
	if err := s.dropTemps(ctx, x.facts.User); err != nil {
		return nil, err
	}
	c, err := s.writeRows(ctx, x, p, tx, t)
	if err != nil {
		return nil, t.named(err)
	}
	return c, nil
}

func (s *Session) writeRows(ctx context.Context, x *execution, p *portal, tx engines.Tx, t *target) (*cursor, error) {
	w := x.plan.Write
	seal := sealOf(w, x.facts.User)
	if err := s.fillRows(ctx, x, t, seal); err != nil {
		return nil, withoutRows(w, err)
	}
	p.temps = x.temps()
	if seal != nil {
		if err := seal.Open(ctx, s); err != nil {
			return nil, err
		}
	}
	own := s.ownStyles(x.facts)
	if err := s.changeStyles(ctx, own, engineStyles); err != nil {
		return nil, err
	}
	n, err := s.applyWrite(ctx, tx, x)
	if err == nil && seal != nil { // before the client can ask anything else
		if err = s.closeUnread(ctx); err == nil {
			err = seal.End(ctx, s)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.changeStyles(ctx, engineStyles, own); err != nil {
		return nil, err
	}
	if x.ledger != nil {
		x.ledger.wrote = n
	}
	x.tag = fixedTag(writeTag(w.Kind, n))
	if w.CopySQL != "" {
		return nil, s.copyHome(ctx, x, w.CopySQL)
	}
	if w.ReturningSQL == "" {
		return nil, nil
	}
	x.tag = func(rows int64) string { return writeTag(w.Kind, rows) } // of one Execute, as Postgres counts
	returning, err := s.openRows(ctx, w.Temps[0]+"_returning", w.ReturningSQL, nil, p.formats)
	if err != nil {
		return nil, err
	}
	for i, f := range returning.fields {
		if described := x.described.fields[i]; f.OID == textOID && described.DataTypeOID != textOID && formatOf(p.formats, i) == 1 {
			return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "column %q of a RETURNING list has no binary form", string(described.Name)),
				"Ask for it as text, or return the fields of the record by themselves.")
		}
	}
	return &cursor{stream: returning}, nil
}

const textOID = 25

// fillRows makes home compute the rows to write, in temporary tables.
func (s *Session) fillRows(ctx context.Context, x *execution, t *target, seal *catalog.Seal) error {
	w := x.plan.Write
	if w.Table != "" {
		if _, err := s.Exec(ctx, t.create(w.Table)); err != nil {
			return err
		}
	}
	for _, sql := range w.Setup {
		if _, err := s.Exec(ctx, sql); err != nil {
			return err
		}
	}
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		if _, err := s.ship(ctx, x, in); err != nil {
			if in.Sealed { // home may not like a row, and would show it
				err = hushed(in.Server, err)
			}
			return err
		}
	}
	if seal != nil {
		if err := seal.Set(ctx, s); err != nil {
			return err
		}
	}
	if w.StageSQL != "" {
		if _, _, err := s.once(ctx, w.StageSQL, x.described.params, x.bind); err != nil {
			return err
		}
	}
	switch {
	case w.RunSQL == "":
		return nil
	case w.Kind == plan.CopyFrom:
		return s.copyFromClient(w.RunSQL, s.refuseFreeze(w))
	default:
		_, _, err := s.once(ctx, w.RunSQL, x.described.params, x.bind)
		return err
	}
}

// refuseFreeze returns why rows may not be frozen: as with any table, it must have been truncated in the subtransaction
// that is open.
func (s *Session) refuseFreeze(w *plan.Write) error {
	if !w.Freeze || slices.Contains(s.writing.truncated, w.Relation.OID) {
		return nil
	}
	return pgerr.New(pgerr.ObjectNotInPrerequisite, "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction")
}

// copyFromClient lets home run a COPY … FROM, with the client's own data where that is what it asks for. refusal is what
// Postgres would say of it once it has accepted the statement itself.
func (s *Session) copyFromClient(sql string, refusal error) error {
	if err := s.flush(); err != nil {
		return err
	}
	var r request
	r.close('S', onceName).parse(onceName, sql, nil).bind(ownPortal, onceName, nil).execute(ownPortal)
	if err := s.home.send(append(r.data, flushMessage...), r.replies...); err != nil {
		return homeGone(err)
	}
	for {
		frame, err := s.home.next(s.ctx)
		if err != nil {
			return homeGone(err)
		}
		switch frame[0] {
		case 'E':
			return readError(frame[5:])
		case 'G':
			if err := s.writeClient(frame); err != nil {
				return err
			}
			if refusal != nil {
				return s.stopCopyIn(refusal)
			}
			if err := s.relayCopyIn(); err != nil {
				return err
			}
			_ = s.home.send(flushMessage) // where home has gone, what it has said last says why
		case 'C':
			var c request // not before: home reads nothing but COPY data until the end
			return s.ask(s.ctx, c.close('P', ownPortal), nil)
		}
	}
}

// applyWrite gives the rows to the engine and returns how many it took.
func (s *Session) applyWrite(ctx context.Context, tx engines.Tx, x *execution) (int64, error) {
	n, err := s.apply(ctx, tx, x)
	if s.writing.writes++; err != nil {
		s.writing.broken = true
	}
	return n, err
}

func (s *Session) apply(ctx context.Context, tx engines.Tx, x *execution) (int64, error) {
	w := x.plan.Write
	r := w.Relation
	target := engines.Target{Relation: r.Name, Schema: r.Schema, Options: r.Options, Generated: w.Generated, Skip: w.Skip}
	if w.Kind == plan.Truncate {
		if err := s.checkInUse(ctx, "TRUNCATE", r.OID, r.Name); err != nil {
			return 0, err
		}
		s.writing.truncated = append(s.writing.truncated, r.OID)
		return 0, tx.Truncate(ctx, target)
	}
	staged, err := s.openRows(ctx, w.Temps[0]+"_rows", w.RowsSQL, nil, nil)
	if err != nil {
		return 0, err
	}
	rows := measured(staged, time.Now())
	rows.task = x.task("write", qualified(r), 0)
	defer rows.Close()
	n := int64(0)
	switch w.Kind {
	case plan.Update:
		n, err = tx.Update(ctx, target, w.Columns, rows)
	case plan.Delete:
		n, err = tx.Delete(ctx, target, rows)
	default:
		n, err = tx.Insert(ctx, target, w.Columns, rows)
		if err == nil && n < rows.rows && w.ReturningSQL != "" {
			err = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot return rows of foreign table %q: server %q has skipped some, and does not say which", r.Name, r.Server.Name),
				"Leave out RETURNING, and read the rows afterwards.")
		}
	}
	if err != nil && w.Guard != nil {
		err = unspecific(r.Server, err)
	}
	return n, err
}

// unspecific is an error of an engine that took no rows, as is told to who may not see the table's others: a constraint is
// named, the key or row that failed it is not.
func unspecific(server *catalog.Server, err error) error {
	var pe *pgconn.PgError
	if server.Wrapper == "sluice_postgres" && errors.As(err, &pe) && strings.HasPrefix(pe.Code, "23") {
		e := *pe
		e.Detail, e.Where = "", ""
		return &e
	}
	return hushed(server, err)
}

func writeTag(kind plan.WriteKind, n int64) string {
	count := strconv.FormatInt(n, 10)
	switch kind {
	case plan.Insert:
		return "INSERT 0 " + count
	case plan.CopyFrom:
		return "COPY " + count
	case plan.Truncate:
		return "TRUNCATE TABLE"
	default:
		return writeVerbs[kind] + " " + count
	}
}
