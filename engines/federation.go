package engines

import "context"

// Federation computes statements over the streams of several servers. All methods may be called concurrently.
type Federation interface {
	// Open starts q and returns its rows as a lazy Stream. Whatever becomes of it, each stream that a Feed has opened is
	// closed, at the latest with the Stream; an error of one of them is the Stream's.
	Open(ctx context.Context, q FederatedQuery) (Stream, error)
	// Close frees the federation when its last stream has ended.
	Close() error
}

// FederatedQuery is a statement in the federation's own dialect, in which sluice_feed(1) stands for the rows of the first
// Feed, sluice_feed(2) for those of the second, and so on.
type FederatedQuery struct {
	Query
	Feeds []Feed
}

// Feed is one relation that a FederatedQuery reads.
type Feed struct {
	Columns []FeedColumn
	Rows    int64 // an estimate, 0 for none
	// Open is called for each scan of the feed, from any goroutine and perhaps while another Feed's stream is read. Its ctx
	// ends with the statement. The stream has the columns in order, those of Frames in binary format.
	Open func(ctx context.Context) (Stream, error)
}

// FeedColumn is a column of a Feed. Its type is one of the federation's dialect.
type FeedColumn struct{ Name, Type string }
