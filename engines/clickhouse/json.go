package clickhouse

import (
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

// json are values without a counterpart of their own, as documents.
type json struct {
	chars
	documents
}

// written are documents that the server has written as text.
type written struct{ chars }

// writtenAsText is the form of a block's documents, of which others are made of many columns.
const writtenAsText = 1

func (w *written) prefix(r *reader) error {
	form, err := r.uint64()
	if err == nil && form != writtenAsText {
		err = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the foreign server sends JSON in a form that is not known"),
			`Set option "protocol" of the server to 'http', for which ClickHouse 25.3 or later writes it as text, or declare the column as text.`)
	}
	return err
}

// documents are read as columns, and written as JSON.
type documents interface {
	prefix(r *reader) error
	take(r *reader, rows int) error
	// write appends document i.
	write(dst []byte, i int) ([]byte, error)
}

func (j *json) prefix(r *reader) error { return j.documents.prefix(r) }

func (j *json) read(r *reader, rows int) (err error) {
	if err = j.take(r, rows); err != nil {
		return err
	}
	j.begin(rows)
	before := 0
	for i := range rows {
		if j.bytes, err = j.write(j.bytes, i); err != nil {
			return err
		}
		if err = r.spend(len(j.bytes) - before + 4); err != nil {
			return err
		}
		before = len(j.bytes)
		j.end(i)
	}
	return nil
}

// object is a tuple: an object where its elements have names, else a list.
type object struct {
	names  []string
	parts  []*column
	arrays []arrow.Array
}

// newObject makes one of elements' types, nil where one of these has no counterpart.
func newObject(args []string, depth int) *object {
	o := &object{}
	for _, a := range args {
		name, t := element(a)
		part, err := newColumn(name, t.text, depth+1)
		if err != nil {
			return nil
		}
		if name != "" {
			o.names = append(o.names, name)
		}
		o.parts = append(o.parts, part)
	}
	if len(o.names) < len(o.parts) {
		o.names = nil
	}
	return o
}

func (o *object) prefix(r *reader) error {
	for _, p := range o.parts {
		if err := p.values.prefix(r); err != nil {
			return err
		}
	}
	return nil
}

func (o *object) take(r *reader, rows int) error {
	o.arrays = o.arrays[:0]
	for _, p := range o.parts {
		if err := p.values.read(r, rows); err != nil {
			return err
		}
		o.arrays = append(o.arrays, array.MakeFromData(p.values.data(rows, nil)))
	}
	return nil
}

func (o *object) write(dst []byte, i int) (_ []byte, err error) {
	ends := "[]"
	if o.names != nil {
		ends = "{}"
	}
	dst = append(dst, ends[0])
	for k, a := range o.arrays {
		if k > 0 {
			dst = append(dst, ',')
		}
		if o.names != nil {
			if dst, err = appendString(dst, []byte(o.names[k])); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
		}
		if dst, err = appendJSON(dst, a, i, o.parts[k].field.OID); err != nil {
			return dst, err
		}
	}
	return append(dst, ends[1]), nil
}

// dictionary is a map: an object whose keys are written as text.
type dictionary struct {
	pair  *object
	spans lists
}

func (d *dictionary) prefix(r *reader) error { return d.pair.prefix(r) }

func (d *dictionary) take(r *reader, rows int) error {
	d.spans.child = &column{values: pairs{d.pair}}
	return d.spans.read(r, rows)
}

// pairs reads an object's parts where a column's values are wanted.
type pairs struct{ *object }

func (p pairs) read(r *reader, rows int) error   { return p.take(r, rows) }
func (p pairs) data(int, []byte) arrow.ArrayData { return nil }
func (p pairs) weigh(int) int                    { return 0 }
func (d *dictionary) key(i int) (dst []byte, _ error) {
	return appendJSON(nil, d.pair.arrays[0], i, d.pair.parts[0].field.OID)
}

func (d *dictionary) write(dst []byte, i int) ([]byte, error) {
	from, to := d.spans.span(i)
	dst = append(dst, '{')
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		key, err := d.key(k)
		if err == nil && key[0] != '"' {
			key, err = appendString(nil, key)
		}
		if err != nil {
			return dst, err
		}
		dst = append(append(dst, key...), ':')
		if dst, err = appendJSON(dst, d.pair.arrays[1], k, d.pair.parts[1].field.OID); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendJSON writes a value of a type of Postgres as to_jsonb does.
func appendJSON(dst []byte, a arrow.Array, i int, oid uint32) ([]byte, error) {
	if a.IsNull(i) {
		return append(dst, "null"...), nil
	}
	switch a := a.(type) {
	case *array.String:
		if oid == oidJSONB || oid == oidNumeric {
			return append(dst, a.Value(i)...), nil
		}
		return appendString(dst, []byte(a.Value(i)))
	case *array.Decimal128:
		return append(dst, a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)...), nil
	case *array.Binary:
		return append(hex.AppendEncode(append(dst, `"\\x`...), a.Value(i)), '"'), nil
	case *array.Float32:
		return appendFloat(dst, float64(a.Value(i)), 32), nil
	case *array.Float64:
		return appendFloat(dst, a.Value(i), 64), nil
	case *array.Timestamp:
		t := time.UnixMicro(int64(a.Value(i))).UTC()
		return append(t.AppendFormat(append(dst, '"'), "2006-01-02T15:04:05.999999-07:00"), '"'), nil
	case *array.MonthDayNanoInterval:
		return appendSpan(dst, a.Value(i).Nanoseconds), nil
	case *array.Date32:
		return append(a.Value(i).ToTime().AppendFormat(append(dst, '"'), time.DateOnly), '"'), nil
	case *array.FixedSizeBinary:
		v := a.Value(i)
		dst = append(dst, '"')
		for k, n := range []int{4, 6, 8, 10, 16} {
			if k > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, v[[]int{0, 4, 6, 8, 10}[k]:n])
		}
		return append(dst, '"'), nil
	case *array.List:
		return appendList(dst, a, i, oid)
	}
	return append(dst, a.ValueStr(i)...), nil // integers, decimals and truth values
}

// appendSpan writes nanoseconds as Postgres writes an interval, which ends at the microsecond.
func appendSpan(dst []byte, nanoseconds int64) []byte {
	dst = append(dst, '"')
	if nanoseconds < 0 {
		dst, nanoseconds = append(dst, '-'), -nanoseconds
	}
	micros := nanoseconds / 1000
	seconds := micros / 1_000_000
	dst = fmt.Appendf(dst, "%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	if rest := micros % 1_000_000; rest > 0 {
		dst = append(dst, strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")...)
	}
	return append(dst, '"')
}

// elementOf are the types whose arrays hold text that is no string.
var elementOf = map[uint32]uint32{oidNumerics: oidNumeric, oidJSONBs: oidJSONB}

func appendList(dst []byte, a *array.List, i int, oid uint32) (_ []byte, err error) {
	if _, nested := a.ListValues().(*array.List); !nested {
		oid = elementOf[oid]
	}
	from, to := a.ValueOffsets(i)
	dst = append(dst, '[')
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, a.ListValues(), int(k), oid); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendFloat writes what is no number in JSON as a string.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

func appendString(dst, text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return dst, pgerr.New("22021", `invalid byte sequence for encoding "UTF8"`)
	}
	quoted, err := stdjson.Marshal(string(text))
	return append(dst, quoted...), err
}
