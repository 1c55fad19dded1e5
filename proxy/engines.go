package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// openEngines holds the engines of all foreign servers that were used, one for each definition of a server. A changed
// definition opens a new engine; the old one is closed, which waits for its streams.
type openEngines struct {
	wrappers map[string]engines.Wrapper
	mu       sync.Mutex
	open     map[engineKey]*openEngine
}

type engineKey struct {
	database string
	server   uint32
}

type openEngine struct {
	engine  engines.Engine
	options map[string]string
}

func newOpenEngines(wrappers map[string]engines.Wrapper) *openEngines {
	return &openEngines{wrappers: wrappers, open: map[engineKey]*openEngine{}}
}

// get returns the engine of a server as it is defined now.
func (o *openEngines) get(ctx context.Context, database string, server *catalog.Server) (engines.Engine, error) {
	w := o.wrappers[server.Wrapper]
	if w == nil {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q needs wrapper %q, which this Sluice does not have", server.Name, server.Wrapper),
			"Run a build of Sluice that has this engine.")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := engineKey{database, server.OID}
	if e := o.open[key]; e != nil {
		if maps.Equal(e.options, server.Options) {
			return e.engine, nil
		}
		delete(o.open, key)
		_ = e.engine.Close()
	}
	e, err := w.Open(ctx, engines.Server{OID: server.OID, Name: server.Name, Options: server.Options})
	if err != nil {
		return nil, err
	}
	o.open[key] = &openEngine{e, server.Options}
	return e, nil
}

func (o *openEngines) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for key, e := range o.open {
		if err := e.engine.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close server %d of database %q: %w", key.server, key.database, err))
		}
	}
	o.open = map[engineKey]*openEngine{}
	return errors.Join(errs...)
}
