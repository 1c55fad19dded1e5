package encode

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

const codeDateTimeOverflow = "22008"

// Postgres counts from 2000-01-01, Arrow from 1970-01-01.
const (
	epochDays   = 10957
	micros      = 1_000_000
	dayMicros   = 86400 * micros
	epochMicros = epochDays * dayMicros
)

// Limits of Postgres' types, on its own epoch.
const (
	minDate, endDate           = -2451545, 2147483494 - 2451545
	minTimestamp, endTimestamp = -211813488000000000, 9223371331200000000
)

func bindDate(c column) cell {
	a, ok := c.array.(*array.Date32)
	if !ok {
		return nil
	}
	values, bin := a.Date32Values(), c.binary
	return func(dst []byte, i int) ([]byte, error) {
		v := int64(values[i])
		switch v {
		case math.MaxInt32, math.MinInt32:
			if bin {
				return binary.BigEndian.AppendUint32(dst, uint32(v)), nil
			}
			return appendInfinity(dst, v > 0), nil
		}
		pg := v - epochDays
		if pg < minDate || pg >= endDate {
			return dst, pgerr.New(codeDateTimeOverflow, "date out of range")
		}
		if bin {
			return binary.BigEndian.AppendUint32(dst, uint32(pg)), nil
		}
		dst, bc := appendDate(dst, v)
		return appendEra(dst, bc), nil
	}
}

func appendInfinity(dst []byte, positive bool) []byte {
	if positive {
		return append(dst, "infinity"...)
	}
	return append(dst, "-infinity"...)
}

func appendEra(dst []byte, bc bool) []byte {
	if bc {
		return append(dst, " BC"...)
	}
	return dst
}

// civil turns days since 1970-01-01 into a date of the proleptic Gregorian calendar, whose year 0 is 1 BC.
func civil(days int64) (year int64, month, day int) {
	// Count from 0000-03-01, so that a leap day is the last of its year; a cycle has 400 years.
	days += 719468
	cycle := days / 146097
	if days < 0 {
		cycle = (days - 146096) / 146097
	}
	of := days - cycle*146097
	y := (of - of/1460 + of/36524 - of/146096) / 365
	dayOfYear := of - (365*y + y/4 - y/100)
	m := (5*dayOfYear + 2) / 153
	day = int(dayOfYear-(153*m+2)/5) + 1
	month = int(m) + 3
	year = y + cycle*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// appendDate writes a date without its era, and says whether it is before 1 AD.
func appendDate(dst []byte, days int64) (out []byte, bc bool) {
	year, month, day := civil(days)
	if year <= 0 {
		year, bc = 1-year, true
	}
	if year < 10000 {
		dst = append2(dst, int(year/100))
		dst = append2(dst, int(year%100))
	} else {
		dst = appendUint(dst, uint64(year))
	}
	dst = append(dst, '-')
	dst = append2(dst, month)
	dst = append(dst, '-')
	return append2(dst, day), bc
}

func append2(dst []byte, v int) []byte { return append(dst, byte('0'+v/10), byte('0'+v%10)) }

func appendUint(dst []byte, v uint64) []byte {
	if v >= 10 {
		dst = appendUint(dst, v/10)
	}
	return append(dst, byte('0'+v%10))
}

// appendClock writes microseconds of a day, the fraction without zeros at its end.
func appendClock(dst []byte, v int64) []byte {
	seconds, fraction := v/micros, v%micros
	dst = append2(dst, int(seconds/3600))
	dst = append(dst, ':')
	dst = append2(dst, int(seconds/60%60))
	dst = append(dst, ':')
	dst = append2(dst, int(seconds%60))
	return appendFraction(dst, fraction)
}

// appendFraction writes microseconds as the digits behind a point, nothing for none.
func appendFraction(dst []byte, fraction int64) []byte {
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(micros / 10); fraction > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit))
		fraction %= unit
	}
	return dst
}

// powers of ten that a typmod of 0 to 6 rounds microseconds to.
var roundTo = [7]int64{1_000_000, 100_000, 10_000, 1_000, 100, 10, 1}

// round rounds microseconds to the digits that typmod allows, halves away from zero.
func round(v int64, typmod int32) int64 {
	if typmod < 0 || typmod >= 6 {
		return v
	}
	unit := roundTo[typmod]
	if v >= 0 {
		return (v + unit/2) / unit * unit
	}
	return -((-v + unit/2) / unit * unit)
}

func bindTime(c column) cell {
	var value func(i int) int64
	switch a := c.array.(type) {
	case *array.Time32:
		values, unit := a.Time32Values(), a.DataType().(*arrow.Time32Type).Unit
		factor := int64(micros)
		if unit == arrow.Millisecond {
			factor = micros / 1000
		}
		value = func(i int) int64 { return int64(values[i]) * factor }
	case *array.Time64:
		values, unit := a.Time64Values(), a.DataType().(*arrow.Time64Type).Unit
		divisor := int64(1)
		if unit == arrow.Nanosecond {
			divisor = 1000
		}
		value = func(i int) int64 { return int64(values[i]) / divisor }
	default:
		return nil
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := round(value(i), c.field.Typmod)
		if v < 0 || v > dayMicros {
			return dst, pgerr.New(codeDateTimeOverflow, "time out of range")
		}
		if c.binary {
			return binary.BigEndian.AppendUint64(dst, uint64(v)), nil
		}
		return appendClock(dst, v), nil
	}
}

// bindTimestamp binds timestamp and timestamptz: which of them an Arrow timestamp is depends on its having a zone.
func bindTimestamp(c column) cell {
	a, ok := c.array.(*array.Timestamp)
	if !ok {
		return nil
	}
	typ := a.DataType().(*arrow.TimestampType)
	zoned := c.field.OID == oidTimestampTZ
	if zoned != (typ.TimeZone != "") {
		return nil
	}
	values, typmod, bin := a.TimestampValues(), c.field.Typmod, c.binary
	var zone *zone
	if zoned {
		zone = newZone(c.settings.TimeZone)
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := int64(values[i])
		if v == math.MaxInt64 || v == math.MinInt64 {
			if bin {
				return binary.BigEndian.AppendUint64(dst, uint64(v)), nil
			}
			return appendInfinity(dst, v > 0), nil
		}
		pg, ok := toPostgres(v, typ.Unit)
		pg = round(pg, typmod)
		if !ok || pg < minTimestamp || pg >= endTimestamp {
			return dst, pgerr.New(codeDateTimeOverflow, "timestamp out of range")
		}
		if bin {
			return binary.BigEndian.AppendUint64(dst, uint64(pg)), nil
		}
		return appendTimestamp(dst, pg, zone), nil
	}
}

// toPostgres returns microseconds since 2000; false where they do not fit.
func toPostgres(v int64, unit arrow.TimeUnit) (int64, bool) {
	factor := int64(1)
	switch unit {
	case arrow.Second:
		factor = micros
	case arrow.Millisecond:
		factor = micros / 1000
	case arrow.Nanosecond:
		v /= 1000
	}
	if v > math.MaxInt64/factor || v < math.MinInt64/factor {
		return 0, false
	}
	if v *= factor; v < math.MinInt64+epochMicros {
		return 0, false
	}
	return v - epochMicros, true
}

// appendTimestamp writes microseconds since 2000, in zone where it is not nil.
func appendTimestamp(dst []byte, pg int64, zone *zone) []byte {
	// Whole seconds since 1970, rounded down, cannot overflow where microseconds could.
	seconds, fraction := pg/micros, pg%micros
	if fraction < 0 {
		seconds, fraction = seconds-1, fraction+micros
	}
	seconds += epochDays * 86400
	offset := 0
	if zone != nil {
		offset = zone.offset(seconds)
	}
	local := seconds + int64(offset)
	days, second := local/86400, local%86400
	if second < 0 {
		days, second = days-1, second+86400
	}
	dst, bc := appendDate(dst, days)
	dst = append(dst, ' ')
	dst = appendClock(dst, second*micros+fraction)
	if zone != nil {
		dst = appendOffset(dst, offset)
	}
	return appendEra(dst, bc)
}

// appendOffset writes seconds east of UTC as Postgres does: as many parts as are needed.
func appendOffset(dst []byte, offset int) []byte {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = append2(append(dst, sign), offset/3600)
	if offset%3600 != 0 {
		dst = append2(append(dst, ':'), offset/60%60)
	}
	if offset%60 != 0 {
		dst = append2(append(dst, ':'), offset%60)
	}
	return dst
}

// zone finds a location's offsets, remembering the span that the last one holds in: rows next to one another mostly
// fall into the same.
type zone struct {
	location   *time.Location
	from, to   int64
	lastOffset int
}

func newZone(l *time.Location) *zone {
	if l == nil {
		l = time.UTC
	}
	return &zone{location: l, from: 1, to: 0}
}

func (z *zone) offset(seconds int64) int {
	if seconds >= z.from && seconds < z.to {
		return z.lastOffset
	}
	t := time.Unix(seconds, 0).In(z.location)
	_, z.lastOffset = t.Zone()
	z.from, z.to = math.MinInt64, math.MaxInt64
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		z.from = start.Unix()
	}
	if !end.IsZero() {
		z.to = end.Unix()
	}
	return z.lastOffset
}
