package plan

import (
	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// Type OIDs of pg_type that the planner reasons about.
const (
	boolOID        = dialect.BoolOID
	int8OID        = dialect.Int8OID
	int2OID        = dialect.Int2OID
	int4OID        = dialect.Int4OID
	textOID        = dialect.TextOID
	float4OID      = dialect.Float4OID
	float8OID      = dialect.Float8OID
	unknownOID     = dialect.UnknownOID
	bpcharOID      = dialect.BpcharOID
	varcharOID     = dialect.VarcharOID
	dateOID        = dialect.DateOID
	timestampOID   = dialect.TimestampOID
	timestamptzOID = dialect.TimestamptzOID
	intervalOID    = dialect.IntervalOID
	numericOID     = dialect.NumericOID
	uuidOID        = dialect.UUIDOID
)

// Collations of pg_collation that are always deterministic.
const (
	defaultCollation = 100
	cCollation       = 950
	posixCollation   = 951
)

// typ is the type of an expression.
type typ = dialect.Type

var (
	boolean = dialect.Plain(boolOID)
	unknown = dialect.Plain(unknownOID)
)

func columnTyp(c *catalog.Column, d dialect.Dialect) typ {
	simple, ok := d.(dialect.Simple)
	standard, plain := d.(dialect.Standard)
	asText := "VARCHAR"
	if plain {
		asText = d.Type(textOID, -1)
	}
	folding, folds := d.(dialect.Folding)
	return typ{
		Opaque:   ok && !simple.Computes(c) || plain && !standard.Computes(c),
		NotNull:  ok && c.NotNull,
		Folded:   folds && folding.Folds(c),
		Askew:    ok && !simple.Empty(c),
		AsText:   d.Type(c.Type, c.Typmod) == asText && !textual[c.Type] || !dialect.Feeds(d, c),
		Declared: true, Collate: c.Collate,
		OID: c.Type, Typmod: c.Typmod, Bytewise: c.BytewiseC,
		Exact: c.BytewiseC || c.Collation == defaultCollation || c.Collation == cCollation || c.Collation == posixCollation,
	}
}

// textual are the types whose values are their text.
var textual = map[uint32]bool{textOID: true, varcharOID: true, bpcharOID: true, 114: true}

// firstUnpinnedOID is the first OID of types that initdb gives no fixed one; composite ones of the catalog are behind it
// but for some.
const firstUnpinnedOID = 10000

// mayBeRow reports whether values may be rows, which are NULL to IS NULL where their fields are, and are shipped as text.
func mayBeRow(t typ) bool {
	switch t.OID {
	case 71, 75, 81, 83, 1248, 1842, 1843, 2249, 4066, 6101: // row types of shared and bootstrap catalogs, record
		return true
	}
	return t.OID >= firstUnpinnedOID
}

// columnSQL prints a column in the form that expressions have it in: char(n) without its blanks.
func (s *shipper) columnSQL(c *catalog.Column, alias string) string {
	if s.simple != nil { // the engine strips them
		return s.d.Column(c, alias)
	}
	if s.standard != nil && c.Type == bpcharOID {
		return s.standard.Stripped(s.d.Column(c, alias))
	}
	return stripped(c, s.d.Column(c, alias))
}

func stripped(c *catalog.Column, sql string) string {
	if c.Type == bpcharOID {
		return "rtrim(" + sql + ", ' ')"
	}
	return sql
}

// comparable reports whether an engine compares values of the two types by their printed forms as Postgres does: for
// equality, or (ordered) for order as well.
func comparableTypes(a, b typ, ordered bool) bool {
	if a.Opaque || b.Opaque {
		return false
	}
	if aw, as, ok := a.Digits(); ok {
		if bw, bs, ok := b.Digits(); ok {
			return max(aw, bw)+max(as, bs) <= 38
		}
	}
	switch {
	case a.Wide || b.Wide:
		return false
	case dialect.Text.Takes(a) && dialect.Text.Takes(b):
		if dialect.TextOf(a, b).Collate == dialect.Indeterminate {
			return false
		}
		if ordered {
			return dialect.Ordered.Takes(a) && dialect.Ordered.Takes(b)
		}
		return a.Exact && b.Exact
	}
	return a.OID == b.OID && !a.AsText && !b.AsText && a.Sortable()
}
