package duckdb

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

// addColumns appends the rows of a record batch, in the text forms that the casts of cast.go read.
func (a *appender) addColumns(r arrow.RecordBatch) error {
	if int(r.NumCols()) != len(a.vectors) {
		return pgerr.New(pgerr.ProtocolViolation, "a row of %d fields came where %d were expected", r.NumCols(), len(a.vectors))
	}
	var text []byte
	for row := range int(r.NumRows()) {
		for i, col := range r.Columns() {
			if col.IsNull(row) {
				a.null(i)
				continue
			}
			var err error
			if text, err = appendArrow(text[:0], col, row); err != nil {
				return err
			}
			if err := a.text(i, text); err != nil {
				return err
			}
		}
		if err := a.endRow(); err != nil {
			return err
		}
	}
	return nil
}

// appendArrow appends one value as Postgres' text, without quotes or zones other than UTC.
func appendArrow(dst []byte, col arrow.Array, i int) ([]byte, error) {
	switch c := col.(type) {
	case *array.String:
		return append(dst, c.Value(i)...), nil
	case *array.Binary:
		return appendHex(dst, c.Value(i)), nil
	case *array.FixedSizeBinary:
		if v := c.Value(i); len(v) == 16 {
			return appendUUID(dst, v), nil
		}
		return appendHex(dst, c.Value(i)), nil
	case *array.Float32:
		return strconv.AppendFloat(dst, float64(c.Value(i)), 'g', -1, 32), nil
	case *array.Float64:
		return strconv.AppendFloat(dst, c.Value(i), 'g', -1, 64), nil
	case *array.Date32:
		return appendDay(dst, int64(c.Value(i)), math.MaxInt32, math.MinInt32), nil
	case *array.Timestamp:
		return appendTimestamp(dst, c, i), nil
	case *array.Time64:
		unit := c.DataType().(*arrow.Time64Type).Unit
		return c.Value(i).ToTime(unit).AppendFormat(dst, "15:04:05.999999999"), nil
	case *array.MonthDayNanoInterval:
		return appendInterval(dst, c.Value(i)), nil
	case *array.List:
		return appendList(dst, c, i)
	case *array.Decimal128:
		return append(dst, c.Value(i).ToString(c.DataType().(*arrow.Decimal128Type).Scale)...), nil
	case *array.Decimal256:
		return append(dst, c.Value(i).ToString(c.DataType().(*arrow.Decimal256Type).Scale)...), nil
	case *array.Boolean, *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Uint8, *array.Uint16,
		*array.Uint32, *array.Uint64:
		return append(dst, c.ValueStr(i)...), nil
	default:
		return nil, pgerr.New(pgerr.FeatureNotSupported, "columns of type %s cannot be written to DuckDB", col.DataType())
	}
}

func appendHex(dst, v []byte) []byte { return hex.AppendEncode(append(dst, '\\', 'x'), v) }

func appendUUID(dst, v []byte) []byte {
	for i, n := range []int{4, 2, 2, 2, 6} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, v[:n])
		v = v[n:]
	}
	return dst
}

func appendDay(dst []byte, days, highest, lowest int64) []byte {
	switch days {
	case highest:
		return append(dst, "infinity"...)
	case lowest:
		return append(dst, "-infinity"...)
	}
	return appendTime(dst, time.Unix(days*86400, 0).UTC(), "")
}

func appendTimestamp(dst []byte, c *array.Timestamp, i int) []byte {
	typ := c.DataType().(*arrow.TimestampType)
	v := int64(c.Value(i))
	if v == math.MaxInt64 || v == math.MinInt64 {
		return appendDay(dst, v, math.MaxInt64, math.MinInt64)
	}
	layout := " 15:04:05.999999999"
	if typ.TimeZone != "" {
		layout += "+00"
	}
	return appendTime(dst, c.Value(i).ToTime(typ.Unit).UTC(), layout)
}

// appendTime appends a date and what layout adds, years before 1 as Postgres writes them.
func appendTime(dst []byte, t time.Time, layout string) []byte {
	year, era := t.Year(), ""
	if year <= 0 {
		year, era = 1-year, " BC"
	}
	dst = fmt.Appendf(dst, "%04d", year)
	return append(t.AppendFormat(dst, "-01-02"+layout), era...)
}

func appendInterval(dst []byte, v arrow.MonthDayNanoInterval) []byte {
	dst = strconv.AppendInt(dst, int64(v.Months), 10)
	dst = append(dst, " months "...)
	dst = strconv.AppendInt(dst, int64(v.Days), 10)
	dst = append(dst, " days "...)
	dst = strconv.AppendInt(dst, v.Nanoseconds/nanosPerMicro, 10)
	return append(dst, " microseconds"...)
}

// appendList appends a Postgres array, each element quoted.
func appendList(dst []byte, c *array.List, i int) ([]byte, error) {
	from, to := c.ValueOffsets(i)
	dst = append(dst, '{')
	for j := int(from); j < int(to); j++ {
		if j > int(from) {
			dst = append(dst, ',')
		}
		if c.ListValues().IsNull(j) {
			dst = append(dst, "NULL"...)
			continue
		}
		element, err := appendArrow(nil, c.ListValues(), j)
		if err != nil {
			return nil, err
		}
		dst = append(dst, '"')
		for _, b := range element {
			if b == '"' || b == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, b)
		}
		dst = append(dst, '"')
	}
	return append(dst, '}'), nil
}
