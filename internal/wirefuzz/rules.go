package wirefuzz

import (
	"encoding/json"
	"strings"
)

// theme is what a sequence is about. Its groups may stand together; which ones may not is a rule below.
type theme struct {
	name   string
	groups [][]statement
	routes []string // values of sluice.route; none: the free choice
	ddl    bool     // the relations must be made anew behind it
}

// guarded returns messages as they are sent. Rule "failed portals": no Execute reaches a portal that a failed transaction
// block has left behind, for that crashes Postgres itself (15.18: it looks for the statements of a portal that has none any
// more). So a Parse that a failed block refuses stands before each Execute of a portal that its group has not bound.
func guarded(messages []string) (out []string) {
	bound := map[string]bool{}
	for _, line := range messages {
		typ, body, _ := strings.Cut(line, " ")
		var m message
		if json.Unmarshal([]byte(body), &m) != nil && typ != "Sync" {
			out = append(out, line)
			continue
		}
		switch typ {
		case "Bind":
			bound[m.DestinationPortal] = true
		case "Sync", "Query":
			clear(bound)
		case "Execute":
			if !bound[m.Portal] {
				out = append(out, message{Name: "guard", Query: "select"}.line("Parse"))
			}
		}
		out = append(out, line)
	}
	return out
}

// brokenPipelines is the major version of Postgres from which on rule "query in a pipeline" holds: no simple query stands
// behind an Execute without a Sync in between, for it leaves Postgres itself (18.4) in a transaction state that it does
// not expect, and the next command fails with XX000.
const brokenPipelines = 18

// Rule "one writer": a transaction that writes to a foreign server writes nothing at home, and rolls back to no savepoint,
// for nothing makes two commits one and engines have no savepoints (DESIGN, Transactions). So sequences with foreign
// writes have neither.
var themes = []theme{
	{"pipelines", [][]statement{views, foreignReads, foreignReads, homeReads, homeWrites, transactions}, []string{"", "home_join"}, false},
	{"savepoints", [][]statement{foreignReads, homeWrites, transactions, transactions, savepoints, savepoints}, []string{"", "home_join"}, false},
	{"writes", [][]statement{foreignWrites, foreignWrites, foreignReads, transactions, homeReads}, nil, false},
	{"points", [][]statement{foreignWrites, foreignWrites, foreignReads, transactions, points}, nil, false},
	{"roles", [][]statement{roles, roles, views, foreignReads, homeReads, homeWrites, transactions, savepoints}, []string{"", "home_join"}, false},
	{"modes", [][]statement{modes, modes, foreignReads, homeReads, homeWrites, transactions, savepoints}, []string{"", "home_join"}, false},
	{"read-only writes", [][]statement{modes, foreignWrites, foreignReads, transactions, points}, nil, false},
	{"cursors", [][]statement{cursors, cursors, cursors, foreignReads, views, transactions, savepoints}, []string{"", "home_join"}, false},
	{"preparations", [][]statement{preparations, preparations, foreignReads, transactions, homeReads}, []string{"", "home_join"}, false},
	{"settings", [][]statement{views, settings, settings, foreignReads, copies, transactions}, []string{"", "home_join"}, false},
	{"copies", [][]statement{copies, copies, homeWrites, foreignReads, transactions}, []string{"", "home_join"}, false},
	{"definitions", [][]statement{views, definitions, foreignReads, foreignReads, transactions}, []string{"", "home_join"}, true},
}
