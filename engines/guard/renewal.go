package guard

import (
	"context"
	"maps"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// lookEvery is how often secrets are looked up again.
const lookEvery = time.Second

// definition is what CREATE SERVER and the user mapping say, secrets as references.
type definition struct{ options, mapping map[string]string }

func (d definition) equal(o definition) bool {
	return maps.Equal(d.options, o.options) && maps.Equal(d.mapping, o.mapping)
}

// Define tells how the server is defined. What was opened by another definition is closed, which waits for its streams; the next
// statement opens it anew.
func (e *Engine) Define(options, mapping map[string]string) {
	e.define(func(definition) definition { return definition{options, mapping} })
}

// DefineServer is Define for who knows the server's options alone.
func (e *Engine) DefineServer(options map[string]string) {
	e.define(func(d definition) definition { return definition{options, d.mapping} })
}

func (e *Engine) define(change func(definition) definition) {
	e.mu.Lock()
	d := change(e.defined)
	if e.defined.equal(d) {
		e.mu.Unlock()
		return
	}
	old := e.inner
	e.defined, e.inner = d, nil
	e.limits = limitsOf(d.options)
	e.breaker.reset(e.limits.failures)
	e.gate.widen(e.limits.sessions)
	e.mu.Unlock()
	closeOld(old)
}

func closeOld(old engines.Engine) {
	if old != nil {
		_ = old.Close() // it closes itself when its streams have ended
	}
}

// Ready opens what is guarded, where it is not open.
func (e *Engine) Ready(ctx context.Context) error {
	if err := e.breaker.refuses(ctx); err != nil {
		return err
	}
	_, err := e.current(ctx, false)
	if err != nil {
		_ = e.noted(ctx, err)
	}
	return pgerr.AtServer(e.server, err)
}

// current returns what is guarded, opened anew where a secret has changed. Secrets are looked up once in a while, or (now) at once.
func (e *Engine) current(ctx context.Context, now bool) (engines.Engine, error) {
	select {
	case e.opening <- struct{}{}:
		defer func() { <-e.opening }()
	case <-ctx.Done():
		return nil, pgerr.Ended(ctx)
	}
	for {
		e.mu.Lock()
		inner, d, fresh, closed := e.inner, e.defined, time.Since(e.looked) < lookEvery && !now, e.closed
		e.mu.Unlock()
		if closed {
			return nil, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
		}
		if inner == nil || !fresh {
			var err error
			inner, err = e.renew(ctx, inner, d)
			e.breaker.opened(ctx, err)
			if err != nil {
				return nil, err
			}
		}
		if inner != nil {
			return inner, nil
		}
	}
}

// renew looks up secrets, and opens what is guarded in place of an older one where they have changed or there is none. It returns
// nil where the server has been defined anew meanwhile.
func (e *Engine) renew(ctx context.Context, old engines.Engine, d definition) (engines.Engine, error) {
	options, err := e.resolve(d.options)
	if err != nil {
		return nil, err
	}
	mapping, err := e.resolve(d.mapping)
	if err != nil {
		return nil, err
	}
	found := definition{options, mapping}
	if old != nil && found.equal(e.secret) {
		return e.put(old, d), nil
	}
	if e.take(old) {
		closeOld(old)
		e.breaker.reset(limitsOf(d.options).failures)
	}
	inner, err := e.wrapper.Open(ctx, engines.Server{OID: e.oid, Name: e.server, Options: options, Mapping: mapping})
	if err != nil {
		return nil, err
	}
	e.secret = found
	kept := e.put(inner, d)
	if kept == nil {
		closeOld(inner)
	}
	return kept, nil
}

// take takes what is guarded away, if it is still that.
func (e *Engine) take(old engines.Engine) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old == nil || e.inner != old {
		return false
	}
	e.inner = nil
	return true
}

// put guards what was opened by a definition, and returns it; nil where that no longer holds.
func (e *Engine) put(inner engines.Engine, d definition) engines.Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || !e.defined.equal(d) {
		return nil
	}
	e.inner, e.looked = inner, time.Now()
	return inner
}
