package proxy

import "strings"

var definingVerbs = []string{"CREATE", "ALTER", "DROP"}

// defines reports whether a text may define or drop relations. DDL behind another statement of the same text is seen only
// once home has carried it out.
func defines(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, verb := range definingVerbs {
		if len(text) > len(verb) && strings.EqualFold(text[:len(verb)], verb) {
			return true
		}
	}
	return false
}

// noteMasks remembers that a text which names something of ours may declare masks: the names of tables of home become ours.
func (s *Session) noteMasks(text string) {
	if s.snapshot.Installed && strings.Contains(strings.ToLower(text), "column_mask") {
		s.noteDDL()
	}
}
