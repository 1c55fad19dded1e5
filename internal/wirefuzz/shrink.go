package wirefuzz

import (
	"encoding/json"
	"slices"
	"strings"
)

// Shrink returns the smallest sequence it finds that still differs, asking differs at most tries times.
func Shrink(q Sequence, tries int, differs func(Sequence) bool) Sequence {
	try := func(c Sequence) bool {
		if tries <= 0 {
			return false
		}
		tries--
		if !differs(c) {
			return false
		}
		q = c
		return true
	}
	for smaller := true; smaller && tries > 0; {
		smaller = false
		for i := len(q) - 1; i >= 0; i-- {
			if c := slices.Delete(q.clone(), i, i+1); len(c) > 0 && try(c) {
				smaller = true
			}
		}
		for i := len(q) - 1; i >= 0; i-- {
			smaller = shrinkRound(&q, i, try) || smaller
		}
	}
	return q
}

// shrinkRound drops messages of a round, and statements of its queries.
func shrinkRound(q *Sequence, i int, try func(Sequence) bool) (smaller bool) {
	for j := len((*q)[i].Messages) - 1; j >= 0; j-- {
		c := q.clone()
		c[i].Messages = slices.Delete(c[i].Messages, j, j+1)
		if try(c) {
			smaller = true
			continue
		}
		for _, line := range fewerStatements((*q)[i].Messages[j]) {
			c := q.clone()
			c[i].Messages[j] = line
			if try(c) {
				smaller = true
				break
			}
		}
	}
	return smaller
}

// fewerStatements returns the line of a Query of several statements with one of them left out, for each of them.
func fewerStatements(line string) (lines []string) {
	body, ok := strings.CutPrefix(line, "Query ")
	var m message
	if !ok || json.Unmarshal([]byte(body), &m) != nil || m.String == nil {
		return nil
	}
	list := strings.Split(*m.String, "; ")
	for i := range list {
		if len(list) > 1 {
			lines = append(lines, query(strings.Join(slices.Delete(slices.Clone(list), i, i+1), "; ")))
		}
	}
	return lines
}
