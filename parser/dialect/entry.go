package dialect

import "strings"

// Kind is the kind of thing that an entry ships.
type Kind string

// The kinds of entry.
const (
	Operator  Kind = "operator"
	Function  Kind = "function"
	Cast      Kind = "cast" // its name is that of the type wanted
	Aggregate Kind = "aggregate"
	Window    Kind = "window function"
)

// Class is a set of types that an operand may have, and the form in which it is printed.
type Class string

// The classes. Those of numbers overlap: an entry takes the first form that its operands have.
const (
	Bool      Class = "boolean"
	Integer   Class = "integer type"
	Int2      Class = "smallint"
	Int4      Class = "integer"
	Int8      Class = "bigint"
	Exact     Class = "numeric(p,s) or integer type"   // printed as a decimal
	Numeric   Class = "numeric"                        // any that is shipped, or an integer, printed as text
	Whole     Class = "numeric(p,0) or integer type"   // printed as it is
	Sized     Class = "a numeric(p,s) or integer type" // printed as it is
	Fixed     Class = "numeric(p,s)"
	Unfixed   Class = "numeric without a fixed scale"
	Float4    Class = "real"
	Float8    Class = "double precision"
	Text      Class = "text" // varchar too, and char(n), whose blanks at the end are no part of it
	Unpadded  Class = "text or varchar"
	Ordered   Class = "text, compared by bytes"
	Letters   Class = "text or varchar, compared by bytes"
	Equal     Class = "text, equal by bytes"
	Padded    Class = "char(n)" // printed with its blanks
	Date      Class = "date"
	Timestamp Class = "timestamp"
	Zoned     Class = "timestamptz"
	Interval  Class = "interval"
	UUID      Class = "uuid"
	Grouped   Class = "a type whose values an engine tells apart as Postgres does"
	Sorted    Class = "a type whose values an engine orders as Postgres does"
	Element   Class = "an integer, boolean, text, varchar, float, date, timestamp or uuid" // whose arrays read as home's
	Any       Class = "any"
)

// Arg is what an entry takes in one place.
type Arg struct {
	Class Class
	// Literal restricts the argument to literals, which are then part of the entry.
	Literal func(text string) bool
	// Param restricts the argument to parameters, for values that it reports true of: others are home's.
	Param func(value string) bool
	// Print is how a literal is spelled for the engine; nil: as it stands.
	Print func(text string) string
	Words string // what the argument is restricted to
}

// Fit says whether the engine's values are as wide as Postgres'.
type Fit int

// An entry does not fit, fits always, or fits as long as the engine raises no error where Postgres would not.
const (
	Misfit Fit = iota
	Fits
	Guarded
)

// Result is the rule for the type of an entry's value.
type Result struct {
	Words string
	Of    func(args []Type) (Type, Fit)
}

// Entry is one row of the table of what is shipped.
type Entry struct {
	Kind   Kind
	Name   string // in pg_catalog
	Args   []Arg
	Result Result
	SQL    string // $1… are the operands, $t the result's type, $w that of the first, a decimal, with all digits there are
	Cases  string // of tests/testdata/oracle that prove it, separated by blanks
}

// Table is what may be shipped to an engine.
type Table []Entry

// Index finds the entries of a table.
type Index map[indexKey][]*Entry

type indexKey struct {
	kind Kind
	name string
	args int
}

func (t Table) index() Index {
	index := Index{}
	for i := range t {
		key := indexKey{t[i].Kind, t[i].Name, len(t[i].Args)}
		index[key] = append(index[key], &t[i])
	}
	return index
}

// Named returns the entries of a kind and a name for so many arguments, in the table's order.
func (x Index) Named(kind Kind, name string, args int) []*Entry { return x[indexKey{kind, name, args}] }

// Strict reports whether the value is NULL wherever an operand is NULL.
func (e *Entry) Strict() bool {
	switch e.Kind {
	case Operator:
		return e.Name != "IS DISTINCT FROM" && e.Name != "IS NOT DISTINCT FROM"
	case Function:
		return e.Name != "concat" && e.Name != "concat_ws"
	}
	return e.Kind == Cast
}

// Raises reports whether values that the entry takes may make Postgres raise an error, as the engine then does too: division
// by zero, or a result out of range.
func (e *Entry) Raises() bool {
	return e.Result.Words == widerResult.Words || strings.Contains(e.SQL, "error('SQLSTATE 22") || e.Kind == Cast && narrow[e.Name] && (e.Name != "int8" || e.Args[0].Class != Integer) ||
		e.Kind == Operator && (strings.HasPrefix(e.SQL, "sluice_numeric_divide") || strings.HasPrefix(e.SQL, "sluice_float8_"))
}

// narrow are types that a cast of a number may not fit into.
var narrow = map[string]bool{"int2": true, "int4": true, "int8": true}

// takes makes the arguments of an entry of classes alone.
func takes(classes ...Class) []Arg {
	list := make([]Arg, len(classes))
	for i, c := range classes {
		list[i] = Arg{Class: c}
	}
	return list
}

// Takes reports whether operands of the class have the type.
func (c Class) Takes(t Type) bool {
	switch c {
	case Integer:
		return t.IsInt()
	case Exact:
		_, _, ok := t.Digits()
		return ok
	case Whole:
		_, scale, ok := t.Digits()
		return ok && scale == 0 && !t.Loose
	case Sized:
		return Exact.Takes(t) && !t.Loose
	case Numeric:
		return t.IsNumber()
	case Fixed:
		_, _, ok := t.Decimal()
		return ok
	case Unfixed:
		return t.OID == numericOID && t.Wide
	case Text:
		return !t.AsText && (t.IsText() || t.OID == bpcharOID)
	case Unpadded:
		return t.IsText()
	case Padded:
		return t.OID == bpcharOID && t.Typmod > 4
	case Equal:
		return Text.Takes(t) && t.Exact
	case Ordered:
		return Text.Takes(t) && t.Bytewise && !t.Folded
	case Letters:
		return t.IsText() && t.Bytewise && !t.Folded
	case Sorted:
		return t.Sortable() && t.OID != boolOID && t.OID != uuidOID && !t.IsFloat() && !t.Wide && !t.Loose
	case Grouped:
		return t.Groupable()
	case Element:
		return !t.AsText && (t.IsInt() || t.IsText() || t.IsFloat() || ordinary[t.OID])
	case Any:
		return true
	}
	return classTypes[c] == t.OID && !t.AsText
}

var classTypes = map[Class]uint32{
	Bool: boolOID, Int2: int2OID, Int4: int4OID, Int8: int8OID, Float4: float4OID, Float8: float8OID, Date: dateOID,
	Timestamp: timestampOID, Zoned: timestamptzOID, Interval: intervalOID, UUID: uuidOID,
}

// Sortable reports whether an engine orders values of the type as Postgres does.
func (t Type) Sortable() bool {
	switch {
	case t.Opaque, t.Folded:
		return false
	case t.IsText(), t.OID == bpcharOID:
		return Ordered.Takes(t)
	case t.IsNumber(), t.IsFloat():
		return true
	}
	return ordinary[t.OID]
}

// Groupable reports whether an engine tells values of the type apart as Postgres does, and any of those that are equal
// stands for all: floats are left out, where it is not said whether 0 or -0 stands for a group.
func (t Type) Groupable() bool {
	switch {
	case t.Opaque, t.Folded:
		return false
	case t.IsText(), t.OID == bpcharOID:
		return Equal.Takes(t)
	case t.IsFloat(), t.Wide, t.Loose:
		return false
	case t.IsNumber():
		return true
	}
	return ordinary[t.OID]
}

var ordinary = map[uint32]bool{boolOID: true, dateOID: true, timestampOID: true, timestamptzOID: true, uuidOID: true}
