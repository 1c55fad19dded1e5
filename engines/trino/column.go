package trino

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// remoteColumn is a column as the server describes it.
type remoteColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// column collects the values of one column of a page.
type column struct {
	field   engines.Field
	remote  string
	builder array.Builder
	read    reader
}

// reader reads one value that is not NULL into a builder.
type reader func(s *scanner) error

func newColumn(r remoteColumn) (*column, error) {
	f, k, list, err := r.field()
	if err != nil {
		return nil, err
	}
	typ := k.typ
	if list {
		typ = arrow.ListOf(typ)
	}
	c := &column{field: f, remote: r.Type, builder: array.NewBuilder(memory.DefaultAllocator, typ)}
	if l, ok := c.builder.(*array.ListBuilder); ok {
		c.read = listReader(l, c.scalar(l.ValueBuilder(), k))
	} else {
		c.read = c.scalar(c.builder, k)
	}
	return c, nil
}

// append reads one value.
func (c *column) append(s *scanner) error {
	if s.word("null") {
		c.builder.AppendNull()
		return nil
	}
	return c.read(s)
}

func listReader(l *array.ListBuilder, element reader) reader {
	return func(s *scanner) error {
		if !s.take('[') {
			return errJSON
		}
		l.Append(true)
		for first := true; ; first = false {
			more, err := s.more(']', first)
			if err != nil || !more {
				return err
			}
			if s.word("null") {
				l.ValueBuilder().AppendNull()
			} else if err := element(s); err != nil {
				return err
			}
		}
	}
}

// scalar returns the reader for values of a kind.
func (c *column) scalar(b array.Builder, k kind) reader {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return func(s *scanner) error {
			truth := s.word("true")
			if !truth && !s.word("false") {
				return errJSON
			}
			b.Append(truth)
			return nil
		}
	case *array.Int16Builder:
		return c.integers(math.MaxInt16, func(n int64) { b.Append(int16(n)) })
	case *array.Int32Builder:
		return c.integers(math.MaxInt32, func(n int64) { b.Append(int32(n)) })
	case *array.Int64Builder:
		return c.integers(math.MaxInt64, b.Append)
	case *array.Float32Builder:
		return floats(32, func(f float64) { b.Append(float32(f)) })
	case *array.Float64Builder:
		return floats(64, b.Append)
	case *array.Decimal128Builder:
		return c.decimals(b, k)
	case *array.StringBuilder:
		return c.texts(b, k)
	}
	return c.spelled(b)
}

// spelled returns the reader for values that come as texts of a form of their own.
func (c *column) spelled(b array.Builder) reader {
	parsed := func(parse func(text []byte) bool) reader {
		return func(s *scanner) error {
			text, err := s.text()
			if err == nil && !parse(text) {
				err = c.misfit(text)
			}
			return err
		}
	}
	switch b := b.(type) {
	case *array.BinaryBuilder:
		var room []byte
		return parsed(func(text []byte) bool {
			var err error
			if room, err = base64.StdEncoding.AppendDecode(room[:0], text); err == nil {
				b.Append(room)
			}
			return err == nil
		})
	case *array.FixedSizeBinaryBuilder:
		return parsed(func(text []byte) bool {
			id, ok := uuid(text)
			if ok {
				b.Append(id[:])
			}
			return ok
		})
	case *array.Date32Builder:
		return parsed(func(text []byte) bool {
			day, rest, ok := date(text)
			if ok = ok && len(rest) == 0; ok {
				b.Append(arrow.Date32(day))
			}
			return ok
		})
	case *array.Time64Builder:
		return parsed(func(text []byte) bool {
			t, rest, ok := clock(text)
			if ok = ok && len(rest) == 0; ok {
				b.Append(arrow.Time64(t))
			}
			return ok
		})
	case *array.TimestampBuilder:
		zoned := b.Type().(*arrow.TimestampType).TimeZone != ""
		return parsed(func(text []byte) bool {
			t, ok := timestamp(text, zoned)
			if ok {
				b.Append(arrow.Timestamp(t))
			}
			return ok
		})
	case *array.MonthDayNanoIntervalBuilder:
		months := strings.Contains(strings.ToLower(c.remote), "year")
		return parsed(func(text []byte) bool {
			v, ok := interval(text, months)
			if ok {
				b.Append(v)
			}
			return ok
		})
	}
	return func(*scanner) error { return pgerr.New(pgerr.InternalError, "nothing reads values of %s", c.remote) }
}

func (c *column) integers(most int64, add func(int64)) reader {
	return func(s *scanner) error {
		n, err := s.integer()
		if err != nil {
			return err
		}
		if n > most || n < -most-1 {
			return pgerr.New(pgerr.NumericOutOfRange, "%d is out of range for column %q of type %s", n, c.field.Name, c.remote)
		}
		add(n)
		return nil
	}
}

// floats reads numbers, and the texts that stand for what JSON has no number for.
func floats(bits int, add func(float64)) reader {
	return func(s *scanner) error {
		token, err := []byte(nil), error(nil)
		if s.next() == '"' {
			token, err = s.text()
		} else {
			token, err = s.number()
		}
		if err != nil {
			return err
		}
		f, err := strconv.ParseFloat(string(token), bits)
		if err == nil {
			add(f)
		}
		return err
	}
}

func (c *column) decimals(b *array.Decimal128Builder, k kind) reader {
	t := k.typ.(*arrow.Decimal128Type)
	return func(s *scanner) error {
		text, err := s.text()
		if err != nil {
			return err
		}
		n, ok := decimal(text, int(t.Precision), int(t.Scale))
		if !ok {
			return c.misfit(text)
		}
		b.Append(n)
		return nil
	}
}

// decimal reads a decimal that has just so many digits behind its point.
func decimal(text []byte, precision, scale int) (decimal128.Num, bool) {
	digits := text
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	var n decimal128.Num
	small, count, behind := uint64(0), 0, -1
	for _, c := range digits {
		if c == '.' && behind < 0 {
			behind = 0
			continue
		}
		if c -= '0'; c > 9 {
			return n, false
		}
		if behind >= 0 {
			behind++
		}
		if count++; count <= 18 {
			small = small*10 + uint64(c)
		} else {
			if count == 19 {
				n = decimal128.FromU64(small)
			}
			n = n.Mul(ten).Add(decimal128.FromU64(uint64(c)))
		}
	}
	if count == 0 || count > precision+1 || max(behind, 0) != scale {
		return n, false
	}
	if count <= 18 {
		n = decimal128.FromU64(small)
	}
	if negative {
		n = n.Negate()
	}
	return n, n.FitsInPrecision(int32(precision))
}

var ten = decimal128.FromU64(10)

// texts reads texts that Postgres can hold. Of a fixed length, blanks at the end are no part of the value.
func (c *column) texts(b *array.StringBuilder, k kind) reader {
	fixed := k.oid == 1042
	return func(s *scanner) error {
		text, err := s.text()
		if err != nil {
			return err
		}
		if err := c.valid(text); err != nil {
			return err
		}
		if fixed {
			text = []byte(strings.TrimRight(string(text), " "))
		}
		b.BinaryBuilder.Append(text)
		return nil
	}
}

// valid refuses what a text of Postgres cannot hold.
func (c *column) valid(text []byte) error {
	ascii := byte(0)
	for _, b := range text {
		if b == 0 {
			return c.where(pgerr.New("22021", `invalid byte sequence for encoding "UTF8": 0x00`))
		}
		ascii |= b
	}
	if ascii >= utf8.RuneSelf && !utf8.Valid(text) {
		return c.where(pgerr.New("22021", `invalid byte sequence for encoding "UTF8"`))
	}
	return nil
}

func (c *column) where(err error) error {
	e := pgerr.From(err)
	e.Where = `column "` + c.field.Name + `" of a remote row`
	return e
}

// misfit says that a value is not one that the column's type at home holds.
func (c *column) misfit(text []byte) error {
	return pgerr.Hint(pgerr.New("22008", "%q of column %q, of type %s at the cluster, does not fit into its type at home", printable(cut(text)), c.field.Name, c.remote),
		"Declare the foreign table's column as text.")
}

// cut keeps messages short.
func cut(text []byte) string {
	if len(text) > 60 {
		return string(text[:60]) + "…"
	}
	return string(text)
}

func uuid(text []byte) (id [16]byte, ok bool) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return id, false
	}
	plain := fmt.Appendf(nil, "%s%s%s%s%s", text[:8], text[9:13], text[14:18], text[19:23], text[24:])
	_, err := hex.Decode(id[:], plain)
	return id, err == nil
}
