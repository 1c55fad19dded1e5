package keep

import (
	"context"

	"github.com/sluicedb/sluice/engines"
)

// Store makes, fills and drops tables at a server. Names are those that a Target without schema_name means.
type Store interface {
	// Open is that of the Engine.
	Open(ctx context.Context, q engines.Query) (engines.Stream, error)
	// Create makes a table.
	Create(ctx context.Context, table string, columns []Column) error
	// Insert begins to add rows to a table of Create, whose values are for the columns in their order here.
	Insert(ctx context.Context, table string, columns []Column) (Sink, error)
	// Forget drops a table, if there is one.
	Forget(ctx context.Context, table string) error
}

// Filler is a Store that keeps what it computes itself without its leaving the server.
type Filler interface {
	// Fill makes a table of the rows of q and returns how many there are. Where these have other types than Create gives the columns,
	// and it is not certain that all values become the same by a cast, there is no table then, and ok is false.
	Fill(ctx context.Context, table string, columns []Column, q engines.Query) (rows int64, ok bool, err error)
}

// Sink takes rows in their order.
type Sink interface {
	// Write takes some rows. What it keeps of them it copies.
	Write(ctx context.Context, rows *Batch) error
	// End is called once behind the last row; the table has them all if it returns nil.
	End(ctx context.Context) error
	// Abort gives up, after an error of any kind. It does not wait for the server.
	Abort()
}

// Each is a Sink that writes each Batch by itself.
type Each func(ctx context.Context, rows *Batch) error

// Write calls e.
func (e Each) Write(ctx context.Context, rows *Batch) error { return e(ctx, rows) }

// End has nothing to do.
func (Each) End(context.Context) error { return nil }

// Abort has nothing to do.
func (Each) Abort() {}
