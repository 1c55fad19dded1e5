package proxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
)

const watchRetry = 5 * time.Second

// watchLinger is how long a database is watched after its last client has left. It is less than the 5 seconds for which
// home's DROP DATABASE waits for others to leave.
const watchLinger = 2 * time.Second

// watches are the proxy's own connections to home, under its service account: one a database that listens for catalog
// changes made through other proxies or directly and for pg_cancel_backend, and one that reads verifiers for logins.
// Without them Sluice works all the same, but for pg_cancel_backend: each analysis compares the catalog version.
type watches struct {
	server *Server
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu        sync.Mutex
	listening map[string]*watch // by database

	loginMu sync.Mutex
	login   *pgconn.PgConn
}

// watch listens for what concerns one database.
type watch struct {
	begun chan struct{} // closed once it listens, or cannot
	stop  context.CancelFunc
	idle  *time.Timer // runs once the last client has left; nil before
	sweep atomic.Bool // servers may have tables without handles
}

// sweepSoon has servers looked through for tables of handles that have not come to be.
func (w *watches) sweepSoon(database string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o := w.listening[database]; o != nil {
		o.sweep.Store(true)
	}
}

func newWatches(s *Server) *watches {
	w := &watches{server: s, listening: map[string]*watch{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start listens for changes in a database where the catalog is installed.
func (w *watches) start(database string, snapshot *catalog.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !snapshot.Installed || w.listening[database] != nil || w.ctx.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(w.ctx)
	o := &watch{begun: make(chan struct{}), stop: stop}
	w.listening[database] = o
	w.wg.Go(func() { w.listen(ctx, database, o, sync.OnceFunc(func() { close(o.begun) })) })
}

// leave is called when the last client of a database has left. Unless another comes soon the watch ends, so that the
// database may be dropped.
func (w *watches) leave(database string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch o := w.listening[database]; {
	case o == nil || w.ctx.Err() != nil:
	case o.idle == nil:
		o.idle = time.AfterFunc(watchLinger, func() { w.end(database, o) })
	default:
		o.idle.Reset(watchLinger)
	}
}

// end ends a watch that nobody needs. Whoever comes later begins another, as there is no snapshot any more.
func (w *watches) end(database string, o *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listening[database] == o && !w.server.serves(database) {
		delete(w.listening, database)
		o.stop()
		w.server.cache.Invalidate(database)
	}
}

// await waits until the watch of a database has begun to listen, so that it misses nothing that is said from now on.
func (w *watches) await(ctx context.Context, database string) {
	w.mu.Lock()
	o := w.listening[database]
	w.mu.Unlock()
	if o == nil {
		return
	}
	select {
	case <-o.begun:
	case <-ctx.Done():
	case <-time.After(watchRetry):
	}
}

func (w *watches) listen(ctx context.Context, database string, o *watch, begun func()) {
	defer begun()
	said := ""
	for ctx.Err() == nil {
		err := w.listenOnce(ctx, database, o, begun)
		begun()
		w.server.cache.Invalidate(database) // changes may have been missed
		w.server.facts.Delete(database)     // home may be another one
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); text != said { // a standby, for one, says so each time
			w.server.config.Logger.Warn("not listening for catalog changes, reading the catalog again every 5 seconds", "database", database, "error", err)
			said = text
		}
		select {
		case <-time.After(watchRetry):
		case <-ctx.Done():
		}
	}
}

func (w *watches) listenOnce(ctx context.Context, database string, o *watch, begun func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l := &listener{watches: w, watch: o, database: database, changed: true}
	c, err := w.connect(ctx, database, l.hear)
	if err != nil {
		return err
	}
	defer closeConn(c)
	l.conn = c
	if err := c.Exec(ctx, "SET search_path = pg_catalog, pg_temp; LISTEN sluice_catalog").Close(); err != nil {
		return err
	}
	w.server.cache.Invalidate(database)
	for {
		if err := l.work(ctx); err != nil {
			return err
		}
		begun()
		if err := l.wait(ctx); err != nil {
			return err
		}
	}
}

// connect opens a connection of the service account; hear may be nil.
func (w *watches) connect(ctx context.Context, database string, hear func(*pgconn.Notification)) (*pgconn.PgConn, error) {
	config := w.server.config.Home.Copy()
	if database != "" {
		config.Database = database
	}
	config.RuntimeParams["application_name"] = "sluice"
	if hear != nil {
		config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { hear(n) }
	}
	return pgconn.ConnectConfig(ctx, config)
}

// holdExtension goes on with a transaction that begins, to whose end the schema sluice is that of the extension, and says whether it is:
// whoever may create a schema could make one of that name, whose functions would run with the rights of our account.
const holdExtension = `; SET LOCAL search_path = pg_catalog, pg_temp;
LOCK TABLE sluice.catalog_change IN ACCESS SHARE MODE NOWAIT;
SELECT count(*) FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE nspname = 'sluice' AND rolsuper`

var errNotInstalled = errors.New("the extension is not installed")

// askExtension runs a statement that calls functions of the extension, if it is installed.
func askExtension(ctx context.Context, c *pgconn.PgConn, sql string, params ...[]byte) ([][]byte, error) {
	return inExtension(ctx, c, "BEGIN READ ONLY", "ROLLBACK", sql, params...)
}

// inExtension is askExtension with the statements that begin and end its transaction.
func inExtension(ctx context.Context, c *pgconn.PgConn, begin, end, sql string, params ...[]byte) ([][]byte, error) {
	held, err := c.Exec(ctx, begin+holdExtension).ReadAll()
	var row [][]byte
	switch {
	case err != nil:
	case string(held[len(held)-1].Rows[0][0]) != "1":
		err = errNotInstalled
	default:
		result := c.ExecParams(ctx, sql, params, nil, nil, nil).Read()
		if err = result.Err; err == nil && len(result.Rows) > 0 {
			row = result.Rows[0]
		}
	}
	return row, errors.Join(err, c.Exec(ctx, end).Close())
}

// authQuery asks for the verifier of a role, and whether there may be one that we do not get: home judges superusers and
// roles that may not log in. All others without one run an exchange that fails at its end, as that of a role with a
// verifier may: unknown ones, those without a password, and those whose password has expired.
const authQuery = `SELECT sluice.get_auth($1), EXISTS (SELECT FROM pg_roles
WHERE rolname = $1 AND (rolsuper OR NOT rolcanlogin))`

// verifier returns the SCRAM verifier of a role as sluice.get_auth gives it; ok is false where it is not to be had.
func (w *watches) verifier(ctx context.Context, user string) (verifier string, ok bool, err error) {
	w.loginMu.Lock()
	defer w.loginMu.Unlock()
	for range 2 { // once more where the connection has gone stale
		if w.login == nil {
			if w.login, err = w.connect(ctx, "", nil); err != nil {
				w.login = nil
				return "", false, nil
			}
		}
		row, err := askExtension(ctx, w.login, authQuery, []byte(user))
		if err == nil {
			return string(row[0]), row[0] != nil || string(row[1]) != "t", nil
		}
		if !w.login.IsClosed() {
			return "", false, nil // not installed, or not ours to ask
		}
		w.login = nil
	}
	return "", false, nil
}

func (w *watches) close() {
	w.cancel()
	w.wg.Wait()
	w.loginMu.Lock()
	defer w.loginMu.Unlock()
	if w.login != nil {
		closeConn(w.login)
		w.login = nil
	}
}

func closeConn(c *pgconn.PgConn) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = c.Close(ctx)
}
