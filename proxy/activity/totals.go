package activity

import (
	"slices"
	"time"

	"github.com/sluicedb/sluice/proxy/gist"
)

// key says which statements are counted as one.
type key struct {
	database           string
	role               uint32
	fingerprint, route string
	governed           bool
}

// totals are those of the statements of one key.
type totals struct {
	key
	text        string
	since, last time.Time
	calls       int64
	failed      int64
	rows, bytes int64
	time, most  time.Duration
	first       time.Duration // of those that have sent rows
	firsts      int64
	servers     []*serverTotals
}

// serverTotals are what statements of one key have read of one server.
type serverTotals struct {
	name        string
	streams     int64
	rows, bytes int64
	first, last time.Duration
	firsts      int64
}

// mostServers bounds the servers that are told apart in one key, which cannot be many: they stand in its statements.
const mostServers = 64

// count adds a statement that has ended to the totals of its key.
func (b *Book) count(s *Statement, failed bool) {
	took := time.Since(s.Began)
	g := gist.Of(s.Text)
	k := key{s.Database, s.Role, g.Fingerprint, s.Route, s.Governed}
	if k.fingerprint == "" { // no two of these are known to be alike
		k.fingerprint = g.Text
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.statements.Get(k)
	if !ok {
		t = &totals{key: k, text: g.Text, since: time.Now()}
		b.statements.Put(k, t, max(len(k.fingerprint)+len(g.Text)+1<<10, mostBytes/mostStatements))
	}
	t.last = time.Now()
	t.calls++
	if failed {
		t.failed++
	}
	t.rows, t.bytes = t.rows+s.rows.Load(), t.bytes+s.bytes.Load()
	t.time, t.most = t.time+took, max(t.most, took)
	if first := s.first.Load(); first > 0 {
		t.first, t.firsts = t.first+time.Duration(first), t.firsts+1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sources {
		t.countSource(o)
	}
	s.sources = nil
}

func (t *totals) countSource(o *Source) {
	i := slices.IndexFunc(t.servers, func(n *serverTotals) bool { return n.name == o.Server })
	if i < 0 {
		if len(t.servers) == mostServers {
			return
		}
		i = len(t.servers)
		t.servers = append(t.servers, &serverTotals{name: o.Server})
	}
	n := t.servers[i]
	n.streams++
	n.rows, n.bytes = n.rows+o.rows.Load(), n.bytes+o.bytes.Load()
	n.last += time.Duration(o.last.Load())
	if first := o.first.Load(); first > 0 {
		n.first, n.firsts = n.first+time.Duration(first), n.firsts+1
	}
}

// StatementRow is what a view shows of the statements of one key.
type StatementRow struct {
	Database    string               `json:"database"`
	Role        uint32               `json:"role"`
	Fingerprint string               `json:"fingerprint"`
	Query       string               `json:"query"`
	Route       string               `json:"route"`
	Calls       int64                `json:"calls"`
	Failed      int64                `json:"failed"`
	Rows        int64                `json:"rows"`
	Bytes       int64                `json:"bytes"`
	FirstRow    *float64             `json:"first_row_ms"`
	Total       float64              `json:"total_ms"`
	Mean        float64              `json:"mean_ms"`
	Most        float64              `json:"max_ms"`
	Servers     map[string]ServerRow `json:"servers"`
	Since       time.Time            `json:"since"`
	LastCall    time.Time            `json:"last_call"`
}

// ServerRow is what a view shows of the reading of one server.
type ServerRow struct {
	Streams  int64    `json:"streams"`
	Rows     *int64   `json:"rows"` // nil where the reader must not know
	Bytes    *int64   `json:"bytes"`
	FirstRow *float64 `json:"first_row_ms"`
	Total    float64  `json:"total_ms"`
}

// Statements returns the totals of roles that may be seen; all says that everything of them may be.
func (b *Book) Statements(visible func(role uint32) bool, all bool) []StatementRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []StatementRow{}
	b.statements.Each(func(k key, t *totals) {
		if visible(k.role) {
			list = append(list, t.row(all))
		}
	})
	return list
}

func (t *totals) row(all bool) StatementRow {
	r := StatementRow{
		Database: t.database, Role: t.role, Fingerprint: t.fingerprint, Query: t.text, Route: t.route,
		Calls: t.calls, Failed: t.failed, Rows: t.rows, Bytes: t.bytes, FirstRow: mean(t.first, t.firsts),
		Total: milliseconds(t.time), Mean: milliseconds(t.time / time.Duration(t.calls)), Most: milliseconds(t.most),
		Servers: map[string]ServerRow{}, Since: t.since, LastCall: t.last,
	}
	for _, n := range t.servers {
		server := ServerRow{Streams: n.streams, FirstRow: mean(n.first, n.firsts), Total: milliseconds(n.last)}
		if all || !t.governed {
			server.Rows, server.Bytes = &n.rows, &n.bytes
		}
		r.Servers[n.name] = server
	}
	return r
}

// mean is nil where there is nothing to take it of.
func mean(sum time.Duration, n int64) *float64 {
	if n == 0 {
		return nil
	}
	m := milliseconds(sum / time.Duration(n))
	return &m
}
