package proxy

import (
	"context"
	"slices"
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/proxy/activity"
)

// origin is who the session is to those who look on, in the current role given.
func (s *Session) origin(role uint32) activity.Origin {
	return activity.Origin{Database: s.database, PID: s.login.PID, Role: role, User: s.sessionRole()}
}

// doing begins to count a statement that was planned.
func (s *Session) doing(x *execution) *activity.Statement {
	doing := s.server.activity.Begin(s.origin(x.facts.User), s.conforming(x), string(x.plan.Route), s.begun())
	doing.Governed = x.plan.Governed
	s.latest.Store(doing)
	return doing
}

// queryTag names the statement to the servers that it reads.
func (s *Session) queryTag(x *execution) engines.Tag {
	if x.ledger == nil || x.ledger.doing == nil {
		return engines.Tag{Role: s.sessionRole()}
	}
	return engines.Tag{Role: s.sessionRole(), ID: x.ledger.doing.ID}
}

// seen counts what passes through a stream of the statement.
func (x *execution) seen(stream engines.Stream, q query, began time.Time) engines.Stream {
	if x.ledger == nil || x.ledger.doing == nil {
		return stream
	}
	m := measured(stream, began)
	m.source = x.ledger.doing.Open(q.server.Name, q.reads, began)
	return m
}

// task shows work that is part of the statement.
func (x *execution) task(what, relation string, total int64) *activity.Task {
	if x.ledger == nil {
		return nil
	}
	return x.ledger.doing.Start(what, relation, total)
}

// readOf are the names of the tables that the statement reads of a server.
func (x *execution) readOf(server *catalog.Server) []string {
	var names []string
	for _, p := range x.plan.Privileges {
		if r := p.Relation; r.Server != nil && (r.Server.OID == server.OID || len(x.plan.Over) > 0) && !slices.Contains(names, qualified(r)) {
			names = append(names, qualified(r))
		}
	}
	return names
}

// knownRows is about how many rows an input has, as far as an engine was asked lately; 0 where nobody knows.
func (s *Session) knownRows(in *plan.Input) int64 {
	known, ok := s.server.estimates.Load(estimateKey{s.database, in.Relation.OID})
	if !ok || !in.Whole {
		return 0
	}
	return max(known.(estimate).rows, 0)
}

// activityViews are the views of the extension whose rows the proxy has, each with what makes them.
var activityViews = map[string]func(s *Session, x *execution, v *viewer) any{
	"stat_statements": func(s *Session, _ *execution, v *viewer) any {
		return s.server.activity.Statements(func(role uint32) bool { return v.all || v.roles[role] }, v.all)
	},
	"stat_activity": (*Session).sessionRows,
	"stat_streams":  (*Session).sourceRows,
	"stat_progress": (*Session).taskRows,
	"servers":       (*Session).serverRows,
}

// showActivity gives home the rows of the views of activity that a statement names, as settings of the transaction that is
// open: they are those that the current role may see at this moment. What a view of the user's own names is not seen here.
func (s *Session) showActivity(ctx context.Context, x *execution) error {
	var v *viewer
	for _, n := range namesIn(x.statement) {
		rows := activityViews[n.Name]
		if rows == nil || n.Schema != "" && n.Schema != "sluice" || n.Schema == "" && n.Name == "servers" { // which is a name for many a table
			continue
		}
		if v == nil {
			var err error
			if v, err = s.viewer(ctx); err != nil {
				return err
			}
		}
		if n.Name == "servers" {
			if err := s.usable(ctx, v); err != nil {
				return err
			}
		}
		document, err := activityDocument(rows(s, x, v), s.setting("server_encoding") == "UTF8")
		if err != nil {
			return err
		}
		if _, err := s.Query(ctx, "SELECT pg_catalog.set_config($1, $2, true) IS NULL", "sluice."+n.Name, document); err != nil {
			return err
		}
		x.shows = true
	}
	return nil
}

const verifier = "verify_statistics"

// noteVerify shows a comparison of counters that home is about to run, until the transaction or the group of messages ends.
func (s *Session) noteVerify(x *execution) {
	if x.explained || !strings.Contains(x.statement.Text, verifier) {
		return
	}
	relation, found := "", false
	parser.Walk(x.statement.Node.Stmt, func(m proto.Message) bool {
		n, ok := m.(*pg_query.Node)
		call := n.GetFuncCall()
		if !ok || call == nil || len(call.Funcname) == 0 || call.Funcname[len(call.Funcname)-1].GetString_().GetSval() != verifier {
			return true
		}
		found = true
		if len(call.Args) > 0 {
			relation = call.Args[0].GetAConst().GetSval().GetSval()
		}
		return false
	})
	if !found {
		return
	}
	x.shows = true // it stays in this transaction
	s.verifying.Swap(s.server.activity.Start(s.origin(s.role), verifier, relation, 0)).End()
}

// viewer is who looks at activity: whose he may see, and whether that is everybody's.
type viewer struct {
	all   bool
	roles map[uint32]bool
	names map[string]bool
	// servers are those that he may use; known for sluice.servers alone.
	servers map[uint32]bool
}

const viewerSQL = `SELECT r.oid, r.rolname, pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE')
FROM pg_catalog.pg_roles r WHERE pg_catalog.pg_has_role(r.oid, 'USAGE')`

// viewer asks home what the current role may see, by the rules of pg_stat_activity.
func (s *Session) viewer(ctx context.Context) (*viewer, error) {
	rows, err := s.Query(ctx, viewerSQL)
	if err != nil {
		return nil, err
	}
	v := &viewer{roles: map[uint32]bool{}, names: map[string]bool{}}
	for _, row := range rows {
		oid, err := parseOID(*row[0])
		if err != nil {
			return nil, err
		}
		v.roles[oid], v.names[*row[1]], v.all = true, true, *row[2] == "t"
	}
	return v, nil
}

func (v *viewer) sees(user string) bool { return v.all || v.names[user] }

// counts hides numbers that tell of rows which the viewer may not see.
func (v *viewer) counts(n int64, governed bool) *int64 {
	if governed && !v.all {
		return nil
	}
	return &n
}
