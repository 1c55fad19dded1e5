package guard

import "context"

// Holder is who holds permits and waits for them: a session, with all that is open in it. Its fields are guarded by the lock of
// the Yard.
type Holder struct {
	waits map[*waiter]struct{}
}

type holderKey struct{}

// Hold returns a context whose work belongs to one new Holder.
func Hold(ctx context.Context) context.Context {
	return context.WithValue(ctx, holderKey{}, new(Holder))
}

// holderOf returns whom work belongs to; to itself, where nobody has said.
func holderOf(ctx context.Context) *Holder {
	if h, ok := ctx.Value(holderKey{}).(*Holder); ok {
		return h
	}
	return new(Holder)
}

type statementKey struct{}

// Statement returns a context whose work belongs to one new statement, which tries a server that fails but once.
func Statement(ctx context.Context) context.Context {
	return context.WithValue(ctx, statementKey{}, new(byte))
}

// statementOf returns what stands for the statement that work belongs to, nil where nobody has said.
func statementOf(ctx context.Context) *byte {
	s, _ := ctx.Value(statementKey{}).(*byte)
	return s
}
