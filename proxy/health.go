package proxy

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines/guard"
)

// Guarded is how a server is for the sessions of a role.
type Guarded struct {
	Database string
	Server   string
	Role     uint32 // 0 where the server has no user mappings
	guard.Health
	oid uint32
}

// Guarded lists the servers that the proxy has asked, in order.
func (s *Server) Guarded() []Guarded { return s.engines.guarded() }

func (o *openEngines) guarded() []Guarded {
	var list []Guarded
	o.mu.Lock()
	for k, e := range o.open {
		list = append(list, Guarded{Database: k.database, Server: e.Name(), Role: k.role, Health: e.Health(), oid: k.server})
	}
	o.mu.Unlock()
	slices.SortFunc(list, func(a, b Guarded) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Role, b.Role))
	})
	return list
}

// serverRow is what sluice.servers shows of how a server is. What is not known is nil.
type serverRow struct {
	Server  uint32      `json:"server"`
	State   guard.State `json:"state"`
	Running int         `json:"running"`
	Queued  int         `json:"queued"`
	Idle    *int        `json:"idle"`
	Error   *string     `json:"last_error"`
	At      *time.Time  `json:"last_error_at"`
	Remedy  *string     `json:"remedy"`
	Again   *time.Time  `json:"retry_at"`
}

// usable asks home which servers the current role may use.
func (s *Session) usable(ctx context.Context, v *viewer) error {
	rows, err := s.Query(ctx, "SELECT oid FROM pg_catalog.pg_foreign_server WHERE pg_catalog.has_server_privilege(oid, 'USAGE')")
	if err != nil {
		return err
	}
	v.servers = map[uint32]bool{}
	for _, row := range rows {
		oid, err := parseOID(*row[0])
		if err != nil {
			return err
		}
		v.servers[oid] = true
	}
	return nil
}

// serverRows are those of sluice.servers that the proxy has: of each server the sum of all roles that the viewer may see, the worst
// state among them, and the last error.
func (s *Session) serverRows(_ *execution, v *viewer) any {
	rows := map[uint32]*serverRow{}
	for oid := range v.servers {
		rows[oid] = &serverRow{Server: oid, State: guard.Untried}
	}
	for _, g := range s.server.Guarded() {
		if r := rows[g.oid]; r != nil && g.Database == s.database && (g.Role == 0 || v.all || v.roles[g.Role]) {
			r.add(g.Health)
		}
	}
	list := []*serverRow{}
	for _, r := range rows {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *serverRow) int { return cmp.Compare(a.Server, b.Server) })
	return list
}

func (r *serverRow) add(h guard.Health) {
	if h.State.Rank() > r.State.Rank() {
		r.State = h.State
	}
	r.Running, r.Queued = r.Running+h.Running, r.Queued+h.Queued
	if h.Idle >= 0 {
		idle := h.Idle
		if r.Idle != nil {
			idle += *r.Idle
		}
		r.Idle = &idle
	}
	if h.Error != nil && (r.At == nil || h.At.After(*r.At)) {
		text := errorText(h.Error)
		r.Error, r.At, r.Remedy = &text, &h.At, nil
		if h.Error.Hint != "" {
			r.Remedy = &h.Error.Hint
		}
	}
	if !h.Again.IsZero() && (r.Again == nil || h.Again.Before(*r.Again)) {
		r.Again = &h.Again
	}
}

// errorText is an error in one line.
func errorText(e *pgconn.PgError) string {
	text := e.Code + ": " + e.Message
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}
