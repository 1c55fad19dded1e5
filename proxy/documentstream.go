package proxy

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/encode"
)

// deliverStream is deliverWhole for what engines compute without home's part, nil where home must compute it: an error of theirs in values
// is one about which home has the last word, as long as no handle is being made.
func (s *Session) deliverStream(ctx context.Context, y *execution, h handleRequest, limits inlineLimits) (*delivery, error) {
	types, err := s.typeNames(ctx, y.described.fields)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx, y, nil); err != nil {
		return nil, err
	}
	run := s.begin()
	defer run.end()
	defer run.limit(y.timeout())()
	defer run.spend(y.ledger)()
	stream, err := s.openText(run.ctx, y)
	var read *spelled
	var m *meter
	if err == nil {
		m = measured(stream, time.Now())
		defer m.Close()
		if m.ledger = y.ledger; y.ledger != nil {
			y.ledger.kept = true
		}
		read, err = s.readSpelled(run.ctx, y, m, types, limits)
	}
	if dataException(err) && !s.home.failed() {
		s.abandon(y.ledger)
		return nil, nil
	}
	var d *delivery
	if err == nil {
		d, err = s.deliverRead(run.ctx, y, h, m, read, limits)
	}
	if err == nil && y.ledger != nil {
		y.ledger.wrote = m.rows
	}
	s.settle(y.ledger, s.cause(err))
	return d, s.cause(err)
}

// deliverRead delivers rows that were read, and those that are left.
func (s *Session) deliverRead(ctx context.Context, y *execution, h handleRequest, m *meter, read *spelled, limits inlineLimits) (*delivery, error) {
	if !read.over {
		body, err := s.Query(ctx, read.body(limits.bytes))
		if err != nil {
			return nil, withoutPosition(err)
		}
		if body[0][0] != nil {
			return &delivery{body: body[0][0], rows: m.rows}, nil
		}
	}
	if err := s.nameHandle(ctx, &h); err != nil {
		return nil, err
	}
	table := pgx.Identifier{handleSchema, h.name}.Sanitize()
	task := s.server.activity.Start(s.origin(s.role), "materialize", handleSchema+"."+h.name, 0)
	defer task.End()
	prefix := "CREATE TABLE " + table + " AS "
	if _, err := s.Exec(ctx, prefix+h.query+"\nWITH NO DATA"); err != nil {
		return nil, inQuery(err, h.query, prefix)
	}
	if _, err := s.Exec(ctx, "INSERT INTO "+table+" "+read.rows()); err != nil {
		return nil, withoutPosition(err)
	}
	if read.over {
		if err := s.copyStream(ctx, table, engineFields(y.described.fields), m); err != nil {
			return nil, err
		}
	}
	handle, err := s.noteHandle(ctx, table, h, m.rows)
	return &delivery{handle: handle, rows: m.rows}, err
}

// openText opens the rows of a query in text that home reads without doubt.
func (s *Session) openText(ctx context.Context, y *execution) (engines.Stream, error) {
	if y.plan.Joined() {
		return s.openFederated(ctx, y, nil)
	}
	q := y.remoteQuery(nil)
	q.styles = y.plainStyles(nil)
	return s.openStream(ctx, y, q)
}

// typeNames are the names of columns' types in SQL.
func (s *Session) typeNames(ctx context.Context, fields []pgproto3.FieldDescription) ([]string, error) {
	oids, modifiers := make([]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		oids[i], modifiers[i] = strconv.FormatUint(uint64(f.DataTypeOID), 10), strconv.Itoa(int(f.TypeModifier))
	}
	rows, err := s.Query(ctx, `SELECT pg_catalog.format_type(u.t, u.m) FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) WITH ORDINALITY AS u (t, m, n) ORDER BY u.n`,
		"{"+strings.Join(oids, ",")+"}", "{"+strings.Join(modifiers, ",")+"}")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = *r[0]
	}
	return names, nil
}

// spelled are the first rows of a result, or all, spelled out.
type spelled struct {
	columns []spelling
	names   []string
	types   []string
	over    bool // there may be more, or they are too long
}

// readSpelled reads rows until there are more than may be inline, or they are much longer. What it holds is bounded by that and a batch.
func (s *Session) readSpelled(ctx context.Context, y *execution, m *meter, types []string, limits inlineLimits) (*spelled, error) {
	fields := engineFields(y.described.fields)
	r := &spelled{types: types, columns: make([]spelling, len(fields))}
	for i, f := range fields {
		r.names = append(r.names, pgx.Identifier{f.Name}.Sanitize())
		r.columns[i].escape = s.setting("client_encoding") != "UTF8"
	}
	var encoder *encode.Encoder
	if _, ok := framesOf(m); !ok {
		var err error
		if encoder, err = encode.New(fields, nil, m.Fields(), encode.Home); err != nil {
			return nil, err
		}
	}
	most := min(4*limits.bytes+64<<10, mostInline)
	var frames []byte
	for length := int64(0); !r.over; r.over = m.rows > limits.rows || length > most {
		batch, err := m.Next(ctx)
		if err == io.EOF && ctx.Err() == nil {
			return r, nil
		} else if err != nil {
			return nil, err
		}
		frames = frames[:0]
		switch b := batch.(type) {
		case engines.Frames:
			frames = b.Data
		case engines.Columns:
			if frames, err = encoder.Append(frames, b.Record, 0, b.NumRows()); err != nil {
				return nil, err
			}
		}
		spellRows(r.columns, frames)
		length += int64(len(frames))
	}
	return r, nil
}

// rows prints the query that yields the rows.
func (r *spelled) rows() string {
	values, names, list := make([]string, len(r.columns)), make([]string, len(r.columns)), make([]string, len(r.columns))
	for i := range r.columns {
		c := r.columns[i]
		c.text = c.text[:len(c.text):len(c.text)]
		values[i], names[i] = "pg_catalog.unnest("+c.literal()+"::pg_catalog.text[])", "c"+strconv.Itoa(i)
		list[i] = "u." + names[i] + "::" + r.types[i] + " AS " + r.names[i]
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM ROWS FROM (" + strings.Join(values, ", ") + ") WITH ORDINALITY AS u (" + strings.Join(names, ", ") + ", n) ORDER BY u.n"
}

// body prints the query that yields the rows as an array of objects, NULL where its text is longer than a number of bytes.
func (r *spelled) body(bytes int64) string {
	return "SELECT CASE WHEN COALESCE(pg_catalog.sum(pg_catalog.octet_length(j.j::pg_catalog.text) OPERATOR(pg_catalog.+) 2), 2) OPERATOR(pg_catalog.<=) " + strconv.FormatInt(bytes, 10) +
		" THEN COALESCE(pg_catalog.jsonb_agg(j.j), '[]') END FROM (SELECT pg_catalog.to_jsonb(t) AS j FROM (" + r.rows() + ") AS t) AS j"
}
