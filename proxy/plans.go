package proxy

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/lru"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/govern"
	"github.com/sluicedb/sluice/parser/plan"
)

// planBytes bounds the plans that are kept, by the texts in them.
const planBytes = 16 << 20

// plans are those of queries, for all sessions. A plan is kept under all that it was made from, each of which home has
// just said anew, so that a change of anything leads to another plan, and to none that is kept.
type plans struct {
	cache *lru.Cache[planKey, *planned]
	kept  planning
	made  planning
	// prefix of inputs stands in for that of a statement; random, so that it is in no text, and of letters that need no quotes.
	prefix string
}

func newPlans() plans {
	return plans{cache: lru.New[planKey, *planned](planBytes), prefix: ownPrefix + strings.ToLower(rand.Text()) + "_"}
}

// planning counts how often plans were found or made, and how long that took, without waiting for home.
type planning struct{ plans, nanoseconds atomic.Int64 }

func (p *planning) since(began time.Time) {
	p.plans.Add(1)
	p.nanoseconds.Add(int64(time.Since(began)))
}

// Planning is how many statements were planned, and how long that took in all.
type Planning struct {
	Plans int64
	Time  time.Duration
}

// Planning returns what planning took by plans that were kept, and by those that had to be made.
func (s *Server) Planning() (kept, made Planning) {
	read := func(p *planning) Planning { return Planning{p.plans.Load(), time.Duration(p.nanoseconds.Load())} }
	return read(&s.plans.kept), read(&s.plans.made)
}

// planKey is what a plan was made from. What has no form of its own to compare is in rest.
type planKey struct {
	database   string
	text       string
	snapshot   *catalog.Snapshot
	user       uint32
	settings   plan.Settings
	force      plan.Route
	onFullScan string
	escapes    bool // backslashes escape in the text
	readOnly   bool
	hold       bool
	estimates  bool
	rest       string
}

// planned is a plan, and what was asked of servers to make it.
type planned struct {
	plan  *plan.Plan
	facts []serverFacts
	sizes []tableSize
}

type serverFacts struct {
	server       *catalog.Server
	role         uint32
	home, remote engines.Facts
}

// tableSize is about how many rows a table had.
type tableSize struct {
	table *catalog.Relation
	role  uint32
	rows  int64
}

// plan returns the plan of a request of a session, whose current role is given.
func (p *plans) plan(s *Session, req plan.Request, user uint32) (*plan.Plan, error) {
	began := time.Now()
	if req.Statement.Kind != parser.Select || req.Only != nil || s.server.cache.Get(s.database) != req.Snapshot {
		defer p.made.since(began)
		return plan.Build(req)
	}
	key := p.key(s, &req, user)
	if found, ok := p.cache.Get(key); ok && found.holds(&req) {
		defer p.kept.since(began)
		return found.plan.Named(p.prefix, req.TempPrefix), nil
	}
	defer p.made.since(began)
	made := &planned{}
	common, known := req, true
	common.TempPrefix = p.prefix
	common.Facts = func(server *catalog.Server, role uint32) (home, remote engines.Facts, err error) {
		home, remote, err = req.Facts(server, role)
		made.facts = append(made.facts, serverFacts{server, role, home, remote})
		known = known && err == nil
		return home, remote, err
	}
	common.Rows = func(t *catalog.Relation, role uint32) int64 {
		rows := req.Rows(t, role)
		made.sizes = append(made.sizes, tableSize{t, role, rows})
		return rows
	}
	common.Rules = func(t *catalog.Relation) (*govern.Rules, error) {
		known = false // who is governed by what is asked for each time
		return req.Rules(t)
	}
	var err error
	if made.plan, err = plan.Build(common); err != nil {
		if s.home.failed() { // it is home's error, which would not be told a second time
			return nil, err
		}
		return plan.Build(req) // it may speak of names
	}
	if known {
		p.cache.Put(key, made, made.plan.Size()+len(key.text)+len(key.rest))
	}
	return made.plan.Named(p.prefix, req.TempPrefix), nil
}

// holds reports whether servers are still what they were, and tables as large.
func (p *planned) holds(req *plan.Request) bool {
	for _, f := range p.facts {
		home, remote, err := req.Facts(f.server, f.role)
		if err != nil || home != f.home || remote != f.remote {
			return false
		}
	}
	return !slices.ContainsFunc(p.sizes, func(t tableSize) bool { return req.Rows(t.table, t.role) != t.rows })
}

// keep drops the plans of a database that were made from another snapshot than this one.
func (p *plans) keep(database string, current *catalog.Snapshot) {
	p.cache.Drop(func(k planKey, _ *planned) bool { return k.database == database && k.snapshot != current })
}

func (p *plans) key(s *Session, req *plan.Request, user uint32) planKey {
	b := make([]byte, 0, 512)
	for _, r := range req.References {
		b = binary.AppendUvarint(b, uint64(r.OID))
	}
	b = binary.AppendUvarint(append(b, 0), uint64(len(req.Params)))
	for _, t := range req.Params {
		b = binary.AppendUvarint(b, uint64(t))
	}
	b = binary.AppendUvarint(b, uint64(len(req.Fields)))
	for _, f := range req.Fields {
		b = binary.AppendVarint(binary.AppendUvarint(appendString(b, f.Name), uint64(f.OID)), int64(f.Typmod))
	}
	if req.Home != nil {
		b = append(b, 1)
		for _, oid := range slices.Sorted(maps.Keys(req.Home)) {
			b = appendHome(b, req.Home[oid])
		}
	}
	return planKey{
		database: s.database, text: cmp.Or(req.Statement.General, req.Statement.Text), snapshot: req.Snapshot, user: user, settings: req.Settings, force: req.Force, onFullScan: req.OnFullScan,
		escapes: s.setting("standard_conforming_strings") == "off", readOnly: req.ReadOnly, hold: req.HoldParams, estimates: req.Estimates, rest: string(b),
	}
}

// appendHome adds all that is known of a relation of home's.
func appendHome(b []byte, h *catalog.HomeRelation) []byte {
	b = binary.AppendVarint(binary.AppendUvarint(b, uint64(h.OID)), h.Rows)
	b = appendBool(appendString(appendString(append(b, h.Kind), h.Schema), h.Name), h.Readable)
	b = binary.AppendUvarint(b, uint64(len(h.Columns)))
	for _, c := range h.Columns {
		b = binary.AppendVarint(appendString(appendString(b, c.Name), c.TypeName), int64(c.Num))
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(c.Type)), int64(c.Typmod))
		b = appendBool(appendBool(binary.AppendUvarint(b, uint64(c.Collation)), c.NotNull), c.BytewiseC)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
