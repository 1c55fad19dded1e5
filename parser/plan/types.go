package plan

import (
	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// Type OIDs of pg_type that the planner reasons about.
const (
	boolOID        = 16
	int8OID        = 20
	int2OID        = 21
	int4OID        = 23
	textOID        = 25
	float4OID      = 700
	float8OID      = 701
	unknownOID     = 705
	varcharOID     = 1043
	dateOID        = 1082
	timestampOID   = 1114
	timestamptzOID = 1184
	numericOID     = 1700
	uuidOID        = 2950
)

// Collations of pg_collation that are always deterministic.
const (
	defaultCollation = 100
	cCollation       = 950
	posixCollation   = 951
)

// typ is the type of an expression as far as it matters to whether an engine computes it as Postgres would.
type typ struct {
	oid      uint32
	typmod   int32
	bytewise bool // text: compares by bytes, so that an engine may order it
	exact    bool // text: equality is that of bytes
	asText   bool // no text, but shipped as such: its values mean something only to home
}

var (
	boolean = typ{oid: boolOID, typmod: -1}
	unknown = typ{oid: unknownOID, typmod: -1}
)

func plainType(oid uint32) typ { return typ{oid: oid, typmod: -1} }

func columnTyp(c *catalog.Column, d dialect.Dialect) typ {
	return typ{
		asText: d.Type(c.Type, c.Typmod) == "VARCHAR" && !textual[c.Type],
		oid:    c.Type, typmod: c.Typmod, bytewise: c.BytewiseC,
		exact: c.BytewiseC || c.Collation == defaultCollation || c.Collation == cCollation || c.Collation == posixCollation,
	}
}

// textual are the types whose values are their text.
var textual = map[uint32]bool{textOID: true, varcharOID: true, 1042: true, 114: true}

func (t typ) isInt() bool  { return t.oid == int2OID || t.oid == int4OID || t.oid == int8OID }
func (t typ) isText() bool { return t.oid == textOID || t.oid == varcharOID }
func (t typ) isFloat() bool {
	return t.oid == float4OID || t.oid == float8OID
}

// decimal returns precision and scale of a numeric that an engine holds as a decimal.
func (t typ) decimal() (precision, scale int, ok bool) {
	if t.oid != numericOID || t.typmod < 4 {
		return 0, 0, false
	}
	scale = int((t.typmod - 4) & 0x7ff)
	precision = int((t.typmod-4)>>16) & 0xffff
	return precision, scale, scale <= precision && precision <= 38
}

func decimalTyp(precision, scale int) typ {
	return typ{oid: numericOID, typmod: int32(precision<<16|scale) + 4}
}

// digits returns how many digits stand before and behind the point in values of an exact number type.
func (t typ) digits() (whole, scale int, ok bool) {
	switch t.oid {
	case int2OID:
		return 5, 0, true
	case int4OID:
		return 10, 0, true
	case int8OID:
		return 19, 0, true
	}
	p, s, ok := t.decimal()
	return p - s, s, ok
}

// comparable reports whether an engine compares values of the two types as Postgres does: for equality, or (ordered)
// for order as well.
func comparableTypes(a, b typ, ordered bool) bool {
	if aw, as, ok := a.digits(); ok {
		if bw, bs, ok := b.digits(); ok {
			return max(aw, bw)+max(as, bs) <= 38
		}
	}
	switch {
	case a.isText() && b.isText():
		if ordered {
			return a.bytewise && b.bytewise
		}
		return a.exact && b.exact
	case a.isFloat():
		return a.oid == b.oid
	}
	switch a.oid {
	case boolOID, dateOID, timestampOID, timestamptzOID, uuidOID:
		return a.oid == b.oid
	}
	return false
}

// sortable reports whether an engine orders values of the type as Postgres does.
func (t typ) sortable() bool { return comparableTypes(t, t, true) }

// groupable reports whether an engine tells values of the type apart as Postgres does. Floats are left out: which of 0
// and -0 stands for a group is not said.
func (t typ) groupable() bool { return !t.isFloat() && comparableTypes(t, t, false) }
