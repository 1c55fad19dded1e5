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
