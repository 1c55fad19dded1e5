package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/activity"
	"github.com/sluicedb/sluice/proxy/tally"
)

// countersInterval is how often the counters of a database are looked after.
const countersInterval = time.Second

// readCounters edits a text of one statement that counts rows of tables that are counted.
func (s *Session) readCounters(text string) (string, bool) {
	if !s.mayCount(text) {
		return text, false
	}
	list, err := parser.Parse(text)
	if err != nil || len(list) != 1 {
		return text, false
	}
	edited, ok := s.readCountersIn(list[0])
	if !ok {
		return text, false
	}
	return withSource(edited, text), true
}

// mayCount reports whether a text may be of statements that counters answer.
func (s *Session) mayCount(text string) bool {
	return !s.snapshot.Shadows["count"] && strings.Contains(strings.ToLower(text), "count") &&
		!(s.setting("standard_conforming_strings") == "off" && strings.Contains(text, `\`))
}

func (s *Session) readCountersIn(st *parser.Statement) (string, bool) {
	if slices.ContainsFunc(st.Relations(), func(r parser.Relation) bool { return s.snapshot.Mentions(r.Name) }) {
		return "", false // which is planned here, or read through its masks
	}
	return tally.Rewrite(st, s.snapshot.Counted)
}

// readCountersInEach edits those of several statements of a simple query that counters answer. Each keeps the place that it has in the
// client's text. Those with pages are edited when these are expanded.
func (s *Session) readCountersInEach(list []*parser.Statement, text string) (edited []*parser.Statement, any bool) {
	if len(list) < 2 || !s.mayCount(text) {
		return list, false
	}
	edited = slices.Clone(list)
	for i, st := range list {
		sql, ok := s.readCountersIn(st)
		if !ok || s.pages(st.Text) {
			continue
		}
		if again, err := parser.Parse(withSource(sql, st.Source)); err == nil && len(again) == 1 {
			own := *again[0]
			own.Source, own.Start = st.Source, st.Start
			edited[i], any = &own, true
		}
	}
	return edited, any
}

// count begins to look after the counters of the database where tables of it are counted, and ends that where none is.
func (l *listener) count(ctx context.Context) error {
	row, err := askExtension(ctx, l.conn, "SELECT EXISTS (SELECT FROM sluice.table_statistics) OR EXISTS (SELECT FROM sluice.table_statistics_foreign)")
	if l.conn.IsClosed() {
		return err
	}
	switch counted := err == nil && string(row[0]) == "t"; {
	case counted && l.counting == nil:
		ctx, l.counting = context.WithCancel(ctx)
		l.watches.wg.Go(func() { l.watches.keepCounters(ctx, l.database) })
	case !counted && l.counting != nil:
		l.counting()
		l.counting = nil
	}
	return nil
}

// keepCounters folds the counters of a database, and fills those that are pending, until ctx ends. Any number of proxies
// may do so: home lets one at a time.
func (w *watches) keepCounters(ctx context.Context, database string) {
	said := ""
	for ctx.Err() == nil {
		err := w.keepCountersOver(ctx, database)
		if text := fmt.Sprint(err); text != said && ctx.Err() == nil && !errors.Is(err, errNotInstalled) {
			w.server.config.Logger.Warn("the counters of tables are not looked after", "database", database, "error", err)
			said = text
		}
		wait(ctx, watchRetry)
	}
}

// keepCountersOver is keepCounters over one connection, until it fails.
func (w *watches) keepCountersOver(ctx context.Context, database string) error {
	c, err := w.connect(ctx, database, nil)
	if err != nil {
		return err
	}
	defer closeConn(c)
	kept := serverCounters{watches: w, home: c, database: database}
	for {
		if err := w.keepCountersOnce(ctx, c, database); err != nil {
			return err
		}
		if err := kept.look(ctx); err != nil {
			return err
		}
		if !wait(ctx, countersInterval) {
			return ctx.Err()
		}
	}
}

// wait returns false where ctx has ended.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// keepCountersOnce sums up deltas, and counts the tables that are pending, each in a transaction of its own.
func (w *watches) keepCountersOnce(ctx context.Context, c *pgconn.PgConn, database string) error {
	for more := true; more; {
		row, err := inExtension(ctx, c, countersBegin, "COMMIT", "SELECT sluice.fold_statistics() < 0")
		if err != nil {
			return err
		}
		more = string(row[0]) == "t"
	}
	for {
		pending, err := askExtension(ctx, c, "SELECT relation, rows FROM sluice.pending_statistics() LIMIT 1")
		if err != nil || pending == nil {
			return err
		}
		if filled, err := w.fillCounter(ctx, c, database, pending); err != nil || !filled {
			return err
		}
	}
}

const countersBegin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = 0"

// fillCounter counts the table that is pending. Home does so in one statement, and nobody sees how far it has come.
func (w *watches) fillCounter(ctx context.Context, c *pgconn.PgConn, database string, pending [][]byte) (bool, error) {
	rows, err := strconv.ParseInt(string(pending[1]), 10, 64)
	if err != nil {
		return false, err
	}
	o := activity.Origin{Database: database, PID: c.PID(), User: w.server.config.Home.User}
	task := w.server.activity.Start(o, "count", string(pending[0]), rows)
	defer task.End()
	row, err := inExtension(ctx, c, countersBegin, "COMMIT", "SELECT sluice.fill_statistics()")
	return err == nil && string(row[0]) == "t", err
}
