package proxy

import (
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/proxy/encode"
	"github.com/sluicedb/sluice/proxy/wire"
)

// tempPrefix returns a prefix for temporary tables that no other statement of the session uses. Where they are spelled
// out instead it is one that nobody can have put into a statement.
func (s *Session) tempPrefix(readOnly bool) string {
	s.serial++
	prefix := ownPrefix + strconv.Itoa(s.serial) + "_"
	if readOnly {
		prefix += rand.Text() + "_"
	}
	return prefix
}

// shipAll brings the inputs of a statement that home runs into temporary tables of the client's own session, or into
// the statement itself.
func (s *Session) shipAll(x *execution) error {
	run := s.begin()
	defer run.end()
	defer run.limit(x.timeout())()
	defer run.spend(x.ledger)()
	err := s.shipInputs(run.ctx, x)
	if err == nil {
		err = s.noteDescription(run.ctx, x)
	}
	if err != nil || x.facts.ReadOnly {
		return s.cause(err)
	}
	return s.noteCursor(run.ctx, x)
}

func (s *Session) shipInputs(ctx context.Context, x *execution) error {
	if x.facts.ReadOnly {
		return s.spellAll(ctx, x)
	}
	if err := s.dropTemps(ctx, x.facts.User); err != nil {
		return err
	}
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		if _, err := s.ship(ctx, x, in); err != nil {
			return err
		}
		s.inputs = append(s.inputs, input{in.TempName, in.Relation.OID})
	}
	return nil
}

// temp is a temporary table at home, and the role that may drop it.
type temp struct {
	name  string
	owner uint32
}

// dropTemps drops the temporary tables of statements that are over, inside a transaction block; elsewhere they went
// with the transaction. Those that another role has made than the current one are left.
func (s *Session) dropTemps(ctx context.Context, role uint32) error {
	var names []string
	s.temps = slices.DeleteFunc(s.temps, func(t temp) bool {
		if t.owner == role {
			names = append(names, "pg_temp."+t.name)
		}
		return t.owner == role
	})
	if len(names) == 0 {
		return nil
	}
	s.inputs = slices.DeleteFunc(s.inputs, func(in input) bool { return slices.Contains(names, "pg_temp."+in.name) })
	sql := "DROP TABLE IF EXISTS " + strings.Join(names, ", ")
	var r request
	for _, name := range s.unread {
		r.close('P', name)
	}
	s.unread = nil
	r.close('S', onceName).parse(onceName, sql, nil).bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal)
	return s.ask(ctx, r.quiet(), nil)
}

// ship copies one input to home and says what it took.
func (s *Session) ship(ctx context.Context, x *execution, in *plan.Input) (*meter, error) {
	if _, err := s.Exec(ctx, createInput(in)); err != nil {
		return nil, err
	}
	started := time.Now()
	stream, err := s.openStream(ctx, x, x.inputQuery(in, s.copyFormat(in)))
	if err != nil {
		return nil, err
	}
	m := measured(stream, started)
	m.ledger = x.ledger
	m.task = x.task("home_join input", inputName(in), s.knownRows(in))
	defer m.Close()
	if err := s.copyStream(ctx, rowsTable(in), inputFields(in), m); err != nil || m.rows < studiedRows {
		return m, err
	}
	return m, s.study(ctx, in)
}

// studiedRows is the number of rows from which on it pays that home knows what is in an input.
const studiedRows = 1000

// study lets home plan with an input as with a table that it knows: with indexes where rows are looked up, and statistics.
func (s *Session) study(ctx context.Context, in *plan.Input) error {
	for _, key := range in.Probes {
		names, method := make([]string, len(key)), "btree"
		if len(key) == 1 {
			method = "hash"
		}
		for i, c := range key {
			names[i] = pgx.Identifier{in.Relation.Columns[c].Name}.Sanitize()
		}
		if _, err := s.Exec(ctx, "CREATE INDEX ON pg_temp."+in.TempName+" USING "+method+" ("+strings.Join(names, ", ")+")"); err != nil {
			return err
		}
	}
	_, err := s.Exec(ctx, "ANALYZE pg_temp."+in.TempName)
	return err
}

// createInput makes the table for an input with the very column types of the foreign table or view, whose name the role
// need not be able to say.
func createInput(in *plan.Input) string {
	if in.RowID {
		return "CREATE TEMPORARY TABLE " + in.TempName + " (sluice_rowid bigint) INHERITS (pg_temp." + in.Parent + ") ON COMMIT DROP"
	}
	columns := make([]string, len(in.Columns))
	for i, c := range in.Columns {
		column := &in.Relation.Columns[c]
		columns[i] = pgx.Identifier{column.Name}.Sanitize() + " " + column.TypeName
		if column.Collate != "" {
			columns[i] += " COLLATE " + column.Collate
		}
	}
	return "CREATE TEMPORARY TABLE " + in.TempName + " (" + strings.Join(columns, ", ") + ") ON COMMIT DROP"
}

func inputFields(in *plan.Input) []engines.Field {
	var fields []engines.Field
	if in.RowID {
		fields = append(fields, engines.Field{Name: "sluice_rowid", OID: 20, Typmod: -1})
	}
	return append(fields, columnFields(in.Relation, in.Columns)...)
}

func columnFields(r *catalog.Relation, columns []int) []engines.Field {
	fields := make([]engines.Field, len(columns))
	for i, c := range columns {
		fields[i] = engines.Field{Name: r.Columns[c].Name, OID: r.Columns[c].Type, Typmod: r.Columns[c].Typmod}
	}
	return fields
}

// asTheyCome are fields of columns as their values come: those that home reads are texts.
func asTheyCome(fields []engines.Field, r *catalog.Relation, columns []int) []engines.Field {
	d, err := dialect.Of(r.Server)
	if err != nil {
		return fields
	}
	for i, c := range columns {
		if f := &fields[len(fields)-len(columns)+i]; !dialect.Feeds(d, &r.Columns[c]) {
			f.OID, f.Typmod = textOID, -1
		}
	}
	return fields
}

// query is what a plan asks a server for, and how the values are wanted.
type query struct {
	server  *catalog.Server
	role    uint32 // that is mapped, 0 for the current one
	sql     string
	params  []int
	formats []int16
	styles  engines.Styles
	fields  []engines.Field // that home has for its columns
	reads   []string        // names of what it reads, for who looks on
	input   *plan.Input     // that it is for; nil for a whole statement
}

// inputQuery is that of an input, whose text is written such that home reads it without doubt.
func (x *execution) inputQuery(in *plan.Input, formats []int16) query {
	fields, columns := inputFields(in), in.Columns
	if in.Screen != nil {
		columns = in.Screen.Columns
		fields = columnFields(in.Relation, columns)
	}
	if in.Relation.Server != nil {
		fields = asTheyCome(fields, in.Relation, columns)
	}
	return query{server: in.Server, role: in.Role, sql: in.RemoteSQL, params: in.Params, formats: formats, styles: x.plainStyles(formats), fields: fields, reads: []string{inputName(in)}, input: in}
}

// plainStyles are those by which home reads values without doubt that come in the formats given.
func (x *execution) plainStyles(formats []int16) engines.Styles {
	styles := x.styles()
	if slices.Contains(formats, encode.Binary) {
		return styles
	}
	if !strings.HasPrefix(styles.DateStyle, "ISO") {
		_, order, _ := strings.Cut(styles.DateStyle, ",")
		styles.DateStyle = "ISO," + order
	}
	if x.facts.ExtraFloatDigits < 1 {
		styles.ExtraFloatDigits = "1"
	}
	return styles
}

// inputName is what an input reads.
func inputName(in *plan.Input) string {
	if in.Relation.Schema == "" { // a SELECT that its server computes
		return in.Relation.Name
	}
	return qualified(in.Relation)
}

// openStream opens a query of a plan at its server.
func (s *Session) openStream(ctx context.Context, x *execution, q query) (engines.Stream, error) {
	if shut, err := s.shut(ctx, x, q.input); shut || err != nil {
		return noRows{q.input}, err
	}
	engine, asked, err := s.locate(ctx, x, q)
	if err != nil {
		return nil, err
	}
	open := engine.Open
	if s.writes(q.server) { // see its own changes
		open = s.writing.tx.Open
	}
	return s.screened(ctx, x, q, func(ctx context.Context) (engines.Stream, error) { return open(ctx, asked) })
}

// locate returns the engine of a query, and what it is asked.
func (s *Session) locate(ctx context.Context, x *execution, q query) (engines.Engine, engines.Query, error) {
	args, err := s.pick(ctx, x, q.params)
	if err != nil {
		return nil, engines.Query{}, err
	}
	if q.role == 0 {
		q.role = x.facts.User
	}
	engine, err := s.engine(ctx, q.server, q.role)
	return engine, engines.Query{SQL: dialect.Declared(q.server, q.sql), Args: args, Formats: q.formats, Styles: q.styles, Fields: q.fields, Tag: s.queryTag(x)}, err
}

// copyFormat returns the formats in which an input's values are wanted for COPY: binary where all of its types have a form
// that home reads and the session's encoding is that of the values.
func (s *Session) copyFormat(in *plan.Input) []int16 {
	if s.setting("client_encoding") != "UTF8" {
		return nil
	}
	for _, i := range in.Columns {
		if !dialect.BuiltIn(in.Relation.Columns[i].Type) {
			return nil
		}
	}
	return []int16{encode.Binary}
}

// copyStream feeds a stream into a table at home by COPY. Types that have no binary form here travel as text.
func (s *Session) copyStream(ctx context.Context, table string, fields []engines.Field, stream engines.Stream) error {
	c := &copying{stream: stream, format: encode.Binary}
	var err error
	if formats, ok := framesOf(stream); ok {
		if c.format = encode.Text; !slices.Contains(formats, encode.Text) {
			c.format, err = encode.Binary, sameTypes(fields, stream.Fields())
		}
	} else if c.encoder, err = encode.New(fields, []int16{encode.Binary}, stream.Fields(), encode.Home); err != nil || s.setting("client_encoding") != "UTF8" {
		c.format = encode.Text // text in binary form would be read in the client's encoding
		c.encoder, err = encode.New(fields, nil, stream.Fields(), encode.Home)
	}
	if err != nil {
		return err
	}
	sql := "COPY " + table + " FROM STDIN (FORMAT binary)"
	if c.format == encode.Text {
		sql = "COPY " + table + " FROM STDIN (ENCODING 'UTF8')"
	}
	return s.copyIn(ctx, sql, func(write func([]byte) error) error {
		_, err := c.run(ctx, write)
		return err
	})
}

// copyIn runs a COPY … FROM STDIN at home, within the open transaction. feed writes whole CopyData messages. A failure
// of feed fails the COPY, and is what copyIn returns.
func (s *Session) copyIn(ctx context.Context, sql string, feed func(write func([]byte) error) error) error {
	var r request
	r.close('S', onceName).parse(onceName, sql, nil).bind(ownPortal, onceName, nil).execute(ownPortal)
	if err := s.home.send(append(r.data, flushMessage...), r.replies...); err != nil {
		return homeGone(err)
	}
	if err := s.awaitCopy('G'); err != nil {
		return err
	}
	ferr := feed(func(data []byte) error {
		if frame, ok := s.home.poll(); ok && frame[0] == 'E' { // home does not like what it got
			return readError(frame[wire.HeaderSize:])
		}
		_, err := s.home.conn.Write(data)
		return homeErr(err)
	})
	if s.home.failed() {
		if e, ok := s.pendingError(); ok {
			return e
		}
		return ferr
	}
	end := appendMessage(nil, &pgproto3.CopyDone{})
	if ferr != nil {
		end = appendMessage(nil, &pgproto3.CopyFail{Message: "the foreign server failed"})
	}
	var c request
	c.close('P', ownPortal)
	if err := s.home.send(append(append(end, c.data...), flushMessage...), c.replies...); err != nil {
		return homeGone(err)
	}
	err := s.awaitCopy('C')
	if err == nil {
		err = s.awaitCopy('3')
	}
	if ferr != nil {
		return ferr
	}
	return err
}

// awaitCopy reads home's answer up to a frame of the type given.
func (s *Session) awaitCopy(typ byte) error {
	for {
		frame, err := s.home.next(s.ctx)
		if err != nil {
			return homeGone(err)
		}
		switch frame[0] {
		case typ:
			return nil
		case 'E':
			return readError(frame[wire.HeaderSize:])
		}
	}
}

// pendingError returns an error of home that was captured and not yet read.
func (s *Session) pendingError() (error, bool) {
	for {
		frame, ok := s.home.poll()
		if !ok {
			return nil, false
		}
		if frame[0] == 'E' {
			return readError(frame[wire.HeaderSize:]), true
		}
	}
}
