package proxy

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
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
	rules *lru.Cache[resolved, *govern.Rules]
	kept  planning
	made  planning
	// prefix of inputs stands in for that of a statement; random, so that it is in no text, and of letters that need no quotes.
	prefix string
}

func newPlans() plans {
	return plans{cache: lru.New[planKey, *planned](planBytes), rules: lru.New[resolved, *govern.Rules](rulesBytes), prefix: ownPrefix + strings.ToLower(rand.Text()) + "_"}
}

// planning counts how often plans were found or made, and how long that took, without waiting for home.
type planning struct{ plans, nanoseconds atomic.Int64 }

// stopwatch measures a time of a session less what it has waited for home in it.
type stopwatch struct {
	session *Session
	began   time.Time
	waited  time.Duration
}

func (s *Session) stopwatch() stopwatch { return stopwatch{s, time.Now(), s.waited} }

func (p *planning) took(w stopwatch) {
	p.plans.Add(1)
	p.nanoseconds.Add(int64(time.Since(w.began) - (w.session.waited - w.waited)))
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
	federation *catalog.Server
	rest       string
	rules      [sha256.Size]byte // and their values, of the relations that the plan without them says
}

// planned is a plan, and what was asked of servers to make it. One that asks for rules is kept under what they are, and
// which relations it asks for them under none.
type planned struct {
	governed []*catalog.Relation
	plan     *plan.Plan
	facts    []serverFacts
	sizes    []tableSize
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

// plan returns the plan of a request of a session for an execution.
func (p *plans) plan(s *Session, req plan.Request, x *execution) (*plan.Plan, error) {
	watch := s.stopwatch()
	if req.Statement.Kind != parser.Select || req.Only != nil || s.server.cache.Get(s.database) != req.Snapshot {
		defer p.made.took(watch)
		return plan.Build(req)
	}
	key := p.key(s, &req, x.facts.User)
	if found, ok := p.find(&key, x.rules); ok && found.holds(&req) {
		defer p.kept.took(watch)
		return found.plan.Named(p.prefix, req.TempPrefix), nil
	}
	defer p.made.took(watch)
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
		if !slices.Contains(made.governed, t) {
			made.governed = append(made.governed, t)
		}
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
		p.put(key, made, x.rules)
	}
	return made.plan.Named(p.prefix, req.TempPrefix), nil
}

// find returns the plan that is kept under a key, which it completes.
func (p *plans) find(key *planKey, r *rules) (*planned, bool) {
	found, ok := p.cache.Get(*key)
	if !ok || len(found.governed) == 0 {
		return found, ok
	}
	if key.rules, ok = r.digest(found.governed); !ok {
		return nil, false
	}
	return p.cache.Get(*key)
}

// put keeps a plan.
func (p *plans) put(key planKey, made *planned, r *rules) {
	key.rules = [sha256.Size]byte{}
	cost := made.plan.Size() + len(key.text) + len(key.rest)
	if len(made.governed) > 0 {
		digest, ok := r.digest(made.governed)
		if !ok {
			return
		}
		p.cache.Put(key, &planned{governed: made.governed}, 1<<10+len(key.text)+len(key.rest))
		key.rules = digest
	}
	p.cache.Put(key, made, cost)
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

// keep drops the plans and rules of a database that were made from another snapshot than this one.
func (p *plans) keep(database string, current *catalog.Snapshot) {
	p.cache.Drop(func(k planKey, _ *planned) bool { return k.database == database && k.snapshot != current })
	p.rules.Drop(func(k resolved, _ *govern.Rules) bool { return k.database == database && k.snapshot != current })
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
		escapes: s.setting("standard_conforming_strings") == "off", readOnly: req.ReadOnly, hold: req.HoldParams, estimates: req.Estimates, federation: req.Federation, rest: string(b),
	}
}

// appendHome adds all that is known of a relation of home's.
func appendHome(b []byte, h *catalog.HomeRelation) []byte {
	b = binary.AppendVarint(binary.AppendUvarint(b, uint64(h.OID)), h.Rows)
	b = appendBool(appendString(appendString(append(b, h.Kind), h.Schema), h.Name), h.Readable)
	b = appendBool(b, h.Shared)
	b = binary.AppendUvarint(b, uint64(len(h.Columns)))
	for _, c := range h.Columns {
		b = binary.AppendVarint(appendString(appendString(appendString(b, c.Name), c.TypeName), c.Collate), int64(c.Num))
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
