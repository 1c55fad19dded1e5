package proxy

import (
	"context"
	"errors"
	"io"

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

// hushed is an error of an engine without its words, if it is one of data: others tell of no row.
func hushed(server *catalog.Server, err error) error {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || len(pe.Code) < 2 || pe.Code[:2] != "22" && pe.Code[:2] != "23" && pe.Code != pgerr.FdwError && pe.Code != pgerr.InternalError {
		return err
	}
	return pgerr.Hint(pgerr.New(pe.Code, "server %q could not compute the statement", server.Name),
		"Its message is not shown, as row security or masks hold for this role.")
}
