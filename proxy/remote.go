package proxy

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
)

// openWhole opens a statement that home does not compute, for rows in the formats given where the engine heeds them. The
// streams of its inputs, by number, are replaced by what observe makes of them; nil leaves them as they are.
func (s *Session) openWhole(ctx context.Context, x *execution, formats []int16, observe observer) (engines.Stream, error) {
	if x.plan.Joined() {
		return s.openFederated(ctx, x, observe)
	}
	return s.openStream(ctx, x, x.remoteQuery(formats))
}

// openRemote is openWhole for rows in the formats that a client has asked for.
func (s *Session) openRemote(ctx context.Context, x *execution, formats []int16) (*cursor, error) {
	fields := engineFields(x.described.fields)
	each := make([]int16, len(fields))
	for i := range each {
		each[i] = formatOf(formats, i)
	}
	stream, err := s.openWhole(ctx, x, each, nil)
	if err != nil {
		return nil, err
	}
	c, err := newCursor(stream, fields, each, s.encodeSettings(x))
	if err != nil {
		_ = stream.Close()
	}
	return c, err
}

// remoteQuery is the whole statement, for its engine.
func (x *execution) remoteQuery(formats []int16) query {
	fields := engineFields(x.described.fields)
	if x.plan.Copy != nil {
		fields = slices.Clone(x.plan.Copy.Fields)
	}
	for i, m := range x.plan.Typmods {
		if m != 0 {
			fields[i].Typmod = m
		}
	}
	return query{
		server: x.plan.Server, role: x.plan.Role, sql: x.plan.RemoteSQL, params: x.plan.Params, formats: formats, styles: x.styles(), fields: fields, reads: x.readOf(x.plan.Server),
	}
}

// styles are the session's own.
func (x *execution) styles() engines.Styles {
	return engines.Styles{
		TimeZone: x.facts.TimeZone, DateStyle: x.facts.DateStyle, IntervalStyle: x.facts.IntervalStyle,
		ExtraFloatDigits: strconv.Itoa(x.facts.ExtraFloatDigits), ByteaOutput: x.facts.ByteaOutput,
	}
}

func newCursor(stream engines.Stream, fields []engines.Field, formats []int16, settings encode.Settings) (*cursor, error) {
	if have, ok := framesOf(stream); ok {
		return framesCursor(stream, fields, have, formats)
	}
	encoder, err := encode.New(fields, formats, stream.Fields(), settings)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == pgerr.InvalidParameter { // a format code that nobody minds while there are no rows
		return &cursor{stream: stream, unwritable: err}, nil
	}
	if err != nil {
		return nil, err
	}
	return &cursor{stream: stream, encoder: encoder}, nil
}

// encodeSettings are the session's settings that values are written by.
func (s *Session) encodeSettings(x *execution) encode.Settings {
	zone := zoneOf(x.facts.TimeZone)
	return encode.Settings{
		TimeZone: zone, DateStyle: x.facts.DateStyle, IntervalStyle: x.facts.IntervalStyle,
		ExtraFloatDigits: x.facts.ExtraFloatDigits, ByteaEscape: strings.EqualFold(x.facts.ByteaOutput, "escape"),
	}
}

// zones are the time zones that were asked for: each is a file.
var zones sync.Map

// zoneOf returns a time zone; UTC for one that is not known here, as the planner then lets home write all values that
// need it.
func zoneOf(name string) *time.Location {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	zones.Store(name, zone)
	return zone
}
