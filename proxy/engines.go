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
	key := engineKey{database, server.OID}
	o.drop(func(k engineKey, e *openEngine) bool { return k == key && !maps.Equal(e.options, server.Options) })
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.open[key]; e != nil {
		return e.engine, nil
	}
	e, err := w.Open(ctx, engines.Server{OID: server.OID, Name: server.Name, Options: server.Options})
	if err != nil {
		return nil, err
	}
	o.open[key] = &openEngine{e, server.Options}
	return e, nil
}

// keep closes the engines of a database's servers that are gone, or were defined anew. A new server may be over the same
// file.
func (o *openEngines) keep(database string, servers map[uint32]*catalog.Server) {
	o.drop(func(k engineKey, e *openEngine) bool {
		return k.database == database && (servers[k.server] == nil || !maps.Equal(e.options, servers[k.server].Options))
	})
}

// drop closes engines, which may take long, so that no lock is held meanwhile.
func (o *openEngines) drop(which func(engineKey, *openEngine) bool) {
	var list []engines.Engine
	o.mu.Lock()
	for k, e := range o.open {
		if which(k, e) {
			delete(o.open, k)
			list = append(list, e.engine)
		}
	}
	o.mu.Unlock()
	for _, e := range list {
		_ = e.Close() // it closes itself when its streams have ended
	}
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
