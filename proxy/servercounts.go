package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
)

// serverCount is what a server has said of the number of rows of a foreign table.
type serverCount struct {
	Relation uint32    `json:"relation"`
	Rows     *int64    `json:"rows"`
	Sure     bool      `json:"sure"`
	Asked    time.Time `json:"asked"`
}

// showsCounts finds what a statement names that shows counts.
var showsCounts = regexp.MustCompile(`(?i)table_count|\b(manifest|describe_for_agents)"?\s*\(`)

// seenCounts are the tables whose counts home may show to the current role.
const seenCounts = `SELECT f.relation::pg_catalog.oid FROM sluice.table_statistics_foreign f WHERE f.made AND NOT f.dropped AND sluice.sees_all(f.relation) ORDER BY 1`

// showCounts gives home the counts of foreign tables, where a statement names what shows them, as a setting of the transaction that is
// open. Servers are asked as who the role is to them. A count that is not to be had is left out, with a warning.
func (s *Session) showCounts(ctx context.Context, x *execution) error {
	if len(s.snapshot.Remotely) == 0 || !showsCounts.MatchString(x.statement.Text) {
		return nil
	}
	seen, err := s.Query(ctx, seenCounts)
	if err != nil {
		return err
	}
	counts := []serverCount{}
	for _, row := range seen {
		oid, err := strconv.ParseUint(*row[0], 10, 32)
		if err != nil {
			return err
		}
		r := s.snapshot.Relations[uint32(oid)]
		if r == nil || r.Server == nil {
			continue
		}
		n, err := s.serverCount(ctx, r)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && s.writes(r.Server):
			return s.cause(err) // which may have ended the transaction there
		case err != nil:
			s.notices([]*pgconn.PgError{countWarning(r, err)})
		default:
			counts = append(counts, n)
		}
	}
	document, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	_, err = s.Query(ctx, "SELECT pg_catalog.set_config('sluice.server_counts', $1, true) IS NULL", string(document))
	x.shows = true
	return err
}

func countWarning(r *catalog.Relation, err error) *pgconn.PgError {
	w := pgerr.New("01000", "the count of foreign table %q is not to be had: %s", r.Name, reasonOf(err))
	w.Severity = "WARNING"
	return w
}

// serverCount asks the server of a foreign table, within the transaction that writes to it where one is open.
func (s *Session) serverCount(ctx context.Context, r *catalog.Relation) (serverCount, error) {
	c := serverCount{Relation: r.OID, Asked: time.Now()}
	engine, err := s.engine(ctx, r.Server, 0)
	if err != nil {
		return c, err
	}
	counter, ok := engines.As[engines.Counter](engine)
	if !ok {
		return c, noCounter(r)
	}
	open := engine.Open
	if s.writes(r.Server) {
		open = s.writing.tx.Open
	}
	q := counter.CountQuery(targetOf(r))
	q.Formats = []int16{encode.Binary}
	stream, err := open(ctx, q)
	if err != nil {
		return c, err
	}
	defer stream.Close()
	answer := &prefix{Stream: stream}
	if err := answer.read(ctx); err != nil {
		return c, err
	}
	rows, err := answer.keys(plan.Bind{Type: int8OID})
	if err != nil {
		return c, err
	}
	sure, err := answer.keys(plan.Bind{Column: 1, Type: int8OID})
	if err != nil || len(rows) == 0 {
		return c, err
	}
	n, err := strconv.ParseInt(rows[0], 10, 64)
	c.Rows, c.Sure = &n, len(sure) > 0 && sure[0] == "1"
	return c, err
}

const int8OID = 20

func targetOf(r *catalog.Relation) engines.Target {
	return engines.Target{Relation: r.Name, Schema: r.Schema, Options: r.Options}
}

func noCounter(r *catalog.Relation) error {
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q does not count rows of tables", r.Server.Name), "Servers of sluice_duckdb and sluice_postgres do.")
}

// serverCounters has servers begin and end to count rows, as home says, and look after what they keep for that.
type serverCounters struct {
	watches  *watches
	home     *pgconn.PgConn
	database string
	looked   map[uint32]time.Time // when each was looked after last
}

// foreignCounter is a foreign table whose rows are to be counted by its server, or are no more to be.
type foreignCounter struct {
	Relation uint32 `json:"relation"`
	Owner    uint32 `json:"owner"`
	Made     bool   `json:"made"`
	Dropped  bool   `json:"dropped"`
	Error    string `json:"error"`
}

// How often a server is asked to sum up what it keeps, and is asked again what it has refused.
const (
	tidyInterval  = time.Minute
	againInterval = 5 * time.Second
)

// look does what is to be done now. One proxy at a time does.
func (k *serverCounters) look(ctx context.Context) error {
	row, err := askExtension(ctx, k.home, "SELECT sluice.foreign_counters()")
	if err != nil || row == nil || row[0] == nil {
		return err
	}
	var list []foreignCounter
	if err := json.Unmarshal(row[0], &list); err != nil {
		return err
	}
	const lock = "(pg_catalog.hashtextextended('sluice foreign counters', 0))"
	row, err = askExtension(ctx, k.home, "SELECT pg_catalog.pg_try_advisory_lock"+lock)
	if err != nil || string(row[0]) != "t" {
		return err
	}
	for _, f := range list {
		if err := k.lookAt(ctx, &f); err != nil {
			return err
		}
	}
	_, err = askExtension(ctx, k.home, "SELECT pg_catalog.pg_advisory_unlock"+lock)
	return err
}

func (k *serverCounters) lookAt(ctx context.Context, f *foreignCounter) error {
	again := againInterval
	if f.Made {
		again = tidyInterval
	}
	if (f.Made || f.Error != "") && time.Since(k.looked[f.Relation]) < again {
		return nil
	}
	if k.looked == nil {
		k.looked = map[uint32]time.Time{}
	}
	k.looked[f.Relation] = time.Now()
	err := k.run(ctx, f)
	if ctx.Err() != nil || err == errUnknown {
		return ctx.Err()
	}
	if f.Made && err == nil {
		return nil
	}
	if f.Made { // its count is right, if longer than it need be
		k.watches.server.config.Logger.Warn("a server does not sum up its counters", "database", k.database, "error", err)
		return nil
	}
	var reason []byte
	if err != nil {
		reason = []byte(reasonOf(err))
	}
	const begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	_, err = inExtension(ctx, k.home, begin, "COMMIT", "SELECT sluice.foreign_counted($1::pg_catalog.oid, $2::pg_catalog.bool, $3)",
		strconv.AppendUint(nil, uint64(f.Relation), 10), strconv.AppendBool(nil, f.Dropped), reason)
	return err
}

// errUnknown says that the catalog that is known has yet to have a table.
var errUnknown = errors.New("the table is not known yet")

// run asks the server of a table, as who the table's owner is to it.
func (k *serverCounters) run(ctx context.Context, f *foreignCounter) error {
	snapshot := k.watches.server.cache.Get(k.database)
	if snapshot == nil { // no session has read it since it changed
		var err error
		if snapshot, err = catalog.Load(ctx, homeQuerier{k.home}); err != nil {
			return err
		}
	}
	r := snapshot.Relations[f.Relation]
	if r == nil || r.Server == nil {
		return errUnknown
	}
	engine, err := k.watches.engine(ctx, k.database, r.Server, f.Owner)
	if err != nil {
		return err
	}
	counter, ok := engines.As[engines.Counter](engine)
	switch {
	case !ok:
		return noCounter(r)
	case f.Dropped:
		return counter.Uncount(ctx, targetOf(r))
	}
	return counter.Count(ctx, targetOf(r), !f.Made)
}

// homeQuerier asks home statements without parameters over a connection of the proxy's own.
type homeQuerier struct{ *pgconn.PgConn }

// Query returns the rows of a statement.
func (h homeQuerier) Query(ctx context.Context, sql string, _ ...string) ([][]*string, error) {
	r := h.ExecParams(ctx, sql, nil, nil, nil, nil).Read()
	rows := make([][]*string, len(r.Rows))
	for i, row := range r.Rows {
		for _, v := range row {
			var text *string
			if v != nil {
				text = new(string(v))
			}
			rows[i] = append(rows[i], text)
		}
	}
	return rows, r.Err
}

// engine returns the engine of a server as a role logs in to it.
func (w *watches) engine(ctx context.Context, database string, server *catalog.Server, role uint32) (engines.Engine, error) {
	wrapper, err := w.server.engines.wrapper(server)
	if err != nil {
		return nil, err
	}
	key := engineKey{database: database, server: server.OID}
	if !engines.Maps(wrapper, server.Options) {
		return w.server.engines.get(ctx, key, server, nil)
	}
	key.role = role
	m, err := w.mapping(ctx, key)
	if err != nil {
		return nil, err
	}
	options, err := m.InForce(server.Name)
	if err != nil {
		return nil, err
	}
	return w.server.engines.get(ctx, key, server, options)
}

// reasonOf is what an error says, without where it came from.
func reasonOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Message
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
