package proxy

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// discreet wraps what Open returned for a governed plan: errors of the engine keep their SQLSTATE, and say nothing else
// that it may have read in rows or values that the role does not see.
func discreet(stream engines.Stream, server *catalog.Server, err error) (engines.Stream, error) {
	if err != nil {
		return nil, hushed(server, err)
	}
	d := discreetStream{Stream: stream, server: server}
	if frames, ok := stream.(engines.FrameStream); ok {
		return discreetFrames{discreetStream: d, formats: frames.Formats}, nil
	}
	return d, nil
}

type discreetStream struct {
	engines.Stream
	server *catalog.Server
}

func (d discreetStream) Next(ctx context.Context) (engines.Batch, error) {
	batch, err := d.Stream.Next(ctx)
	if err != nil && err != io.EOF {
		err = hushed(d.server, err)
	}
	return batch, err
}

type discreetFrames struct {
	discreetStream
	formats func() []int16
}

func (d discreetFrames) Formats() []int16 { return d.formats() }

// wordy are the classes of errors that tell of a connection, of other transactions or of an end from outside, and of no row.
var wordy = []string{"08", "40", "53", "57"}

// hushed is an error of an engine without its words, which may be of a row's values whatever its SQLSTATE is.
func hushed(server *catalog.Server, err error) error {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || len(pe.Code) == 5 && slices.Contains(wordy, pe.Code[:2]) {
		return err
	}
	return pgerr.Hint(pgerr.New(pe.Code, "server %q could not compute the statement", server.Name),
		"Its message is not shown, as row security or masks hold for this role.")
}
