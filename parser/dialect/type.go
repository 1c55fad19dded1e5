package dialect

import "strconv"

// Type is the type of an expression as far as it matters to whether an engine computes it as Postgres would.
type Type struct {
	OID      uint32
	Typmod   int32
	Declared bool   // the modifier is the one that Postgres knows, and not only the engine's
	Vague    bool   // Postgres may give it another type of text
	Collate  string // text: the qualified name of a collation that is not the type's own, or Indeterminate
	Bytewise bool   // text: compares by bytes, so that an engine may order it
	Exact    bool   // text: equality is that of bytes
	AsText   bool   // no text, but shipped as such: its values mean something only to home
	Wide     bool   // numeric: held as text, its scale as Postgres displays it depends on the values
	Narrow   bool   // numeric: computed in 64 bits, checked, though its digits may be more
	Loose    bool   // numeric, held as a decimal: a value may display with a smaller scale than the type's
	// Dynamic is the engine's expression for that scale, empty where the value's origin is out of reach.
	Dynamic string
	// Opaque says that the engine yields values of a column but must not compute with them.
	Opaque  bool
	Folded  bool   // such an engine compares values by the words of its table alone
	NotNull bool   // of a column of such an engine
	Askew   bool   // likewise: IS NULL may mean something else of it
	Null    bool   // home knows the value for NULL while it plans
	Text    string // of a literal that an entry takes: what it says
}

// OIDs of pg_type that the tables reason about.
const (
	BoolOID        = boolOID
	Int2OID        = int2OID
	Int4OID        = int4OID
	Int8OID        = int8OID
	TextOID        = textOID
	Float4OID      = float4OID
	Float8OID      = float8OID
	UnknownOID     = 705
	BpcharOID      = bpcharOID
	VarcharOID     = varcharOID
	DateOID        = dateOID
	TimeOID        = timeOID
	TimestampOID   = timestampOID
	TimestamptzOID = timestamptzOID
	IntervalOID    = intervalOID
	NumericOID     = numericOID
	UUIDOID        = uuidOID
)

// Plain is a type without a modifier.
func Plain(oid uint32) Type { return Type{OID: oid, Typmod: -1} }

// Decimal is numeric(precision, scale).
func Decimal(precision, scale int) Type {
	return Type{OID: numericOID, Typmod: int32(precision<<16|scale) + 4}
}

// WideNumeric is a numeric whose scale depends on its value.
func WideNumeric() Type { return Type{OID: numericOID, Typmod: -1, Wide: true} }

// TextOf is text that comes from values of other text types.
func TextOf(from ...Type) Type {
	t := Type{OID: textOID, Typmod: -1, Bytewise: true, Exact: true}
	for _, f := range from {
		if f.IsText() || f.OID == bpcharOID {
			t.Bytewise, t.Exact, t.Vague = t.Bytewise && f.Bytewise, t.Exact && f.Exact, t.Vague || f.Vague
			t.Collate = Collate(t.Collate, f.Collate)
		}
	}
	if t.Collate == Indeterminate {
		t.Bytewise, t.Exact = false, false
	}
	return t
}

// Indeterminate is the collation of what comes from values under several ones: home refuses to compare by it.
const Indeterminate = "?"

// Collate is the collation of what comes from two values.
func Collate(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return Indeterminate
}

// IsInt reports whether the type is an integer.
func (t Type) IsInt() bool { return t.OID == int2OID || t.OID == int4OID || t.OID == int8OID }

// IsText reports whether the type is text or varchar.
func (t Type) IsText() bool { return t.OID == textOID || t.OID == varcharOID }

// IsFloat reports whether the type is real or double precision.
func (t Type) IsFloat() bool { return t.OID == float4OID || t.OID == float8OID }

// Decimal returns precision and scale of a numeric that an engine holds as a decimal.
func (t Type) Decimal() (precision, scale int, ok bool) {
	if t.OID != numericOID || t.Wide {
		return 0, 0, false
	}
	precision, scale, ok = numericTypmod(t.Typmod)
	return precision, scale, ok && scale >= 0 && scale <= precision && precision <= MostDigits
}

// MostDigits is how many digits a decimal has at most.
const MostDigits = 38

// Narrowest is how many digits a decimal has that is computed in 64 bits.
const Narrowest = 18

// Held returns how many digits the engine's own type of a decimal has.
func (t Type) Held() int {
	p, _, _ := t.Decimal()
	if t.Narrow {
		return min(p, Narrowest)
	}
	return p
}

// Digits returns how many digits stand before and behind the point in values of an exact number type.
func (t Type) Digits() (whole, scale int, ok bool) {
	switch t.OID {
	case int2OID:
		return 5, 0, true
	case int4OID:
		return 10, 0, true
	case int8OID:
		return 19, 0, true
	}
	p, s, ok := t.Decimal()
	return p - s, s, ok
}

// IsNumber reports whether values are exact numbers that the engine can hold in some way.
func (t Type) IsNumber() bool {
	_, _, ok := t.Digits()
	return ok || t.Wide
}

// Name returns a short name of the type for reasons and pages.
func (t Type) Name() string {
	if name := typeNames[t.OID]; name != "" {
		return name
	}
	return "type " + strconv.Itoa(int(t.OID))
}

var typeNames = map[uint32]string{
	boolOID: "boolean", byteaOID: "bytea", int8OID: "bigint", int2OID: "smallint", int4OID: "integer", textOID: "text",
	jsonOID: "json", float4OID: "real", float8OID: "double precision", bpcharOID: "character", varcharOID: "character varying",
	dateOID: "date", timeOID: "time", timestampOID: "timestamp", timestamptzOID: "timestamptz", intervalOID: "interval",
	timetzOID: "timetz", numericOID: "numeric", uuidOID: "uuid", jsonbOID: "jsonb", UnknownOID: "unknown",
}
