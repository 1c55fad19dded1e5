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
	"github.com/sluicedb/sluice/proxy/ddl"
)

// openEngines holds the engines of all foreign servers that were used, one for each definition of a server and, where its
// users are mapped, each role. A changed definition opens a new engine; the old one is closed, which waits for its streams.
type openEngines struct {
	wrappers map[string]engines.Wrapper
	mu       sync.Mutex
	open     map[engineKey]*openEngine
	mappings map[engineKey]mapped
}

type engineKey struct {
	database string
	server   uint32
	role     uint32 // 0 where the wrapper has no user mappings
}

type openEngine struct {
	engine           engines.Engine
	options, mapping map[string]string
}

func newOpenEngines(wrappers map[string]engines.Wrapper) *openEngines {
	return &openEngines{wrappers: wrappers, open: map[engineKey]*openEngine{}, mappings: map[engineKey]mapped{}}
}

// wrapper returns the code behind a server.
func (o *openEngines) wrapper(server *catalog.Server) (engines.Wrapper, error) {
	if w := o.wrappers[server.Wrapper]; w != nil {
		return w, nil
	}
	return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q needs wrapper %q, which this Sluice does not have", server.Name, server.Wrapper),
		"Run a build of Sluice that has this engine.")
}

// get returns the engine of a server as it and the user mapping are defined now.
func (o *openEngines) get(ctx context.Context, key engineKey, server *catalog.Server, mapping map[string]string) (engines.Engine, error) {
	w, err := o.wrapper(server)
	if err != nil {
		return nil, err
	}
	o.drop(func(k engineKey, e *openEngine) bool {
		return k == key && !(maps.Equal(e.options, server.Options) && maps.Equal(e.mapping, mapping))
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.open[key]; e != nil {
		return e.engine, nil
	}
	options, err := ddl.Secrets(server.Options)
	if err != nil {
		return nil, err
	}
	secrets, err := ddl.Secrets(mapping)
	if err != nil {
		return nil, err
	}
	e, err := w.Open(ctx, engines.Server{OID: server.OID, Name: server.Name, Options: options, Mapping: secrets})
	if err != nil {
		return nil, err
	}
	o.open[key] = &openEngine{e, server.Options, mapping}
	return e, nil
}

// keep closes the engines of a database's servers that are gone, or were defined anew. A new server may be over the same
// file.
func (o *openEngines) keep(database string, servers map[uint32]*catalog.Server) {
	o.mu.Lock()
	maps.DeleteFunc(o.mappings, func(k engineKey, _ mapped) bool { return k.database == database && servers[k.server] == nil })
	o.mu.Unlock()
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
