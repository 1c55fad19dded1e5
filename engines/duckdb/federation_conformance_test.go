package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// relayed is an engine whose statements pass through the feed of a federation.
type relayed struct {
	*Engine
	federation *Federation
}

func (r *relayed) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	source, err := r.Engine.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	feed := engines.Feed{Open: func(context.Context) (engines.Stream, error) { return source, nil }}
	var columns []string
	for i, f := range source.Fields() {
		column := engines.FeedColumn{Name: fmt.Sprintf("c%d", i), Type: map[uint32]string{
			20: "BIGINT", 21: "SMALLINT", 23: "INTEGER", 25: "VARCHAR", 1082: "DATE", 1700: "DECIMAL(10,2)",
		}[f.OID]}
		feed.Columns = append(feed.Columns, column)
		columns = append(columns, column.Name+" AS "+ident(f.Name))
	}
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM sluice_feed(1)"
	s, err := r.federation.Open(ctx, engines.FederatedQuery{Query: engines.Query{SQL: sql}, Feeds: []engines.Feed{feed}})
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return s, nil
}

func (r *relayed) Close() error { return errors.Join(r.federation.Close(), r.Engine.Close()) }

// TestFederationConformance asks of a federation what is asked of an engine.
func TestFederationConformance(t *testing.T) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("sluice-federation-%d.duckdb", os.Getpid()))
	build(t, path, "CREATE TABLE t(a INTEGER)")
	t.Cleanup(func() { os.Remove(path) })
	h := conformance(func(ctx context.Context) (engines.Engine, error) {
		e, err := Wrapper{}.Open(ctx, engines.Server{Name: "lake", Options: map[string]string{"database": path}})
		if err != nil {
			return nil, err
		}
		f, err := NewFederation(map[string]string{"threads": "1"}) // several do not keep the order of rows
		return &relayed{e.(*Engine), f}, err
	})
	running := h.Running
	h.Running = func(e engines.Engine) int { return running(e.(*relayed).Engine) }
	enginetest.Run(t, h)
}
