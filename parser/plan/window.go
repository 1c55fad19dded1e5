package plan

import (
	"slices"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Bits of WindowDef.frameOptions (nodes/parsenodes.h).
const (
	frameNonDefault = 0x1
	frameRange      = 0x2
	frameGroups     = 0x8
	frameBetween    = 0x10
)

// frameBound is how one bound of a frame is printed; its bits come in pairs, start and end.
type frameBound struct {
	start, end int32
	words      string
	offset     bool
}

var frameBounds = []frameBound{
	{0x20, 0x40, "UNBOUNDED PRECEDING", false}, {0x80, 0x100, "UNBOUNDED FOLLOWING", false}, {0x200, 0x400, "CURRENT ROW", false},
	{0x800, 0x1000, " PRECEDING", true}, {0x2000, 0x4000, " FOLLOWING", true},
}

var frameExclusions = map[int32]string{0: "", 0x8000: " EXCLUDE CURRENT ROW", 0x10000: " EXCLUDE GROUP", 0x20000: " EXCLUDE TIES"}

// over prints the OVER clause of a call.
func (s *shipper) over(w *pg_query.WindowDef, e *scope) (string, bool) {
	if w.Name != "" {
		for _, n := range e.windows {
			if def := n.GetWindowDef(); def.GetName() == w.Name {
				return s.window(def, e)
			}
		}
	}
	return s.window(w, e)
}

func (s *shipper) window(w *pg_query.WindowDef, e *scope) (string, bool) {
	if w.Refname != "" {
		s.no("a window made from another is evaluated at home")
		return "", false
	}
	var parts []string
	var keys []string
	for _, n := range slices.Concat(w.PartitionClause, w.OrderClause) {
		if e.equals.in(n) {
			s.no("rows of grouping sets are ordered at home by columns that a condition equates")
			return "", false
		}
	}
	for _, n := range w.PartitionClause {
		sql, t, ok := s.expression(n, e)
		if !ok || !s.groups(t) {
			return "", false
		}
		keys = append(keys, sql)
	}
	if len(keys) > 0 {
		parts = append(parts, "PARTITION BY "+strings.Join(keys, ", "))
	}
	keys = nil
	var last typ
	for _, n := range w.OrderClause {
		sql, t, ok := s.expression(n.GetSortBy().Node, e)
		if ok {
			sql, ok = s.ordered(n.GetSortBy(), sql, t)
		}
		if !ok {
			return "", false
		}
		keys, last = append(keys, sql), t
	}
	if len(keys) > 0 {
		parts = append(parts, "ORDER BY "+strings.Join(keys, ", "))
	}
	frame, ok := s.frame(w, last)
	if frame != "" {
		parts = append(parts, frame)
	}
	return " OVER (" + strings.Join(parts, " ") + ")", ok
}

// frame prints a frame over rows in the order of a key, the only one where a range has offsets. These are written out: numbers of
// rows or groups, or what is added to the key.
func (s *shipper) frame(w *pg_query.WindowDef, key typ) (string, bool) {
	options := w.FrameOptions
	if options&frameNonDefault == 0 {
		return "", true
	}
	exclusion, ok := frameExclusions[options&0x38000]
	if s.standard != nil && (exclusion != "" || w.StartOffset != nil || w.EndOffset != nil) {
		s.unproven("a window with such a frame")
		return "", false
	}
	if !ok {
		return "", false
	}
	unit := "ROWS"
	switch {
	case options&frameRange != 0:
		unit = "RANGE"
	case options&frameGroups != 0:
		unit = "GROUPS"
	}
	start, ok := s.bound(options, func(b frameBound) int32 { return b.start }, w.StartOffset, unit, key)
	if !ok {
		return "", false
	}
	if options&frameBetween == 0 {
		return unit + " " + start + exclusion, true
	}
	end, ok := s.bound(options, func(b frameBound) int32 { return b.end }, w.EndOffset, unit, key)
	return unit + " BETWEEN " + start + " AND " + end + exclusion, ok
}

func (s *shipper) bound(options int32, bit func(frameBound) int32, offset *pg_query.Node, unit string, key typ) (string, bool) {
	for _, b := range frameBounds {
		if options&bit(b) == 0 {
			continue
		}
		if !b.offset {
			return b.words, true
		}
		if unit == "RANGE" {
			sql, ok := s.distance(offset, key)
			return sql + b.words, ok
		}
		if n := offset.GetAConst().GetIval(); n != nil && n.Ival >= 0 {
			return strconv.Itoa(int(n.Ival)) + b.words, true
		}
	}
	s.unproven("a window with such a bound")
	return "", false
}

// distance prints how far from a row's key a range goes. Where the bound is out of range, DuckDB raises an error. Months, which do
// not keep the order of what they are added to, are left to home.
func (s *shipper) distance(offset *pg_query.Node, key typ) (string, bool) {
	s.expose()
	s.guarded = true
	if n := offset.GetAConst(); n.GetIval() != nil && n.GetIval().Ival >= 0 && key.IsInt() {
		return strconv.Itoa(int(n.GetIval().Ival)), true
	}
	if v, ok := spanOf(offset); ok && (key.OID == dateOID || key.OID == timestampOID) && v.months == 0 && v.days >= 0 && v.seconds >= 0 {
		sql, _, ok := s.intervalLiteral(offset)
		return sql, ok
	}
	s.unproven("a RANGE of such an offset over %s", key.Name())
	return "", false
}
