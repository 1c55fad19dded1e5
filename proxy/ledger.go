package proxy

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/proxy/activity"
	"github.com/sluicedb/sluice/proxy/audit"
	"github.com/sluicedb/sluice/proxy/limit"
)

// ledger is kept for a statement of ours that runs: what it yields, and the row that the audit gets when it ends.
type ledger struct {
	limit.Tally
	row    *audit.Row          // nil: it is not audited
	doing  *activity.Statement // nil: it does not run
	strict bool                // it is audited or has limits, so that no row goes unseen
	began  time.Time
	kept   bool  // its rows stay at home or are written, so that those count that are read
	wrote  int64 // rows that it has written; negative where nobody has counted them
	ended  bool
}

// enter opens the ledger of a statement that was planned, and returns why the statement does not run: err,
// which planning has ended in, or that it cannot be audited as it must.
func (s *Session) enter(ctx context.Context, x *execution, err error) error {
	if x.facts == nil || x.plan == nil && err == nil || x.plan != nil && x.plan.Route == plan.Home {
		return err
	}
	set, serr := s.setFor(ctx, x.facts.User)
	if serr != nil && err == nil {
		return serr
	}
	limits, lerr := limit.Of(set.roles, x.facts)
	if lerr != nil && err == nil {
		return lerr
	}
	auditing := set.auditing
	audited := auditing.all || auditing.governed && x.governs()
	if !audited && err != nil {
		return err
	}
	x.ledger = &ledger{Tally: limit.Tally{Limits: limits}, began: s.begun(), kept: !x.yields(), strict: audited || limits.Any(), wrote: -1}
	if err == nil && !x.explained {
		x.ledger.doing = s.doing(x)
	}
	if audited {
		if err == nil && auditing.required {
			err = s.server.audit.Check(ctx, s.database)
		}
		x.ledger.row = s.auditRow(x, auditing)
	}
	if err != nil {
		s.settle(x.ledger, s.cause(err))
	}
	return err
}

// begun is when the work under way began.
func (s *Session) begun() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return time.Now()
	}
	return s.running.began
}

// yields reports whether a statement's rows go to the client, but for a RETURNING list.
func (x *execution) yields() bool {
	return x.plan == nil || x.plan.Write == nil && (x.statement.Kind == parser.Select || x.statement.Kind == parser.CopyTo)
}

// counted reports whether the rows that home computes for the client must be counted on their way.
func (x *execution) counted() bool { return x.ledger != nil && x.ledger.strict && x.yields() }

// Admit is Tally's, for what is on its way to the client.
func (l *ledger) Admit(messages []byte, rows int) (length, admitted int, err error) {
	length, admitted, err = l.Tally.Admit(messages, rows)
	l.doing.Sent(int64(admitted), int64(length))
	return length, admitted, err
}

// relations are those of ours that a statement reads or writes, through views too; of one that could not be planned, those
// that were met.
func (x *execution) relations() []*catalog.Relation {
	var list []*catalog.Relation
	if x.plan != nil {
		for _, p := range x.plan.Privileges {
			list = append(list, p.Relation)
		}
		list = append(list, x.plan.Home...)
	} else {
		for _, r := range x.references {
			if r.Relation != nil {
				list = append(list, r.Relation)
			}
		}
		list = append(list, x.rules.asked()...)
	}
	slices.SortStableFunc(list, func(a, b *catalog.Relation) int { return strings.Compare(qualified(a), qualified(b)) })
	return slices.CompactFunc(list, func(a, b *catalog.Relation) bool { return a.OID == b.OID })
}

func qualified(r *catalog.Relation) string { return r.Schema + "." + r.Name }

// governs reports whether a statement reads or writes anything that row security or masks are declared for.
func (x *execution) governs() bool {
	if x.plan != nil {
		return len(x.plan.Home) > 0 || slices.ContainsFunc(x.plan.Privileges, func(p plan.Privilege) bool { return p.Relation.Governed })
	}
	return slices.ContainsFunc(x.relations(), func(r *catalog.Relation) bool { return r.Governed })
}

// roles are those of a session at one time.
type roles struct {
	session string
	current uint32
}

// roleSet is what ALTER ROLE and ALTER DATABASE have set for the roles of a session.
type roleSet struct {
	roles    *catalog.RoleSettings
	auditing auditing
}

// setFor returns what is set for the session, whose current role is given. As with any such setting it counts from the
// next session on. Where it cannot be had, or read, what governs is audited.
func (s *Session) setFor(ctx context.Context, current uint32) (*roleSet, error) {
	key := roles{s.setting("session_authorization"), current}
	if known := s.roles[key]; known != nil {
		return known, nil
	}
	set := &roleSet{roles: &catalog.RoleSettings{}, auditing: auditing{governed: true}}
	read, err := catalog.ReadRoleSettings(ctx, s)
	if err != nil {
		return set, err
	}
	set.roles = read
	if set.auditing, err = auditingOf(read); err != nil {
		return set, err
	}
	if s.roles == nil {
		s.roles = map[roles]*roleSet{}
	}
	s.roles[key] = set
	return set, nil
}

// auditRow is what is known of a statement before it runs.
func (s *Session) auditRow(x *execution, auditing auditing) *audit.Row {
	r := &audit.Row{
		SessionRole: s.sessionRole(), Role: x.facts.User, Application: s.setting("application_name"),
		Client: s.clientAddress(), Door: s.door(x), Statement: s.conforming(x), KeepText: auditing.text, Required: auditing.required,
		Relations: []uint32{}, RelationNames: []string{}, Masked: []string{}, Servers: []string{},
	}
	for _, relation := range x.relations() {
		r.Relations = append(r.Relations, relation.OID)
		r.RelationNames = append(r.RelationNames, qualified(relation))
		if relation.Server != nil && !slices.Contains(r.Servers, relation.Server.Name) {
			r.Servers = append(r.Servers, relation.Server.Name)
		}
	}
	if x.plan != nil {
		r.Route, r.Masked = string(x.plan.Route), append(r.Masked, x.plan.Masked...)
	}
	return r
}

// conforming is the text of a statement, or of the EXPLAIN that it stands in, as it is with standard_conforming_strings on.
func (s *Session) conforming(x *execution) string {
	text := x.statement.Text
	if x.within != nil {
		text = x.within.Text
	}
	if s.setting("standard_conforming_strings") == "off" {
		text = parser.Conforming(text)
	}
	return text
}

// sessionRole is the name of the session's own role.
func (s *Session) sessionRole() string {
	if role := s.setting("session_authorization"); role != "" {
		return role
	}
	return s.login.Parameters["user"]
}

// door is how the client has asked for a statement.
func (s *Session) door(x *execution) string {
	switch {
	case x.statement.Kind == parser.CopyTo, x.statement.Kind == parser.CopyFrom:
		return "copy"
	case x.statement.Kind == parser.DeclareCursor:
		return "cursor"
	case s.group:
		return "extended"
	}
	return "simple"
}

// clientAddress is nil for a unix socket.
func (s *Session) clientAddress() *string {
	at, err := netip.ParseAddrPort(s.login.Client.RemoteAddr().String())
	if err != nil {
		return nil
	}
	text := at.Addr().Unmap().WithZone("").String()
	return &text
}
