package postgres

import (
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// statements are those that a connection has prepared, by text. The oldest go first.
type statements struct {
	names map[string]string
	order []string
	made  int
	once  map[string]bool // texts that were asked once: only those that come again are worth a name
}

// Statements longer than longStatement are not kept, and no more than keepStatements.
const (
	longStatement  = 16 << 10
	keepStatements = 128
)

// prepare puts into the pipeline what is needed for a text to have a name, and returns that; empty for one not kept.
func (c *connection) prepare(sql string) (string, error) {
	if len(sql) > longStatement {
		return "", c.send(&pgproto3.Parse{Query: sql})
	}
	p := &c.prepared
	if name, ok := p.names[sql]; ok {
		return name, nil
	}
	if !p.once[sql] {
		if len(p.once) >= keepStatements || p.once == nil {
			p.once = map[string]bool{}
		}
		p.once[sql] = true
		return "", c.send(&pgproto3.Parse{Query: sql})
	}
	if p.names == nil {
		p.names = map[string]string{}
	}
	if len(p.order) == keepStatements {
		old := p.order[0]
		if err := c.send(&pgproto3.Close{ObjectType: 'S', Name: p.names[old]}); err != nil {
			return "", err
		}
		delete(p.names, old)
		p.order = append(p.order[:0], p.order[1:]...)
	}
	p.made++
	name := "s" + strconv.Itoa(p.made)
	p.names[sql] = name
	p.order = append(p.order, sql)
	return name, c.send(&pgproto3.Parse{Name: name, Query: sql})
}

// forget drops a text that the server may not have prepared.
func (p *statements) forget(sql string) {
	delete(p.names, sql)
	for i, s := range p.order {
		if s == sql {
			p.order = append(p.order[:i], p.order[i+1:]...)
			return
		}
	}
}

// stylesSQL sets what the text form of values depends on.
const stylesSQL = `SELECT set_config('TimeZone', $1, false), set_config('DateStyle', $2, false), set_config('IntervalStyle', $3, false),
set_config('extra_float_digits', $4, false), set_config('bytea_output', $5, false)`

// plain are the styles of a query that names none.
var plain = engines.Styles{TimeZone: "UTC", DateStyle: "ISO, MDY", IntervalStyle: "postgres", ExtraFloatDigits: "1", ByteaOutput: "hex"}

// take puts a change of styles into the pipeline, if one is needed, and reports whether it did. It has a Sync of its own,
// as a failure of what follows would undo it.
func (c *connection) take(s engines.Styles) (bool, error) {
	if s == c.styles {
		return false, nil
	}
	c.styles = engines.Styles{} // until it has worked
	args := []*string{&s.TimeZone, &s.DateStyle, &s.IntervalStyle, &s.ExtraFloatDigits, &s.ByteaOutput}
	return true, errors.Join(c.execute("", stylesSQL, args, nil), c.send(&pgproto3.Sync{}))
}

// tagName is the statement that sets what the remote server calls the session, once it is prepared.
const tagName = "tag"

// unknownTag is none that a statement has.
var unknownTag = engines.Tag{ID: "?"}

// tag puts into the pipeline what shows on whose behalf the session works, if that changes, and reports whether it did. It has no Sync of
// its own, as it comes with nearly every statement: a failure of what follows undoes it.
func (c *connection) tag(t engines.Tag) (bool, error) {
	if t == c.tagged {
		return false, nil
	}
	c.tagged = unknownTag // until it has worked
	name := c.name
	if t != (engines.Tag{}) {
		name += strings.TrimPrefix(t.String(), "sluice")
	}
	var err error
	if !c.taggable {
		err = errors.Join(c.send(&pgproto3.Close{ObjectType: 'S', Name: tagName}), c.send(&pgproto3.Parse{Name: tagName, Query: "SELECT set_config('application_name', $1, false)"}))
	}
	return true, errors.Join(err, c.send(bind(tagName, []*string{&name}, nil)), c.send(&pgproto3.Execute{}))
}

// execute puts a statement of a text, or that bears a name, into the pipeline.
func (c *connection) execute(name, sql string, args []*string, formats []int16) error {
	if name == "" {
		if err := c.send(&pgproto3.Parse{Query: sql}); err != nil {
			return err
		}
	}
	return errors.Join(c.send(bind(name, args, formats)), c.send(&pgproto3.Describe{ObjectType: 'P'}), c.send(&pgproto3.Execute{}))
}

func bind(name string, args []*string, formats []int16) *pgproto3.Bind {
	values := make([][]byte, len(args))
	for i, a := range args {
		if a != nil {
			values[i] = append([]byte{}, *a...)
		}
	}
	return &pgproto3.Bind{PreparedStatement: name, Parameters: values, ResultFormatCodes: formats}
}

// start runs q up to the description of its rows.
func (c *connection) start(q engines.Query) ([]engines.Field, []int16, error) {
	styles := q.Styles
	if styles == (engines.Styles{}) {
		styles = plain
	}
	styled, err := c.take(styles)
	if err != nil {
		return nil, nil, err
	}
	tagged, err := c.tag(q.Tag)
	if err != nil {
		return nil, nil, err
	}
	name, err := c.prepare(q.SQL)
	err = errors.Join(err, c.send(bind(name, q.Args, q.Formats)), c.send(&pgproto3.Describe{ObjectType: 'P'}),
		c.send(&pgproto3.Execute{}), c.send(&pgproto3.Sync{}))
	if err == nil {
		err = c.flush()
	}
	if err != nil {
		return nil, nil, errors.Join(err, errBroken)
	}
	if err := c.settled(styled, tagged); err != nil {
		c.prepared.forget(q.SQL)
		return nil, nil, err
	}
	c.styles, c.taggable = styles, c.taggable || tagged
	fields, formats, err := c.description()
	if err != nil {
		c.prepared.forget(q.SQL)
		return nil, nil, err
	}
	c.tagged = q.Tag
	return fields, formats, nil
}

// settled reads the answers to changes of styles and tag, as far as there were some. After an error the server is ready again.
func (c *connection) settled(styled, tagged bool) error {
	if styled {
		if err := c.sync(); err != nil {
			return errors.Join(err, c.sync())
		}
	}
	if tagged {
		_, err := c.completion()
		return err
	}
	return nil
}

// failed reads on to where the server is ready again, and returns the error.
func (c *connection) failed(body []byte) error {
	err := remoteError(body)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == pgerr.ConnectionFailure {
		return errors.Join(err, errBroken)
	}
	return errors.Join(err, c.sync())
}

// description reads up to the description of a statement's rows.
func (c *connection) description() ([]engines.Field, []int16, error) {
	for {
		typ, body, err := c.next()
		if err != nil {
			return nil, nil, err
		}
		switch typ {
		case '1', '2', '3':
		case 'T':
			return decodeFields(body)
		case 'n': // no rows: not a query
			return nil, nil, nil
		case 'E':
			return nil, nil, c.failed(body)
		default:
			return nil, nil, errors.Join(malformed(), errBroken)
		}
	}
}

func decodeFields(body []byte) ([]engines.Field, []int16, error) {
	var m pgproto3.RowDescription
	if err := m.Decode(body); err != nil {
		return nil, nil, errors.Join(malformed(), errBroken)
	}
	fields, formats := make([]engines.Field, len(m.Fields)), make([]int16, len(m.Fields))
	for i, f := range m.Fields {
		fields[i] = engines.Field{Name: string(f.Name), OID: f.DataTypeOID, Typmod: f.TypeModifier}
		formats[i] = f.Format
	}
	return fields, formats, nil
}

// completion reads up to the end of one statement and returns its command tag. After an error the server is ready again.
func (c *connection) completion() (string, error) {
	for {
		typ, body, err := c.next()
		switch {
		case err != nil:
			return "", err
		case typ == 'C' && len(body) > 0:
			return string(body[:len(body)-1]), nil
		case typ == 'E':
			return "", c.failed(body)
		}
	}
}
