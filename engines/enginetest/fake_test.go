package enginetest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/certify"
)

// fake is an engine that makes rows up. Collecting, it reads a result to its end before it gives out the first row, as
// so many drivers do.
type fake struct {
	engines.Engine // nil: the methods that the checks do not use
	collecting     bool
	hurried        bool // makes an certify.Endless result as fast as it can, also when nobody reads
	forgetful      bool // takes a failure in mid-stream for the end
	produced       atomic.Int64
	running        atomic.Int64
}

func (f *fake) Close() error { return nil }

func (f *fake) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if ctx.Err() != nil {
		return nil, &pgconn.PgError{Code: "57014"}
	}
	g := &generator{fake: f, failAt: -1, done: make(chan struct{})}
	var code string
	switch {
	case q.SQL == "block":
		<-ctx.Done()
		return nil, &pgconn.PgError{Code: "57014"}
	case strings.HasPrefix(q.SQL, "rows"):
		if _, err := fmt.Sscanf(q.SQL, "rows %d %d", &g.rows, &g.width); err != nil {
			return nil, err
		}
	case strings.HasPrefix(q.SQL, "fail"):
		g.rows = certify.Endless
		if _, err := fmt.Sscanf(q.SQL, "fail %d", &g.failAt); err != nil {
			return nil, err
		}
	default:
		if _, err := fmt.Sscanf(q.SQL, "error %s", &code); err != nil {
			return nil, err
		}
		return nil, &pgconn.PgError{Code: code}
	}
	f.running.Add(1)
	if f.collecting {
		return collect(ctx, g)
	}
	if f.hurried {
		return hurry(g), nil
	}
	return g, nil
}

var fakeSchema = arrow.NewSchema([]arrow.Field{
	{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String},
}, nil)

// generator is the honest stream.
type generator struct {
	fake         *fake
	rows, failAt int64
	width        int
	next         int64
	err          error
	once         sync.Once
	done         chan struct{}
}

func (g *generator) Fields() []engines.Field {
	return []engines.Field{{Name: "i", OID: 20, Typmod: -1}, {Name: "s", OID: 25, Typmod: -1}}
}

func (g *generator) Next(ctx context.Context) (engines.Batch, error) {
	if g.err != nil {
		return nil, g.err
	}
	select {
	case <-g.done:
		return nil, &pgconn.PgError{Code: "24000"}
	case <-ctx.Done():
		g.err = &pgconn.PgError{Code: "57014"}
	default:
	}
	if g.next == g.failAt {
		g.err = &pgconn.PgError{Code: "22012"}
		if g.fake.forgetful {
			g.err = io.EOF
		}
	}
	if g.next == g.rows {
		g.err = io.EOF
	}
	if g.err != nil {
		return nil, g.err
	}
	return engines.Columns{Record: g.make()}, nil
}

func (g *generator) make() arrow.RecordBatch {
	n := min(g.rows-g.next, 2048, max(1, int64(engines.BatchBytes/(g.width+8))))
	if g.failAt >= 0 {
		n = min(n, g.failAt-g.next)
	}
	ints := array.NewInt64Builder(memory.DefaultAllocator)
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	text := strings.Repeat("x", g.width)
	for i := range n {
		ints.Append(g.next + i)
		texts.Append(text)
	}
	g.next += n
	g.fake.produced.Add(n)
	return array.NewRecordBatch(fakeSchema, []arrow.Array{ints.NewArray(), texts.NewArray()}, n)
}

func (g *generator) Close() error {
	g.once.Do(func() {
		close(g.done)
		g.fake.running.Add(-1)
	})
	return nil
}

// collected is the stream that must fail: everything is there before anything is given out, in good slices.
type collected struct {
	*generator
	batches []engines.Batch
	end     error
}

// farthest is where the certify.Endless source of the collecting fake stops and waits for its context: its point is made.
const farthest = 500_000

func collect(ctx context.Context, g *generator) (engines.Stream, error) {
	c := &collected{generator: g}
	for {
		b, err := g.Next(ctx)
		if err != nil {
			c.end = err
			break
		}
		c.batches = append(c.batches, b)
		if g.rows == certify.Endless && g.next > farthest {
			<-ctx.Done()
		}
	}
	if c.end == io.EOF {
		return c, nil
	}
	g.Close()
	return nil, c.end
}

func (c *collected) Next(context.Context) (engines.Batch, error) {
	select {
	case <-c.done:
		return nil, &pgconn.PgError{Code: "24000"}
	default:
	}
	if len(c.batches) == 0 {
		return nil, c.end
	}
	b := c.batches[0]
	c.batches = c.batches[1:]
	return b, nil
}

// hurrying runs ahead of its reader without bounds.
type hurrying struct {
	*generator
	mu      sync.Mutex
	arrived *sync.Cond
	batches []engines.Batch
	end     error
	wg      sync.WaitGroup
}

func hurry(g *generator) engines.Stream {
	h := &hurrying{generator: g}
	h.arrived = sync.NewCond(&h.mu)
	h.wg.Go(func() {
		for {
			b, err := g.Next(context.Background())
			h.mu.Lock()
			if err != nil {
				h.end = err
			} else {
				h.batches = append(h.batches, b)
			}
			h.arrived.Broadcast()
			h.mu.Unlock()
			if err != nil || g.next > 20*farthest {
				return
			}
		}
	})
	return h
}

func (h *hurrying) Next(context.Context) (engines.Batch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.batches) == 0 && h.end == nil {
		h.arrived.Wait()
	}
	if len(h.batches) == 0 {
		return nil, h.end
	}
	b := h.batches[0]
	h.batches = h.batches[1:]
	return b, nil
}

func (h *hurrying) Close() error {
	err := h.generator.Close()
	h.wg.Wait()
	return err
}
