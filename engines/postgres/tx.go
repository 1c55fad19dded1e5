package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// tx is one transaction at the remote server, of one snapshot, as the identities of rows (their places) that a scan yields must
// mean the same rows when they are written.
type tx struct {
	engine     *Engine
	connection *connection // nil when the transaction is over
}

// Begin starts a write transaction; 0A000 where the server does not take writes.
func (e *Engine) Begin(ctx context.Context) (engines.Tx, error) {
	if !e.updatable {
		return nil, e.readOnly()
	}
	t, err := e.beginAs(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE")
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (e *Engine) readOnly() error {
	return pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is read-only", e.server),
		"ALTER SERVER %s OPTIONS (ADD updatable 'true') allows writes, or SET instead of ADD where the option is there.", ident(e.server)))
}

// beginAs starts a transaction by the statement given.
func (e *Engine) beginAs(ctx context.Context, sql string) (*tx, error) {
	for {
		c, err := e.pool.Acquire(ctx)
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		t := &tx{e, c}
		_, err = t.exec(ctx, sql)
		switch {
		case err == nil:
			return t, nil
		case !errors.Is(err, errBroken):
			e.release(c)
		case e.discard(c) && ctx.Err() == nil:
			continue
		}
		return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
}

// Open starts q within the transaction.
func (t *tx) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	s, err := begin(ctx, t.engine, t.connection, q)
	if err != nil {
		return nil, pgerr.AtServer(t.engine.server, pgerr.Interrupted(ctx, err))
	}
	s.borrowed = true
	return s, nil
}

// Truncate removes all rows.
func (t *tx) Truncate(ctx context.Context, target engines.Target) error {
	if err := t.writable(target); err != nil {
		return err
	}
	_, err := t.exec(ctx, "TRUNCATE "+relation(target))
	return pgerr.AtServer(t.engine.server, err)
}

// Commit ends the transaction. Where nobody can tell whether it was committed, the error says so.
func (t *tx) Commit(ctx context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	tag, err := t.exec(ctx, "COMMIT")
	switch {
	case err == nil && tag != "COMMIT":
		err = pgerr.New("40000", "the foreign server has rolled the transaction back")
	case errors.Is(err, errBroken):
		err = errors.Join(pgerr.New("08007", "the connection broke during COMMIT at the foreign server: it may have been committed or not"), err)
	}
	t.end(err)
	return pgerr.AtServer(t.engine.server, err)
}

// Rollback undoes everything; after the end it does nothing.
func (t *tx) Rollback() error {
	if t.connection == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), settleTime)
	defer stop()
	_, err := t.exec(ctx, "ROLLBACK")
	t.end(err)
	return nil // a server that is gone has rolled back
}

// end gives the connection back. Settings made within a transaction that was rolled back are those from before.
func (t *tx) end(err error) {
	c := t.connection
	t.connection = nil
	c.styles, c.tagged = engines.Styles{}, unknownTag
	if errors.Is(err, errBroken) {
		t.engine.discard(c)
		return
	}
	t.engine.release(c)
}

func (t *tx) usable() error {
	if t.connection == nil {
		return pgerr.New("25000", "the transaction on server %q is over", t.engine.server)
	}
	return nil
}

// writable refuses tables that their option says not to write to.
func (t *tx) writable(target engines.Target) error {
	if ok, err := engines.ParseBool(target.Options["updatable"], true); err != nil || !ok {
		return pgerr.AtServer(t.engine.server, pgerr.New(pgerr.ObjectNotInPrerequisite, "foreign table %q does not allow writes", target.Relation))
	}
	return t.usable()
}

// exec runs one statement whose rows do not matter, and returns its tag.
func (t *tx) exec(ctx context.Context, sql string) (tag string, err error) {
	c := t.connection
	stop := c.watch(ctx)
	defer stop()
	if err := errors.Join(c.execute("", sql, nil, nil), c.send(syncMessage), c.flush()); err != nil {
		return "", errors.Join(err, errBroken)
	}
	tag, err = c.completion()
	if err == nil {
		err = c.sync()
	}
	return tag, err
}

// count runs a statement that writes rows and returns how many.
func countOf(tag string) int64 {
	n, _ := strconv.ParseInt(tag[strings.LastIndexByte(tag, ' ')+1:], 10, 64) // a tag without a number is of no rows
	return n
}

// relation returns the name of the remote table.
func relation(t engines.Target) string {
	schema, name := t.Options["schema_name"], t.Options["table_name"]
	if schema == "" {
		schema = t.Schema
	}
	if name == "" {
		name = t.Relation
	}
	return ident(schema) + "." + ident(name)
}

// ident quotes s as an identifier.
func ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
