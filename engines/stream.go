package engines

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// BatchBytes is the size in bytes that a Batch aims at. A single wider row travels alone.
const BatchBytes = 1 << 20

// Field describes one column of a Stream by the Postgres type that its values have.
type Field struct {
	Name   string
	OID    uint32 // type OID in home's pg_type
	Typmod int32  // atttypmod, -1 for none
}

// Stream is the lazy result of one statement. It is used by one goroutine at a time, but Close may be called from any.
type Stream interface {
	// Fields are known before any row is fetched and are the same for no rows and many.
	Fields() []Field
	// Next returns the next batch, which is valid until the next call of Next or Close; io.EOF at the end. Any other
	// error is a *pgconn.PgError, and after one the stream is over.
	Next(ctx context.Context) (Batch, error)
	// Close cancels what still runs at the engine, frees it and returns connections. Idempotent and always legal.
	Close() error
}

// FrameStream is a Stream whose batches are Frames as a client may get them.
type FrameStream interface {
	Stream
	// Formats are the format codes of the columns.
	Formats() []int16
}

// Batch is some rows of a Stream, in one of two forms: Frames or Columns.
type Batch interface {
	NumRows() int
	batch()
}

// Frames holds whole DataRow messages (type byte and length included, protocol chapter "Message Formats") as a
// Postgres sent them.
type Frames struct {
	Data []byte
	Rows int
}

// NumRows returns the number of DataRow messages in Data.
func (f Frames) NumRows() int { return f.Rows }
func (Frames) batch()         {}

// Columns holds rows as an Arrow record batch, owned by the stream.
type Columns struct{ Record arrow.RecordBatch }

// NumRows returns the number of rows of the record batch.
func (c Columns) NumRows() int { return int(c.Record.NumRows()) }
func (Columns) batch()         {}
