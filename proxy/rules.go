package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/govern"
	"github.com/sluicedb/sluice/pgerr"
)

// partsBytes bounds the parts of rules that are known.
const partsBytes = 4 << 20

// rulesBytes bounds the rules that are kept, by about what their trees take.
const rulesBytes = 64 << 20

// resolved is what home has said of a relation under a snapshot, as which rules are kept.
type resolved struct {
	database string
	snapshot *catalog.Snapshot
	relation uint32
	digest   [sha256.Size]byte
}

// reader is who a relation's rules hold for.
type reader struct {
	database       string
	relation, role uint32
}

// rules ask home what governs the relations of one statement, once for each.
type rules struct {
	session   *Session
	ctx       context.Context
	questions *questions
	role      uint32 // the current one
	answers   map[uint32]*ruling
}

// ruling is what home has said of one relation.
type ruling struct {
	known  catalog.Parts // by which it was asked
	answer string
	digest [sha256.Size]byte // of the question and the answer
	err    error
	read   bool
	rules  *govern.Rules
}

func (s *Session) rulesFor(ctx context.Context, x *execution) *rules {
	return &rules{session: s, ctx: ctx, questions: x.questions, role: x.facts.User, answers: map[uint32]*ruling{}}
}

// of implements plan.AskRules.
func (r *rules) of(t *catalog.Relation) (*govern.Rules, error) {
	for range mostMoves {
		a := r.ask(t)
		if a.err != nil || a.read {
			return a.rules, a.err
		}
		key := resolved{r.session.database, r.session.snapshot, t.OID, a.digest}
		if a.rules, a.read = r.session.server.plans.rules.Get(key); a.read {
			return a.rules, nil
		}
		read, err := catalog.ReadRules(a.answer, a.known)
		if err != nil {
			return nil, err
		}
		if t.MaskView != "" { // home computes its masks
			a.rules, a.read = govern.AtHome(read.List), true
			return a.rules, nil
		}
		values := govern.Values{}
		for i, v := range read.Values {
			values[read.Parts.Expressions[i]] = v
		}
		governing, missing, err := govern.Resolve(t, read.List, values)
		if err == nil {
			err = governing.Salt(t, func() (string, error) { return r.session.salt(r.ctx) })
		}
		if err != nil || len(missing) == 0 {
			a.rules, a.err, a.read = governing, err, true
			if err == nil && !key.snapshot.Uncommitted {
				r.session.server.plans.rules.Put(key, governing, 1<<12+len(a.answer)<<6)
			}
			return governing, err
		}
		r.learn(t, catalog.Parts{Version: read.Parts.Version, Expressions: missing})
	}
	return nil, pgerr.Hint(pgerr.New(pgerr.SerializationFailure, "could not plan the statement: rules of %q are changed all the time", t.Name), "Try again.")
}

// ask asks home for the rules of a relation, with the values of the parts that are known in them for the role.
func (r *rules) ask(t *catalog.Relation) *ruling {
	a := r.answers[t.OID]
	if a == nil {
		a = &ruling{}
		a.known, _ = r.session.server.parts.Get(reader{r.session.database, t.OID, r.role})
		a.answer, a.err = catalog.AskRules(r.ctx, r.questions, t.OID, a.known)
		a.digest = digestOf([]byte(catalog.RulesSQL(t.OID, a.known)), []byte(a.answer))
		r.answers[t.OID] = a
	}
	return a
}

// asked returns the relations whose rules were asked for; none where it is not known yet who reads.
func (r *rules) asked() (list []*catalog.Relation) {
	if r == nil {
		return nil
	}
	for oid := range r.answers {
		if t := r.session.snapshot.Relations[oid]; t != nil {
			list = append(list, t)
		}
	}
	return list
}

// learn notes the parts of a relation's rules, and that home must be asked with them.
func (r *rules) learn(t *catalog.Relation, parts catalog.Parts) {
	cost := 1 << 8
	for _, e := range parts.Expressions {
		cost += len(e)
	}
	r.session.server.parts.Put(reader{r.session.database, t.OID, r.role}, parts, cost)
	delete(r.answers, t.OID)
}

// digest says in few bytes which rules, with which values, hold for relations at the moment; false where home says none.
func (r *rules) digest(relations []*catalog.Relation) (digest [sha256.Size]byte, ok bool) {
	parts := make([][]byte, len(relations))
	for i, t := range relations {
		a := r.ask(t)
		if a.err != nil {
			return digest, false
		}
		parts[i] = a.digest[:]
	}
	return digestOf(parts...), true
}

func digestOf(parts ...[]byte) (digest [sha256.Size]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.AppendUvarint(nil, uint64(len(p))))
		h.Write(p)
	}
	h.Sum(digest[:0])
	return digest
}
