package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
)

// sweepServers drops, at the servers that take handles, the tables of handles that are gone or never came to be: the server had
// committed and home did not, or a proxy ended between the two. done says that nothing is left to look at.
func (w *watches) sweepServers(ctx context.Context, database string, snapshot *catalog.Snapshot) (done bool, err error) {
	var c *pgconn.PgConn
	defer func() {
		if c != nil {
			closeConn(c)
		}
	}()
	done = true
	var errs []error
	for _, server := range snapshot.Servers {
		if on, err := engines.ParseBool(server.Options["handles"], false); err != nil || !on {
			continue
		}
		if c == nil {
			if c, err = w.connect(ctx, database, nil); err != nil {
				return false, err
			}
		}
		swept, err := w.sweep(ctx, c, database, server)
		if c.IsClosed() {
			return false, err
		}
		errs = append(errs, err)
		done = done && swept
	}
	return done, errors.Join(errs...)
}

// sweep is sweepServers for one server. Tables are listed before it is asked whether handles are being made there: what one that
// was made meanwhile is called is not among them.
func (w *watches) sweep(ctx context.Context, c *pgconn.PgConn, database string, server *catalog.Server) (done bool, err error) {
	row, err := askExtension(ctx, c, "SELECT srvowner FROM pg_catalog.pg_foreign_server WHERE oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid", strconv.AppendUint(nil, uint64(server.OID), 10))
	if err != nil {
		return false, err
	}
	if len(row) == 0 { // which the catalog is about to say
		return false, nil
	}
	owner, err := strconv.ParseUint(string(row[0]), 10, 32)
	if err != nil {
		return false, err
	}
	engine, err := w.engine(ctx, database, server, uint32(owner))
	if err != nil {
		return false, err
	}
	keeper, ok := engines.As[engines.Keeper](engine)
	if !ok || keeper.Keeps() != nil {
		return true, nil
	}
	prefix, err := askExtension(ctx, c, "SELECT sluice.handles_here()")
	if err != nil {
		return false, err
	}
	names, err := keeper.Kept(ctx, string(prefix[0]))
	if err != nil || len(names) == 0 {
		return err == nil, err
	}
	list, err := json.Marshal(names)
	if err != nil {
		return false, err
	}
	const begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	row, err = inExtension(ctx, c, begin, "COMMIT", "SELECT sluice.orphaned_handles($1::pg_catalog.name, $2::pg_catalog.json)", []byte(server.Name), list)
	if err != nil || row[0] == nil {
		return false, err
	}
	var orphans []string
	if err := json.Unmarshal(row[0], &orphans); err != nil {
		return false, err
	}
	for _, name := range orphans {
		if err := keeper.Forget(ctx, name); err != nil {
			return false, err
		}
	}
	return true, nil
}
