package proxy

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluicedb/sluice/proxy/activity"
)

// sessionRow is what sluice.stat_activity shows of a session.
type sessionRow struct {
	PID         uint32     `json:"pid"`
	Role        string     `json:"role"`
	Database    string     `json:"database"`
	Application string     `json:"application_name"`
	Client      *string    `json:"client_addr"`
	Since       time.Time  `json:"backend_start"`
	State       string     `json:"state"`
	Route       *string    `json:"route"`
	Query       *string    `json:"query"`
	Rows        *int64     `json:"rows"`
	Bytes       *int64     `json:"bytes"`
	Started     *time.Time `json:"query_start"`
	ID          *string    `json:"id"`
}

// mostQuery is how much is shown of a statement that runs, as by track_activity_query_size.
const mostQuery = 1024

// sessionRows are those of sluice.stat_activity.
func (s *Session) sessionRows(x *execution, v *viewer) any {
	list := []sessionRow{}
	for _, o := range s.server.allSessions() {
		if v.sees(o.sessionRole()) {
			list = append(list, o.row())
		}
		if last := len(list) - 1; o == s && last >= 0 && list[last].PID == s.login.PID {
			began, text := s.begun(), shortened(s.conforming(x))
			list[last].State, list[last].Query, list[last].Started = "active", &text, &began
		}
	}
	return list
}

// row says what a session does.
func (s *Session) row() sessionRow {
	r := sessionRow{
		PID: s.login.PID, Role: s.sessionRole(), Database: s.database, Application: s.setting("application_name"),
		Client: s.clientAddress(), Since: s.since, State: s.stateName(),
	}
	if doing := s.latest.Load(); doing != nil && r.State != "idle" {
		if rows, bytes, running := doing.Progress(); running {
			text, began := shortened(doing.Text), doing.Began
			r.Route, r.Query, r.Rows, r.Bytes, r.Started, r.ID = &doing.Route, &text, &rows, &bytes, &began, &doing.ID
		}
	}
	return r
}

// stateName is the state of a session in the words of pg_stat_activity.
func (s *Session) stateName() string {
	s.mu.Lock()
	active := s.running != nil || s.handling
	s.mu.Unlock()
	switch state := s.home.state(); {
	case active || s.home.owes():
		return "active"
	case state == 'T':
		return "idle in transaction"
	case state == 'E':
		return "idle in transaction (aborted)"
	}
	return "idle"
}

func shortened(text string) string {
	if len(text) <= mostQuery {
		return text
	}
	end := mostQuery
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// allSessions are those of all clients, in the order of their process IDs.
func (s *Server) allSessions() []*Session {
	s.mu.Lock()
	var list []*Session
	for _, sessions := range s.sessions {
		list = append(list, sessions...)
	}
	s.mu.Unlock()
	slices.SortStableFunc(list, func(a, b *Session) int { return cmp.Compare(a.login.PID, b.login.PID) })
	return list
}

// sourceRow is what sluice.stat_streams shows of a stream.
type sourceRow struct {
	activity.Origin
	Server    string    `json:"server"`
	Relations []string  `json:"relations"`
	Rows      *int64    `json:"rows"`
	Bytes     *int64    `json:"bytes"`
	Started   time.Time `json:"started"`
}

// sourceRows are those of sluice.stat_streams.
func (s *Session) sourceRows(_ *execution, v *viewer) any {
	list := []sourceRow{}
	for _, o := range s.server.activity.Sources() {
		if v.sees(o.User) {
			rows, bytes := o.Progress()
			list = append(list, sourceRow{o.Origin, o.Server, o.Relations, v.counts(rows, o.Governed), v.counts(bytes, o.Governed), o.Began})
		}
	}
	return list
}

// taskRow is what sluice.stat_progress shows of some work. What is not known is nil.
type taskRow struct {
	activity.Origin
	What     string    `json:"what"`
	Relation string    `json:"relation"`
	Done     *int64    `json:"done"`
	Total    *int64    `json:"total"`
	Rate     *float64  `json:"rate"`
	Left     *float64  `json:"eta"` // in seconds
	Started  time.Time `json:"started"`
}

// taskRows are those of sluice.stat_progress.
func (s *Session) taskRows(_ *execution, v *viewer) any {
	list := []taskRow{}
	for _, t := range s.server.activity.Tasks() {
		if !v.sees(t.User) {
			continue
		}
		r := taskRow{Origin: t.Origin, What: t.What, Relation: t.Relation, Started: t.Began}
		if p := t.Progress(); !t.Governed || v.all {
			if p.Total > 0 {
				r.Total = &p.Total
			}
			if p.Total+p.Done > 0 {
				r.Done = &p.Done
			}
			if p.Rate > 0 {
				r.Rate = &p.Rate
			}
			if left := p.Left.Seconds(); p.Left >= 0 {
				r.Left = &left
			}
		}
		list = append(list, r)
	}
	return list
}

// activityDocument writes rows as JSON in ASCII alone. Characters that a database may not have are question marks there.
func activityDocument(rows any, every bool) (string, error) {
	data, err := json.Marshal(rows)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(len(data))
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			b.WriteByte(data[0])
			data = data[1:]
			continue
		}
		r, n := utf8.DecodeRune(data)
		data = data[n:]
		switch {
		case !every:
			b.WriteByte('?')
		case r > 0xffff:
			r -= 0x10000
			writeUnicode(&b, 0xd800+r>>10)
			writeUnicode(&b, 0xdc00+r&0x3ff)
		default:
			writeUnicode(&b, r)
		}
	}
	return b.String(), nil
}

func writeUnicode(b *strings.Builder, r rune) {
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte("0123456789abcdef"[r>>shift&15])
	}
}

func parseOID(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}
