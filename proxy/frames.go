package proxy

import (
	"slices"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// framesOf reports whether the batches of a stream are frames that a client may get as they are, and in which formats
// their columns come.
func framesOf(stream engines.Stream) (formats []int16, ok bool) {
	switch s := stream.(type) {
	case engines.FrameStream:
		return s.Formats(), true
	case *meter:
		return framesOf(s.Stream)
	case *part:
		return framesOf(s.cursor.stream)
	}
	return nil, false
}

// framesCursor delivers frames as they come, which must be what home has promised.
func framesCursor(stream engines.Stream, fields []engines.Field, have, want []int16) (*cursor, error) {
	if err := sameTypes(fields, stream.Fields()); err != nil {
		return nil, err
	}
	if !slices.Equal(have, want) {
		return &cursor{stream: stream, unwritable: pgerr.New(pgerr.FeatureNotSupported, "the rows of this portal are in other formats than FETCH asks for")}, nil
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
