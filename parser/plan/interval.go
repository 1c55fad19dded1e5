package plan

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// span is an interval of the parts that Postgres keeps apart.
type span struct{ months, days, seconds int }

// spanUnits are the units that literals may have, singular.
var spanUnits = map[string]span{
	"year": {months: 12}, "mon": {months: 1}, "month": {months: 1}, "week": {days: 7}, "day": {days: 1},
	"hour": {seconds: 3600}, "minute": {seconds: 60}, "second": {seconds: 1},
}

// Bits of the modifier that INTERVAL '…' DAY gives (utils/timestamp.h: INTERVAL_MASK).
var spanFields = map[int32]string{1 << 2: "year", 1 << 1: "month", 1 << 3: "day", 1 << 10: "hour", 1 << 11: "minute"}

var spanText = regexp.MustCompile(`^([+-]?\d{1,4}) *([a-z]+)$`)

// spanOf reads an interval literal of one number and one unit.
func spanOf(n *pg_query.Node) (span, bool) {
	c := n.GetTypeCast()
	if c == nil || lastName(c.TypeName.Names) != "interval" || c.Arg.GetAConst().GetSval() == nil {
		return span{}, false
	}
	text := c.Arg.GetAConst().GetSval().Sval
	switch {
	case len(c.TypeName.Typmods) == 1:
		unit := spanFields[c.TypeName.Typmods[0].GetAConst().GetIval().GetIval()]
		if _, err := strconv.Atoi(text); err != nil || unit == "" {
			return span{}, false
		}
		text += " " + unit
	case len(c.TypeName.Typmods) > 1:
		return span{}, false
	}
	m := spanText.FindStringSubmatch(text)
	if m == nil {
		return span{}, false
	}
	unit, ok := spanUnits[strings.TrimSuffix(m[2], "s")]
	count, _ := strconv.Atoi(m[1])
	return span{unit.months * count, unit.days * count, unit.seconds * count}, ok
}

// intervalLiteral prints an interval literal.
func (s *shipper) intervalLiteral(n *pg_query.Node) (string, typ, bool) {
	v, ok := spanOf(n)
	if s.standard != nil {
		return s.unproven("an interval")
	}
	if !ok {
		return s.no("this interval is read at home")
	}
	text := strconv.Itoa(v.months) + " months " + strconv.Itoa(v.days) + " days " + strconv.Itoa(v.seconds) + " seconds"
	return "CAST('" + text + "' AS INTERVAL)", dialect.Plain(intervalOID), true
}

// foldDate computes a date literal plus or minus an interval literal of whole days, which is a timestamp at midnight.
func (s *shipper) foldDate(x *pg_query.A_Expr, op string) (string, typ, bool) {
	c := x.Lexpr.GetTypeCast()
	if c == nil || op != "+" && op != "-" || lastName(c.TypeName.Names) != "date" || c.Arg.GetAConst().GetSval() == nil {
		return "", typ{}, false
	}
	text := c.Arg.GetAConst().GetSval().Sval
	day, err := time.Parse(time.DateOnly, text)
	v, ok := spanOf(x.Rexpr)
	if err != nil || !ok || v.seconds != 0 || !literalForms[dateOID].MatchString(text) {
		return "", typ{}, false
	}
	if op == "-" {
		v.months, v.days = -v.months, -v.days
	}
	first := time.Date(day.Year(), day.Month()+time.Month(v.months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day() // Postgres keeps to the month's end
	day = first.AddDate(0, 0, min(day.Day(), last)-1+v.days)
	if day.Year() < 1000 || day.Year() > 9999 {
		return "", typ{}, false
	}
	text = day.Format(time.DateOnly)
	sql := "CAST('" + text + " 00:00:00' AS " + s.d.Type(timestampOID, -1) + ")"
	s.midnights[sql] = "CAST('" + text + "' AS DATE)"
	return sql, dialect.Plain(timestampOID), true
}

// midnight returns the date that a folded timestamp is the start of, for comparison with dates.
func (s *shipper) midnight(sql string, other typ) (string, bool) {
	day, ok := s.midnights[sql]
	return day, ok && other.OID == dateOID
}

// atMidnight compares dates with dates where one is a folded timestamp: an engine then knows what to skip.
func (s *shipper) atMidnight(list []operand) {
	for i := range list {
		if day, ok := s.midnight(list[i].sql, list[1-i].typ); ok {
			list[i].sql, list[i].typ = day, dialect.Plain(dateOID)
		}
	}
}
