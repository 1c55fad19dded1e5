package sqldb

import (
	"database/sql/driver"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

var (
	dayForm    = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)$`)
	momentForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:\d\d)?$`)
	clockForm  = regexp.MustCompile(`^(-?)(\d{2,3}):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$`)
)

// momentOf returns a date or time as text. One that the driver has read already is finer than Postgres' microseconds perhaps, and
// rounded as Postgres does, half to even.
func (c *column) momentOf(v driver.Value) (string, bool) {
	t, ok := v.(time.Time)
	if !ok {
		return c.textOf(v)
	}
	below := time.Duration(t.Nanosecond() % 1000)
	t = t.Add(-below)
	if below > 500 || below == 500 && t.Nanosecond()/1000%2 == 1 {
		t = t.Add(time.Microsecond)
	}
	switch c.field.OID {
	case oidDate:
		return t.Format(time.DateOnly), t.Equal(t.Truncate(24 * time.Hour))
	case oidTimestampTZ:
		return t.UTC().Format("2006-01-02 15:04:05.999999Z07:00"), true
	case oidTime, oidInterval:
		if t.Year() == 1 && t.YearDay() == 2 { // it was rounded up
			return "24:00:00", true
		}
		return t.Format("15:04:05.999999"), t.Year() == 1 && t.YearDay() == 1
	}
	return t.Format("2006-01-02 15:04:05.999999"), true
}

// badDate says that a text is none in the one form that is read, or (22008) names no day or hour that there is.
func (c *column) badDate(code, text string) error {
	if code == "22007" {
		return pgerr.New(code, "invalid input syntax for column %q of type %s: %q", c.field.Name, c.typeName(), cut(text))
	}
	return pgerr.Hint(pgerr.New(code, "date/time value %q is out of range for column %q of type %s", cut(text), c.field.Name, c.typeName()),
		"Declare the column as text, or as interval where it counts hours.")
}

// day reads a date: its days since 1970.
func (c *column) day(text string) (int64, error) {
	if !dayForm.MatchString(text) {
		return 0, c.badDate("22007", text)
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1 {
		return 0, c.badDate("22008", text)
	}
	return t.Unix() / 86400, nil
}

// clock reads a time, in microseconds. It may be negative, or longer than a day.
func (c *column) clock(text string) (int64, error) {
	m := clockForm.FindStringSubmatch(text)
	if m == nil {
		return 0, c.badDate("22007", text)
	}
	number := func(s string) int64 {
		n, _ := strconv.ParseInt(s, 10, 64) // digits, or empty
		return n
	}
	hours, minutes, seconds := number(m[2]), number(m[3]), number(m[4])
	if minutes > 59 || seconds > 59 {
		return 0, c.badDate("22008", text)
	}
	micros, err := c.micros(m[5], text)
	if err != nil {
		return 0, err
	}
	micros += ((hours*60+minutes)*60 + seconds) * 1_000_000
	if m[1] == "-" {
		micros = -micros
	}
	return micros, nil
}

// micros reads a fraction of a second, which must not be finer than Postgres has it.
func (c *column) micros(fraction, text string) (int64, error) {
	if len(fraction) > 6 && strings.Trim(fraction[6:], "0") != "" {
		return 0, pgerr.New("22008", "%q is finer than the microseconds of column %q", cut(text), c.field.Name)
	}
	fraction = (fraction + "000000")[:6]
	n, err := strconv.ParseInt(fraction, 10, 64)
	return n, err
}

// within refuses fractions of a second that the type's precision would round.
func (c *column) within(micros int64, text string) error {
	p := c.field.Typmod
	if p < 0 || p > 6 {
		return nil
	}
	unit := int64(1)
	for range 6 - p {
		unit *= 10
	}
	if micros%unit != 0 {
		return pgerr.New("22008", "%q is finer than column %q of type %s(%d)", cut(text), c.field.Name, c.typeName(), p)
	}
	return nil
}

func putDate(c *column, v driver.Value) error {
	text, ok := c.momentOf(v)
	if !ok {
		return c.misfit(v)
	}
	days, err := c.day(text)
	if err == nil {
		c.builder.(*array.Date32Builder).Append(arrow.Date32(days))
	}
	return err
}

func putTime(c *column, v driver.Value) error {
	text, ok := c.momentOf(v)
	if !ok {
		return c.misfit(v)
	}
	micros, err := c.clock(text)
	if err == nil && (micros < 0 || micros > 86400_000_000) {
		err = c.badDate("22008", text)
	}
	if err == nil {
		err = c.within(micros, text)
	}
	if err == nil {
		c.builder.(*array.Time64Builder).Append(arrow.Time64(micros))
	}
	return err
}

// putInterval reads a time as so many hours, minutes and seconds.
func putInterval(c *column, v driver.Value) error {
	text, ok := c.momentOf(v)
	if !ok {
		return c.misfit(v)
	}
	micros, err := c.clock(text)
	if err == nil {
		c.builder.(*array.MonthDayNanoIntervalBuilder).Append(arrow.MonthDayNanoInterval{Nanoseconds: micros * 1000})
	}
	return err
}

// putTimestamp reads a date with a time. One without a zone is of UTC; only a column that knows zones takes one with.
func putTimestamp(c *column, v driver.Value) error {
	text, ok := c.momentOf(v)
	if !ok {
		return c.misfit(v)
	}
	m := momentForm.FindStringSubmatch(text)
	if m == nil || m[3] != "" && (m[2] == "" || c.field.OID != oidTimestampTZ) {
		return c.badDate("22007", text)
	}
	days, err := c.day(m[1])
	if err != nil {
		return err
	}
	micros := int64(0)
	if m[2] != "" {
		if micros, err = c.clock(m[2]); err != nil {
			return err
		}
	}
	if micros >= 86400_000_000 {
		return c.badDate("22008", text)
	}
	if err := c.within(micros, text); err != nil {
		return err
	}
	micros += days * 86400_000_000
	if zone := m[3]; len(zone) == 6 {
		away, err := c.clock(zone[1:])
		if err != nil {
			return err
		}
		if zone[0] == '+' {
			away = -away
		}
		micros += away
	}
	c.builder.(*array.TimestampBuilder).Append(arrow.Timestamp(micros))
	return nil
}
