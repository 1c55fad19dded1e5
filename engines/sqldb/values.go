package sqldb

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

// describe spells a value for a message, and says of what kind it is.
func describe(v driver.Value) string {
	switch v := v.(type) {
	case []byte:
		if utf8.Valid(v) {
			return fmt.Sprintf("the bytes %q", cut(string(v)))
		}
		return `the bytes \x` + cut(hex.EncodeToString(v))
	case string:
		return fmt.Sprintf("the text %q", cut(v))
	case float32, float64:
		return fmt.Sprintf("the float %v", v)
	}
	return fmt.Sprintf("the number %v", v)
}

// cut keeps messages short.
func cut(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "…"
}

// textOf returns a value that comes as text; false for others. Where values have types of their own, only a text is one.
func (c *column) textOf(v driver.Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), !c.strict
	}
	return "", false
}

func putBool(c *column, v driver.Value) error {
	b := c.builder.(*array.BooleanBuilder)
	switch v := v.(type) {
	case bool:
		b.Append(v)
		return nil
	case int64:
		if v == 0 || v == 1 {
			b.Append(v == 1)
			return nil
		}
	case []byte: // a bit
		if !c.strict && len(v) == 1 && v[0] <= 1 {
			b.Append(v[0] == 1)
			return nil
		}
	}
	return c.misfit(v)
}

// bits are the sizes of integers.
var bits = map[uint32]int{oidInt2: 16, oidInt4: 32, oidInt8: 64}

func putInt(c *column, v driver.Value) error {
	n, ok := v.(int64)
	if !ok {
		text, isText := c.textOf(v)
		if !isText || c.strict {
			return c.misfit(v)
		}
		var err error
		if n, err = strconv.ParseInt(text, 10, 64); err != nil {
			if digits := strings.TrimLeft(strings.TrimPrefix(text, "-"), "0123456789"); digits == "" && text != "" && text != "-" {
				return c.outOfRange(text)
			}
			return c.misfit(v)
		}
	}
	if spare := 64 - c.bits; n<<spare>>spare != n {
		return c.outOfRange(strconv.FormatInt(n, 10))
	}
	switch b := c.builder.(type) {
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int64Builder:
		b.Append(n)
	}
	return nil
}

func (c *column) outOfRange(text string) error {
	return pgerr.Hint(pgerr.New(pgerr.NumericOutOfRange, "%s is out of range for column %q of type %s", cut(text), c.field.Name, c.typeName()),
		"Declare the column with a type that holds the values of the foreign server.")
}

func putFloat(c *column, v driver.Value) error {
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case float32:
		f = float64(v)
	case int64:
		if f = float64(v); f >= 1<<63 || int64(f) != v {
			return c.misfit(v)
		}
	default:
		text, ok := c.textOf(v)
		if !ok || c.strict || !isNumeric(text) {
			return c.misfit(v)
		}
		var err error
		if f, err = strconv.ParseFloat(text, 64); err != nil {
			return c.outOfRange(text)
		}
	}
	switch b := c.builder.(type) {
	case *array.Float64Builder:
		b.Append(f)
	case *array.Float32Builder:
		if narrow := float32(f); float64(narrow) == f || math.IsNaN(f) {
			b.Append(narrow)
			return nil
		}
		return c.misfit(v)
	}
	return nil
}

// valid refuses what a text of Postgres cannot hold.
func valid(text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return pgerr.New("22021", `invalid byte sequence for encoding "UTF8": 0x00`)
	}
	if !utf8.ValidString(text) {
		return pgerr.New("22021", `invalid byte sequence for encoding "UTF8": %q`, cut(text))
	}
	return nil
}

// spelled is a value as text: numbers too where values have no types of their own.
func (c *column) spelled(v driver.Value) (string, error) {
	text, ok := c.textOf(v)
	if !ok {
		if text, ok = numberText(v); !ok || c.strict {
			return "", c.misfit(v)
		}
	}
	return text, valid(text)
}

func putText(c *column, v driver.Value) error {
	if raw, ok := v.([]byte); ok && !c.strict && utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0 {
		c.builder.(*array.StringBuilder).BinaryBuilder.Append(raw)
		return nil
	}
	text, err := c.spelled(v)
	if err == nil {
		c.builder.(*array.StringBuilder).Append(text)
	}
	return err
}

// putLimited takes texts of a greatest length. Of a fixed one, blanks at the end are no part of the value.
func putLimited(c *column, v driver.Value) error {
	text, err := c.spelled(v)
	if err != nil {
		return err
	}
	most := int(c.field.Typmod) - 4
	if c.field.OID == oidBpchar {
		text = strings.TrimRight(text, " ")
	}
	if most >= 0 && len(text) > most && utf8.RuneCountInString(text) > most {
		return pgerr.New("22001", "value too long for type %s(%d)", c.typeName(), most)
	}
	c.builder.(*array.StringBuilder).Append(text)
	return nil
}

func putBytes(c *column, v driver.Value) error {
	b, ok := v.([]byte)
	if text, isText := v.(string); isText && !c.strict {
		b, ok = []byte(text), true
	}
	if !ok {
		return c.misfit(v)
	}
	c.builder.(*array.BinaryBuilder).Append(b)
	return nil
}

func putJSON(c *column, v driver.Value) error {
	text, err := c.spelled(v)
	if err != nil {
		return err
	}
	if !json.Valid([]byte(text)) {
		return c.misfit(v)
	}
	c.builder.(*array.StringBuilder).Append(text)
	return nil
}

// putBits takes a number's bytes for its lowest bits, the highest first.
func putBits(c *column, v driver.Value) error {
	raw, ok := v.([]byte)
	if !ok {
		return c.misfit(v)
	}
	var b strings.Builder
	for _, octet := range raw {
		fmt.Fprintf(&b, "%08b", octet)
	}
	text := b.String()
	if most := int(c.field.Typmod); most > 0 && most < len(text) {
		if strings.Contains(text[:len(text)-most], "1") {
			return c.misfit(v)
		}
		text = text[len(text)-most:]
	}
	c.builder.(*array.StringBuilder).Append(text)
	return nil
}

func putUUID(c *column, v driver.Value) error {
	b, _ := v.([]byte)
	if text, ok := c.textOf(v); ok && len(text) == 36 {
		plain := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
		b, _ = hex.DecodeString(plain)
		if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			b = nil
		}
	}
	if len(b) != 16 {
		return c.misfit(v)
	}
	c.builder.(*array.FixedSizeBinaryBuilder).Append(bytes.Clone(b))
	return nil
}
