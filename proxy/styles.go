package proxy

import (
	"context"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// styles are the settings that decide how home writes values as text.
type styles struct{ date, zone, interval, bytea, float, encoding string }

// engineStyles are those that engines read.
var engineStyles = styles{"ISO", "UTC", "postgres", "hex", "1", "UTF8"}

// ownStyles are the session's own.
func (s *Session) ownStyles(f *catalog.Facts) styles {
	return styles{f.DateStyle, f.TimeZone, f.IntervalStyle, f.ByteaOutput, strconv.Itoa(f.ExtraFloatDigits), s.setting("client_encoding")}
}

// changeStyles changes the session's styles, for the transaction that is open, unless both write values alike.
func (s *Session) changeStyles(ctx context.Context, from, to styles) error {
	if from.plain() == to.plain() {
		return nil
	}
	_, err := s.Query(ctx, `SELECT pg_catalog.set_config('DateStyle', $1, true), pg_catalog.set_config('TimeZone', $2, true), `+
		`pg_catalog.set_config('IntervalStyle', $3, true), pg_catalog.set_config('bytea_output', $4, true), `+
		`pg_catalog.set_config('extra_float_digits', $5, true), pg_catalog.set_config('client_encoding', $6, true)`,
		to.date, to.zone, to.interval, to.bytea, to.float, to.encoding)
	return err
}

// plain leaves out what makes no difference to how values are written.
func (t styles) plain() styles {
	t.date, _, _ = strings.Cut(t.date, ",")
	switch t.zone {
	case "Etc/UTC", "GMT", "Etc/GMT", "Zulu":
		t.zone = "UTC"
	}
	if digits, err := strconv.Atoi(t.float); err == nil && digits > 0 {
		t.float = "1"
	}
	return t
}
