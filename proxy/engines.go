package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/guard"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// openEngines holds the guards of all foreign servers that were used, one for each server and, where its users are mapped, each role.
type openEngines struct {
	wrappers map[string]engines.Wrapper
	yard     guard.Yard
	mu       sync.Mutex
	open     map[engineKey]*guard.Engine
	mappings map[engineKey]mapped
}

type engineKey struct {
	database string
	server   uint32
	role     uint32 // 0 where the wrapper has no user mappings
}

func newOpenEngines(wrappers map[string]engines.Wrapper) *openEngines {
	return &openEngines{wrappers: wrappers, open: map[engineKey]*guard.Engine{}, mappings: map[engineKey]mapped{}}
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
	o.mu.Lock()
	e := o.open[key]
	if e == nil {
		e = guard.New(&o.yard, w, server.OID, server.Name, ddl.Secrets)
		o.open[key] = e
	}
	o.mu.Unlock()
	e.Define(server.Options, mapping)
	if err := e.Ready(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// keep closes the engines of a database's servers that are gone, and those that were opened by another definition. A new server may
// be over the same file.
func (o *openEngines) keep(database string, servers map[uint32]*catalog.Server) {
	gone, changed := map[engineKey]*guard.Engine{}, map[engineKey]*guard.Engine{}
	o.mu.Lock()
	maps.DeleteFunc(o.mappings, func(k engineKey, _ mapped) bool { return k.database == database && servers[k.server] == nil })
	for k, e := range o.open {
		switch s := servers[k.server]; {
		case k.database != database:
		case s == nil || s.Name != e.Name():
			delete(o.open, k)
			gone[k] = e
		default:
			changed[k] = e
		}
	}
	o.mu.Unlock() // as closing may take long
	for _, e := range gone {
		_ = e.Close() // it closes itself when its streams have ended
	}
	for k, e := range changed {
		e.DefineServer(servers[k.server].Options)
	}
}

func (o *openEngines) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for key, e := range o.open {
		if err := e.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close server %d of database %q: %w", key.server, key.database, err))
		}
	}
	o.open = map[engineKey]*guard.Engine{}
	return errors.Join(errs...)
}
