package proxy

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// serverVerified is what a server has found of the count of a foreign table.
type serverVerified struct {
	Relation uint32 `json:"relation"`
	Stored   *int64 `json:"stored"`
	Actual   int64  `json:"actual"`
	Repaired bool   `json:"repaired"`
}

// foreignVerify is what a call of sluice.verify_statistics is to have servers do.
type foreignVerify struct {
	relation *string // its OID
	repair   bool
	timeout  time.Duration
	tables   []struct {
		Relation uint32 `json:"relation"`
		Owner    uint32 `json:"owner"`
	}
}

// verifyStatistics carries out SELECT … FROM sluice.verify_statistics(…): servers compare the counts that they keep with their rows, as who the owner of
// each table is to them, and home those of its own tables, and it answers with both. What servers put right they commit at once: a count
// is right or wrong, whatever becomes of the transaction that is open.
func (s *Session) verifyStatistics(ctx context.Context, x *execution) (*cursor, error) {
	wanted, err := s.foreignVerify(ctx, x)
	if err != nil {
		return nil, err
	}
	s.noteVerify(x)
	found, err := s.serversVerify(ctx, wanted)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	if _, err := s.Query(ctx, "SELECT pg_catalog.set_config('sluice.server_verified', $1, true) IS NULL", string(document)); err != nil {
		return nil, err
	}
	relation := "NULL"
	if wanted.relation != nil {
		relation = *wanted.relation + "::pg_catalog.oid::pg_catalog.regclass"
	}
	return s.answerFrom(ctx, x, "sluice."+verifier+"("+relation+", "+strconv.FormatBool(wanted.repair)+")")
}

// foreignVerify has home say what a call means, and whether the role may make it.
func (s *Session) foreignVerify(ctx context.Context, x *execution) (w foreignVerify, err error) {
	args, err := s.called(ctx, x, calls(x.statement, verifier), "verify_arguments")
	if err != nil {
		return w, err
	}
	timeout, err := strconv.Atoi(textOf(args[3]))
	if err != nil {
		return w, err
	}
	w.relation, w.repair, w.timeout = args[0], textOf(args[1]) == "true", time.Duration(timeout)*time.Millisecond
	return w, json.Unmarshal([]byte(textOf(args[2])), &w.tables)
}

// serversVerify has servers compare, table by table.
func (s *Session) serversVerify(ctx context.Context, wanted foreignVerify) ([]serverVerified, error) {
	run := s.begin()
	defer run.end()
	defer run.limit(wanted.timeout)()
	found := []serverVerified{}
	for _, table := range wanted.tables {
		r := s.snapshot.Relations[table.Relation]
		if r == nil || r.Server == nil {
			continue
		}
		v, err := s.serverVerify(ctx, run, r, table.Owner, wanted.repair)
		if err != nil {
			return nil, s.cause(err)
		}
		found = append(found, serverVerified{table.Relation, v.Stored, v.Actual, v.Repaired})
	}
	return found, nil
}

// serverVerify has the server of a foreign table compare its count with the rows.
func (s *Session) serverVerify(ctx context.Context, run *running, r *catalog.Relation, owner uint32, repair bool) (v engines.Verified, err error) {
	if repair && s.writes(r.Server) { // whose locks it could wait for
		return v, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot repair the count of foreign table %q: this transaction has written to server %q", r.Name, r.Server.Name),
			"Repair it in a transaction of its own.")
	}
	engine, err := s.engine(ctx, r.Server, owner)
	if err != nil {
		return v, err
	}
	counter, ok := engines.As[engines.Counter](engine)
	if !ok {
		return v, noCounter(r)
	}
	return counter.Verify(run.ctx, targetOf(r), repair)
}
