package plan

import (
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// remote plans that one engine computes the whole statement; nil, with the reason noted, where it cannot.
func (b *builder) remote() *Plan {
	sel, format := b.rows()
	if sel == nil {
		b.because("only a SELECT, or COPY of one to STDOUT in text or binary, runs remote")
		return nil
	}
	for _, r := range b.req.References {
		if r.Relation == nil || r.Relation.Kind == 'm' || ofHome(r.Relation) {
			b.because("relations of home take part")
			return nil
		}
	}
	for i := range b.sources {
		if b.sources[i].server != b.sources[0].server {
			b.because("relations of several servers take part")
			return nil
		}
		if _, standard := b.sources[i].dialect.(dialect.Standard); b.sources[i].role != b.sources[0].role && (standard || isSimple(b.sources[i].dialect) || b.sources[i].dialect.Verbatim()) {
			b.because("relations are read as several roles")
			return nil
		}
	}
	if len(b.sources) > 0 && b.sources[0].dialect.Verbatim() {
		return b.whole(sel, format)
	}
	if len(b.sources) == 0 || !b.deliverable() {
		return nil
	}
	return b.computed(sel, format)
}

// computed plans that the one server of all sources computes the statement, in the words of its dialect.
func (b *builder) computed(sel *pg_query.SelectStmt, format *CopyFormat) *Plan {
	if b.sources[0].dialect.Ships() < dialect.Statements {
		b.because("option %q of server %q is false", dialect.Pushdown, b.sources[0].server.Name)
		return nil
	}
	s := b.newShipper(b.sources[0].dialect)
	sql, ok := s.statement(sel, format)
	if !ok {
		return nil
	}
	if b.governed && (s.exposed || s.raises && !s.narrow) { // what comes too late is not for home to compute
		b.because("what may raise an error must not come to rows that a row filter hides")
		return nil
	}
	return &Plan{
		Route: Remote, Server: b.sources[0].server, Role: b.sources[0].role, RemoteSQL: sql, Params: s.params, Privileges: b.privileges,
		Copy: format, whole: b.scanned(sel), Rows: b.yielded(sel), Guarded: s.guarded, Typmods: s.typmods,
	}
}

// statement prints a SELECT so that it yields what home has described, for a COPY where format is not nil; false, with the
// reason noted, where it cannot be shipped as a whole.
func (s *shipper) statement(sel *pg_query.SelectStmt, format *CopyFormat) (string, bool) {
	sorted := format == nil && sortable(sel)
	s.narrow = format == nil && blocking(sel) || sorted
	sql, columns, ok := s.query(sel, nil)
	if ok && sorted && (s.guarded || s.b.governed && s.raises) {
		sql += s.byAll(columns)
	}
	if ok && s.guarded && !s.narrow {
		s.beyond()
		ok = false
	}
	if !ok {
		s.b.because("%s", s.reason)
		return "", false
	}
	return s.promised(sql, columns)
}

// byAll orders rows by all of their columns.
func (s *shipper) byAll(columns []scopeColumn) string {
	if s.standard == nil && s.simple == nil {
		return " ORDER BY ALL"
	}
	places := make([]string, len(columns))
	for i := range places {
		if places[i] = itoa(i + 1); s.simple != nil { // to some of whose engines a position is a number
			places[i] = columns[i].sql
		}
	}
	return " ORDER BY " + strings.Join(places, ", ")
}

// beyond notes that an engine may find values out of bounds when it is too late to let home compute.
func (s *shipper) beyond() {
	s.no("values may lie beyond what is proven equal on %s, which may be found out late", s.d.Name())
}

// blocking reports whether an engine has computed all rows before it yields the first one, so that an error which it finds
// comes before that. Grouping alone does not make it so: what is selected of groups is computed as they are yielded.
func blocking(q *pg_query.SelectStmt) bool {
	return len(q.SortClause) > 0 || singleRow(q) && q.LimitCount == nil
}

// sortable reports whether an engine may sort what a SELECT yields to have computed all of it first: groups, which tend to be
// few.
func sortable(q *pg_query.SelectStmt) bool {
	return !blocking(q) && q.Op == pg_query.SetOperation_SETOP_NONE && len(q.GroupClause) > 0 && q.LimitCount == nil && q.LimitOffset == nil
}

// rows returns the SELECT whose rows the statement yields, nil for none that may run remote.
func (b *builder) rows() (*pg_query.SelectStmt, *CopyFormat) {
	switch b.statement.Kind {
	case parser.Select:
		return b.statement.Node.Stmt.GetSelectStmt(), nil
	case parser.CopyTo:
		c := b.statement.Node.Stmt.GetCopyStmt()
		if c.Query == nil || c.Filename != "" || c.IsProgram || len(b.req.Fields) == 0 {
			return nil, nil
		}
		format := &CopyFormat{Fields: b.req.Fields}
		for _, o := range c.Options {
			d := o.GetDefElem()
			value := d.GetArg().GetString_().GetSval()
			if d.Defname != "format" || value != "text" && value != "binary" {
				return nil, nil
			}
			format.Binary = value == "binary"
		}
		return c.Query.GetSelectStmt(), format
	}
	return nil, nil
}

// deliverable reports whether the session's settings let the proxy write the result's values as home would.
func (b *builder) deliverable() bool {
	set := b.req.Settings
	if set.ClientEncoding != "" && set.ClientEncoding != "UTF8" {
		b.because("client_encoding %s is written at home", set.ClientEncoding)
		return false
	}
	for _, f := range b.req.Fields {
		switch {
		case !deliverables[f.OID] || f.OID == 1186 && f.Typmod != -1:
			b.because("a column of this type is written at home")
			return false
		case datedTypes[f.OID] && set.DateStyle != "" && !strings.HasPrefix(set.DateStyle, "ISO"):
			b.because("DateStyle %s is written at home", set.DateStyle)
			return false
		case (f.OID == timestamptzOID || f.OID == 1185) && !knownZone(set.TimeZone):
			b.because("time zone %s is known to home alone", set.TimeZone)
			return false
		case f.OID == 1186 && set.IntervalStyle != "" && set.IntervalStyle != "postgres":
			b.because("IntervalStyle %s is written at home", set.IntervalStyle)
			return false
		case (f.OID == float4OID || f.OID == float8OID) && set.ExtraFloatDigits < 1:
			b.because("extra_float_digits %d is written at home", set.ExtraFloatDigits)
			return false
		}
	}
	return true
}

func knownZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil
}

// datedTypes are the types whose values are written by DateStyle: date, timestamp, timestamptz and arrays of them.
var datedTypes = map[uint32]bool{dateOID: true, timestampOID: true, timestamptzOID: true, 1182: true, 1115: true, 1185: true}

// deliverables are the types whose values the proxy writes as home does.
var deliverables = map[uint32]bool{
	boolOID: true, int2OID: true, int4OID: true, int8OID: true, textOID: true, varcharOID: true, 1042: true, float4OID: true,
	float8OID: true, dateOID: true, timestampOID: true, timestamptzOID: true, numericOID: true, uuidOID: true,
	17: true, 114: true, 1083: true, 1186: true,
	1000: true, 1005: true, 1007: true, 1016: true, 1009: true, 1015: true, 1021: true, 1022: true, 1182: true, 1115: true, 1185: true, 2951: true,
}

// promised makes the statement yield what home has described, column by column.
func (s *shipper) promised(sql string, columns []scopeColumn) (string, bool) {
	b := s.b
	if len(columns) != len(b.req.Fields) {
		b.because("the engine would yield %d columns where home described %d", len(columns), len(b.req.Fields))
		return "", false
	}
	names, casts := make([]string, len(columns)), make([]string, len(columns))
	plain := true
	for i, c := range columns {
		f := b.req.Fields[i]
		if !yields(c.typ, f) {
			b.because("column %q would have another type", f.Name)
			return "", false
		}
		if c.typ.Loose {
			b.because("the scale that column %q is displayed with depends on its rows", f.Name)
			return "", false
		}
		if _, _, decimal := c.typ.Decimal(); decimal && f.Typmod < 0 {
			s.typmods = append(s.typmods, make([]int32, i+1-len(s.typmods))...)
			s.typmods[i] = c.typ.Typmod
		}
		if c.typ.AsText {
			b.because("column %q is read at home", f.Name)
			return "", false
		}
		names[i] = s.d.Identifier("c" + itoa(i+1))
		casts[i] = names[i]
		if s.natural(c.typ, f) {
			continue
		}
		if s.standard != nil { // which forgets the order of what a sub-select yields
			b.because("column %q would have another scale", f.Name)
			return "", false
		}
		plain = false
		casts[i] = "CAST(" + names[i] + " AS " + s.d.Type(f.OID, f.Typmod) + ")"
	}
	if plain || s.simple != nil {
		return sql, true
	}
	return "SELECT " + strings.Join(casts, ", ") + " FROM (" + sql + ") AS r (" + strings.Join(names, ", ") + ")", true
}

// yields reports whether values of the type are values of the field's type.
func yields(t typ, f engines.Field) bool {
	if t.OID == bpcharOID {
		return f.OID == bpcharOID && t.Typmod == f.Typmod
	}
	return t.OID == f.OID || t.IsText() && f.OID == textOID
}

// natural reports that the engine yields a column in a form that needs no cast.
func (s *shipper) natural(t typ, f engines.Field) bool {
	if t.OID != numericOID || f.Typmod == -1 || t.Typmod == f.Typmod {
		return true
	}
	_, scale, ok := t.Decimal()
	_, wanted, known := dialect.Type{OID: f.OID, Typmod: f.Typmod}.Decimal()
	return s.standard != nil && ok && known && scale == wanted
}
