package audit

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluicedb/sluice/proxy/gist"
)

// Row is what one statement has done.
type Row struct {
	At            time.Time `json:"at"` // when it ended
	Seconds       float64   `json:"seconds"`
	SessionRole   string    `json:"session_role"`
	Role          uint32    `json:"role"` // its OID
	Application   string    `json:"application_name"`
	Client        *string   `json:"client"` // the address; nil for a unix socket
	Door          string    `json:"door"`
	Relations     []uint32  `json:"relations"`
	RelationNames []string  `json:"relation_names"`
	Masked        []string  `json:"masked"`
	Route         string    `json:"route"`
	Servers       []string  `json:"servers"`
	Rows          int64     `json:"rows"`
	Bytes         int64     `json:"bytes"`
	Outcome       string    `json:"outcome"`
	SQLState      string    `json:"sqlstate"`

	Statement string `json:"-"` // the text, whose fingerprint is kept
	KeepText  bool   `json:"-"` // and itself, without its literals
	Required  bool   `json:"-"` // it must not be given up
}

// Outcomes of a statement.
const (
	OK        = "ok"
	Partial   = "partial" // its portal was closed before the end
	Denied    = "denied"
	Failed    = "failed"
	Cancelled = "cancelled"
	Gone      = "gone" // the client is
)

// size is about how many bytes a row takes up in the queue.
func (r *Row) size() int { return 1<<10 + len(r.Statement) }

// written is a row as sluice.write_audit takes it.
type written struct {
	Row
	Fingerprint string  `json:"fingerprint"`
	Text        *string `json:"text"`
}

// document is what sluice.write_audit takes, with a question mark in the place of each character that is not kept.
func document(rows []Row, keep func(rune) bool) ([]byte, error) {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !keep(r) {
				return '?'
			}
			return r
		}, s)
	}
	cleaned := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = clean(s)
		}
		return out
	}
	list := make([]written, len(rows))
	for i, r := range rows {
		r.SessionRole, r.Application = clean(r.SessionRole), clean(r.Application)
		r.RelationNames, r.Masked, r.Servers = cleaned(r.RelationNames), cleaned(r.Masked), cleaned(r.Servers)
		list[i].Row = r
		g := gist.Of(r.Statement)
		list[i].Fingerprint = g.Fingerprint
		if r.KeepText {
			text := clean(g.Text)
			list[i].Text = &text
		}
	}
	return json.Marshal(list)
}

// Characters that are kept: of any kind, or those that databases of all encodings have.
func every(rune) bool    { return true }
func common(r rune) bool { return r <= unicode.MaxASCII }
