package snowflake

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

// limited takes texts that are no longer than the column may be; those of character(n) have blanks up to that.
func (c *column) limited(a arrow.Array) (arrow.Array, error) {
	source, ok := a.(*array.String)
	if !ok {
		return nil, c.unexpected(a)
	}
	limit := int(c.field.Typmod) - 4
	if limit <= 0 {
		return c.keep(a)
	}
	pads := false
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		text := source.Value(i)
		n := len(text)
		if n >= limit {
			n = utf8.RuneCountInString(text)
		}
		if n > limit {
			return nil, pgerr.Hint(pgerr.New("22001", "a value of column %q is too long for type %s(%d)", c.field.Name, c.typeName(), limit),
				"Declare the column as text, or with the length that it has at Snowflake.")
		}
		pads = pads || n < limit
	}
	if c.field.OID != oidBpchar || !pads {
		return c.keep(a)
	}
	return padded(source, limit), nil
}

func padded(source *array.String, limit int) arrow.Array {
	b := array.NewStringBuilder(arrowMemory)
	defer b.Release()
	for i := range source.Len() {
		if source.IsNull(i) {
			b.AppendNull()
			continue
		}
		text := source.Value(i)
		b.Append(text + strings.Repeat(" ", limit-utf8.RuneCountInString(text)))
	}
	return b.NewArray()
}

// uuid reads texts in the form that Postgres writes.
func (c *column) uuid(a arrow.Array) (arrow.Array, error) {
	source, ok := a.(*array.String)
	if !ok {
		return nil, c.unexpected(a)
	}
	out := c.room(16 * a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		text := source.Value(i)
		digits := strings.ReplaceAll(text, "-", "")
		if n, err := hex.Decode(out[16*i:], []byte(digits[:min(len(digits), 32)])); err != nil || n != 16 || len(digits) != 32 || !hyphens(text) {
			return nil, pgerr.Hint(pgerr.New(pgerr.InvalidTextRepr, "%q is no value for column %q of type uuid", cut(text), c.field.Name), "Declare the column as text.")
		}
	}
	return c.built(a, out), nil
}

// hyphens reports whether a text has hyphens where a uuid has, or none.
func hyphens(text string) bool {
	return len(text) == 32 || len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-'
}

// cut keeps messages short.
func cut(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "…"
}
