package guard

import (
	"context"

	"github.com/sluicedb/sluice/engines"
)

// As makes *target a view of the engine as one of the interfaces that engines may have, where what is guarded has it. Such work is
// the proxy's own and short, but for Verify: it takes no permit, but does not ask a server that cannot be reached.
func (e *Engine) As(target any) bool {
	e.mu.Lock()
	inner := e.inner
	e.mu.Unlock()
	switch t := target.(type) {
	case *engines.Informant:
		_, ok := inner.(engines.Informant)
		*t = informant{e}
		return ok
	case *engines.Certifiable:
		_, ok := inner.(engines.Certifiable)
		*t = certifiable{e}
		return ok
	case *engines.Keeper:
		k, ok := inner.(engines.Keeper)
		*t = keeper{e, k}
		return ok
	case *engines.Counter:
		c, ok := inner.(engines.Counter)
		*t = counter{e, c}
		return ok
	case *engines.Estimator:
		_, ok := inner.(engines.Estimator)
		*t = estimator{e}
		return ok
	}
	return false
}

type informant struct{ *Engine }

func (i informant) Facts(ctx context.Context) (f engines.Facts, err error) {
	err = i.try(ctx, func(inner engines.Engine) (err error) {
		f, err = inner.(engines.Informant).Facts(ctx)
		return err
	})
	return f, err
}

type certifiable struct{ *Engine }

func (c certifiable) Probes(ctx context.Context) (p engines.Probes, err error) {
	err = c.try(ctx, func(inner engines.Engine) (err error) {
		p, err = inner.(engines.Certifiable).Probes(ctx)
		return err
	})
	return p, err
}

type estimator struct{ *Engine }

func (g estimator) Estimate(ctx context.Context, q engines.Query) (words string, err error) {
	err = g.try(ctx, func(inner engines.Engine) (err error) {
		words, err = inner.(engines.Estimator).Estimate(ctx, q)
		return err
	})
	return words, err
}

// keeper and counter have what they guarded when they were asked for, for what is told without asking the server.
type keeper struct {
	*Engine
	of engines.Keeper
}

func (k keeper) Keeps() error { return k.of.Keeps() }

func (k keeper) Declare(columns []engines.Column) ([]map[string]string, error) {
	return k.of.Declare(columns)
}

func (k keeper) Kept(ctx context.Context, prefix string) (names []string, err error) {
	err = k.try(ctx, func(inner engines.Engine) (err error) {
		names, err = inner.(engines.Keeper).Kept(ctx, prefix)
		return err
	})
	return names, err
}

func (k keeper) Forget(ctx context.Context, table string) error {
	return k.try(ctx, func(inner engines.Engine) error { return inner.(engines.Keeper).Forget(ctx, table) })
}

type counter struct {
	*Engine
	of engines.Counter
}

func (c counter) Count(ctx context.Context, t engines.Target, anew bool) error {
	return c.try(ctx, func(inner engines.Engine) error { return inner.(engines.Counter).Count(ctx, t, anew) })
}

func (c counter) Uncount(ctx context.Context, t engines.Target) error {
	return c.try(ctx, func(inner engines.Engine) error { return inner.(engines.Counter).Uncount(ctx, t) })
}

func (c counter) CountQuery(t engines.Target) engines.Query { return c.of.CountQuery(t) }

// Verify is a statement of somebody's that may take long: it waits for its turn.
func (c counter) Verify(ctx context.Context, t engines.Target, repair bool) (v engines.Verified, err error) {
	release, err := c.enter(ctx)
	if err != nil {
		return v, err
	}
	defer release()
	err = c.try(ctx, func(inner engines.Engine) (err error) {
		v, err = inner.(engines.Counter).Verify(ctx, t, repair)
		return err
	})
	return v, err
}
