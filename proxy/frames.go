package proxy

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// framesOf reports whether the batches of a stream are frames that a client may get as they are, and in which formats
// their columns come.
func framesOf(stream engines.Stream) (formats []int16, ok bool) {
	switch s := stream.(type) {
	case engines.FrameStream:
		return s.Formats(), true
	case *meter:
		return framesOf(s.Stream)
	case *headed:
		return framesOf(s.Stream)
	case *part: // it brings them into the formats that are wanted
		_, ok := framesOf(s.cursor.stream)
		return s.formats, ok
	}
	return nil, false
}

// framesCursor delivers frames as they come, which must be what home has promised.
func framesCursor(stream engines.Stream, fields []engines.Field, have, want []int16) (*cursor, error) {
	if err := sameTypes(fields, stream.Fields()); err != nil {
		return nil, err
	}
	if !slices.Equal(have, want) {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "the foreign server yields rows in other formats than were asked for")
	}
	return &cursor{stream: stream}, nil
}

// sameTypes refuses frames whose values are of other types than the fields say.
func sameTypes(fields, have []engines.Field) error {
	if len(fields) != len(have) {
		return pgerr.New(pgerr.FeatureNotSupported, "the foreign server yields %d columns where %d are expected", len(have), len(fields))
	}
	for i := range fields {
		if fields[i].OID != have[i].OID {
			return pgerr.New(pgerr.FeatureNotSupported, "the foreign server yields column %q in type %d where %d is expected", fields[i].Name, have[i].OID, fields[i].OID)
		}
	}
	return nil
}

// reformatAtOnce is how many rows home is given to write in other formats at once.
const reformatAtOnce = 64

// reformat has home write rows in other formats, where they are.
func (s *Session) reformat(ctx context.Context, f engines.Frames, fields []engines.Field, have, want []int16) (engines.Frames, error) {
	from, types := make([]int16, len(fields)), make([]uint32, len(fields))
	for i := range fields {
		from[i], types[i] = formatOf(have, i), fields[i].OID
	}
	if slices.Equal(from, want) {
		return f, nil
	}
	out := engines.Frames{Rows: f.Rows}
	for data := f.Data; len(data) > 0; {
		var r request
		r.close('S', onceName).parse(onceName, selectParams(len(fields)), types)
		for n := 0; n < reformatAtOnce && len(data) > 0; n++ {
			size := skipFrames(data, 0, 1)
			var row pgproto3.DataRow
			if err := row.Decode(data[wire.HeaderSize:size]); err != nil {
				return out, err
			}
			r.add('B', &pgproto3.Bind{
				DestinationPortal: ownPortal, PreparedStatement: onceName, ParameterFormatCodes: from, Parameters: row.Values, ResultFormatCodes: want,
			}).execute(ownPortal).close('P', ownPortal)
			data = data[size:]
		}
		err := s.ask(ctx, &r, func(typ byte, body []byte) error {
			if typ == 'D' {
				out.Data = appendFrame(out.Data, 'D', body)
			}
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
