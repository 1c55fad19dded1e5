package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
)

// Sends reports whether rows of the Inputs stand in the statement that a server gets, in place of their Values.
func (p *Plan) Sends() bool { return p.Route == Federated && p.Server != nil && len(p.Inputs) > 0 }

// Values is what stands in RemoteSQL for the rows of the i-th input, from 0, of a plan that Sends: the text of a query whose columns
// are those of the input as texts.
func (p *Plan) Values(i int) string { return valuesOf(i + 1) }

func valuesOf(input int) string { return "VALUES " + feedOf(input) }

// The options of a server that joins tables of others which say how many rows of each of these, and bytes of all together, may be
// sent to it in a statement's text, with their defaults.
const (
	ValuesRows  = "values_rows"
	ValuesBytes = "values_bytes"

	DefaultValuesRows  = 1000
	DefaultValuesBytes = 256 << 10
)

// MostValues returns what the options of a server say.
func MostValues(s *catalog.Server) (rows, bytes int64) {
	option := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(strings.TrimSpace(s.Options[name]), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	return option(ValuesRows, DefaultValuesRows), option(ValuesBytes, DefaultValuesBytes)
}

// sendable says that the rows of sources are to stand in the statement's text, by their indexes, each with what keeps its server from
// being reached.
type sendable map[int]string

// send makes inputs of the sources that the server which joins does not reach, and lets the statement have their rows.
func (b *builder) send(sources []source, beyond sendable) bool {
	if len(beyond) == 0 {
		return true
	}
	order := slices.Sorted(maps.Keys(beyond))
	most, _ := MostValues(b.req.Federation)
	if most <= 0 || len(beyond) == len(sources) {
		b.because("%s", beyond[order[0]])
		return false
	}
	own := b.sources
	b.sources, b.feeding = sources, true
	defer func() { b.sources, b.feeding = own, false }()
	filters := b.filters()
	b.share(filters)
	for _, i := range order {
		if !b.sendOne(&sources[i], filters[sources[i].Var], most) {
			b.because("%s", beyond[i])
			return false
		}
	}
	for i := range sources { // they are the other server's from now on
		s := &sources[i]
		if _, ok := beyond[i]; ok {
			s.table, s.server, s.dialect, s.rules = b.sent(s), b.req.Federation, dialect.Trino{}, nil
		}
	}
	return true
}

// sendOne makes an input of a source.
func (b *builder) sendOne(s *source, f filter, most int64) bool {
	for _, i := range b.used.of(s) {
		if c := &s.table.Columns[i]; !dialect.Moves(c) {
			b.because("column %q is of a type that another server may spell otherwise", c.Name)
			return false
		}
	}
	rows := s.rows
	if s.server != nil {
		rows = b.size(s)
	}
	if rows > most && len(f.texts) == 0 && len(f.nodes) == 0 {
		b.because("%q has too many rows to be sent there", s.table.Name)
		return false
	}
	read := b.input
	if s.server == nil {
		read = b.homeInput
	}
	in, err := read(s, f)
	if err != nil || in.Blank {
		if err != nil {
			b.because("%s", pgerr.From(err).Message)
		}
		return false
	}
	in.Spelled, in.Whole = false, false // it is bounded
	s.sent = slices.IndexFunc(b.inputs, func(o Input) bool { return o.TempName == in.TempName }) + 1
	in.Rows = b.estimated(s, len(in.Filters) > 0)
	return true
}

// sent is a source's table as the rows of its input are in the statement: with these columns alone, in the types that they are shipped
// in.
func (b *builder) sent(s *source) *catalog.Relation {
	table := *s.table
	table.Server, table.Columns = b.req.Federation, nil
	for _, i := range b.inputs[s.sent-1].Columns {
		c := s.table.Columns[i]
		c.Options = map[string]string{"column_name": feedColumn(i), "remote_type": strings.ToLower(dialect.Trino{}.Type(c.Type, c.Typmod))}
		table.Columns = append(table.Columns, c)
	}
	return &table
}

// sentRows is the FROM item that has the rows of a source's input.
func (b *builder) sentRows(s *source) string {
	var list, names []string
	for i := range s.table.Columns {
		c := &s.table.Columns[i]
		name := s.dialect.Identifier(dialect.ColumnName(c))
		names = append(names, name)
		list = append(list, "CAST("+name+" AS "+s.dialect.Type(c.Type, c.Typmod)+") AS "+name)
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM (" + valuesOf(s.sent) + ") AS " + s.dialect.Identifier("v") + " (" + strings.Join(names, ", ") + "))"
}

// once reports whether the rows of each input stand in the text just once. What is printed twice may have a sub-select in it, and a
// text of the statement's own may look like what stands for rows.
func (b *builder) once(sql string) bool {
	for i := range b.inputs {
		if strings.Count(sql, valuesOf(i+1)) != 1 {
			b.because("rows of %q would be sent twice", b.inputs[i].Relation.Name)
			return false
		}
	}
	return true
}
