package trino

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

const dayMicros = int64(24 * time.Hour / time.Microsecond)

// digits reads a number of at least so many digits.
func digits(text []byte, least int) (n int64, rest []byte, ok bool) {
	i := 0
	for ; i < len(text) && text[i]-'0' <= 9 && i < 18; i++ {
		n = n*10 + int64(text[i]-'0')
	}
	return n, text[i:], i >= least
}

// after takes a byte away that must be there.
func after(text []byte, c byte, before bool) (rest []byte, ok bool) {
	if !before || len(text) == 0 || text[0] != c {
		return text, false
	}
	return text[1:], true
}

// date reads a day as its number from 1970-01-01. Years before 1 have a sign, with 0 for the one before 1; those of more than four digits
// have a plus.
func date(text []byte) (day int32, rest []byte, ok bool) {
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	year, rest, ok := digits(text, 4)
	rest, ok = after(rest, '-', ok)
	month, rest, fine := digits(rest, 2)
	rest, ok = after(rest, '-', ok && fine)
	d, rest, fine := digits(rest, 2)
	if negative {
		year = -year
	}
	if !ok || !fine || month < 1 || month > 12 || d < 1 || d > 31 || year > 5874897 || year < -5874897 {
		return 0, rest, false
	}
	t := time.Date(int(year), time.Month(month), int(d), 0, 0, 0, 0, time.UTC)
	return int32(t.Unix() / 86400), rest, t.Day() == int(d)
}

// clock reads a time of the day in microseconds. Digits behind these must be zeros.
func clock(text []byte) (micros int64, rest []byte, ok bool) {
	hour, rest, ok := digits(text, 2)
	rest, ok = after(rest, ':', ok)
	minute, rest, fine := digits(rest, 2)
	rest, ok = after(rest, ':', ok && fine)
	second, rest, fine := digits(rest, 2)
	if !ok || !fine || hour > 23 || minute > 59 || second > 59 {
		return 0, rest, false
	}
	micros = ((hour*60+minute)*60 + second) * 1e6
	fraction, more := after(rest, '.', true)
	if !more {
		return micros, rest, true
	}
	rest = bytes.TrimLeft(fraction, "0123456789")
	unit := int64(100_000)
	for _, c := range fraction[:len(fraction)-len(rest)] {
		if unit == 0 && c != '0' {
			return 0, rest, false
		}
		micros += int64(c-'0') * unit
		unit /= 10
	}
	return micros, rest, true
}

// timestamp reads a moment, or a date and time of no zone, in microseconds from 1970. The zone of a moment must be UTC or an offset: what
// a region's clocks showed may stand for two moments.
func timestamp(text []byte, zoned bool) (micros int64, ok bool) {
	day, rest, ok := date(text)
	rest, ok = after(rest, ' ', ok)
	t, rest, fine := clock(rest)
	if !ok || !fine {
		return 0, false
	}
	micros = int64(day)*dayMicros + t
	if int64(day) > math.MaxInt64/dayMicros-1 || int64(day) < math.MinInt64/dayMicros+1 {
		return 0, false
	}
	if !zoned {
		return micros, len(rest) == 0
	}
	rest, ok = after(rest, ' ', true)
	offset, known := zone(rest)
	return micros - offset, ok && known
}

// zone reads UTC or an offset such as +05:30, in microseconds.
func zone(text []byte) (micros int64, ok bool) {
	if string(text) == "UTC" || string(text) == "Z" {
		return 0, true
	}
	if len(text) != 6 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hour, rest, ok := digits(text[1:], 2)
	rest, ok = after(rest, ':', ok)
	minute, rest, fine := digits(rest, 2)
	if micros = (hour*60 + minute) * 60e6; text[0] == '-' {
		micros = -micros
	}
	return micros, ok && fine && len(rest) == 0
}

// interval reads years and months, or days and a time, all of which have the sign that stands before them.
func interval(text []byte, months bool) (v arrow.MonthDayNanoInterval, ok bool) {
	sign := int64(1)
	if len(text) > 0 && text[0] == '-' {
		sign, text = -1, text[1:]
	}
	major, rest, ok := digits(text, 1)
	if months {
		rest, ok = after(rest, '-', ok)
		minor, err := strconv.ParseInt(string(rest), 10, 32)
		total := major*12 + minor
		v.Months = int32(sign * total)
		return v, ok && err == nil && total <= math.MaxInt32
	}
	rest, ok = after(rest, ' ', ok)
	micros, rest, fine := clock(rest)
	v.Days, v.Nanoseconds = int32(sign*major), sign*micros*1000
	return v, ok && fine && len(rest) == 0 && major <= math.MaxInt32
}
