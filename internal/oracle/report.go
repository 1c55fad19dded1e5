package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// queryCanceled is what Postgres itself answers to a statement that takes it too long: nothing follows from it.
const queryCanceled = "57014"

// raised reports whether an error is one that shows when an expression is evaluated: a data exception, a sub-select of one value
// that yields more, or a collation that nobody said, which functions ask for only when they are called. Which rows an
// expression comes to may be the plan's affair: Postgres itself raises such an error or not by enable_hashjoin.
func raised(code string) bool {
	return strings.HasPrefix(code, "22") || code == "21000" || code == "42P22"
}

// counts say what became of the statements that a side was asked.
type counts struct {
	taken   int            // statements that the route took
	free    int            // answers where one side raised an error and might, and the other did not
	errors  int            // answers that were errors, the same ones
	reasons map[string]int // why the route did not take statements
}

// quoted is what differs from statement to statement in a reason.
var quoted = regexp.MustCompile(`"[^"]*"`)

// reason is an error's message without what is of one statement alone.
func reason(message string) string {
	if _, why, ok := strings.Cut(message, ": "); ok {
		message = why
	}
	return quoted.ReplaceAllString(message, "…")
}

// Taken is how many statements the side's route took.
func (s *Side) Taken() int { return s.counts.taken }

// Report says how many statements were asked and how many each side's route took.
func (o *Oracle) Report() string {
	parts := []string{fmt.Sprintf("%d statements", o.asked)}
	if o.long > 0 {
		parts[0] += fmt.Sprintf(" (%d not compared, as Postgres itself takes more than %v)", o.long, long)
	}
	for _, s := range o.sides {
		parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.counts.taken))
	}
	return strings.Join(parts, ", ")
}

// mostReasons is how many are listed.
const mostReasons = 25

// Details says more: errors that were compared, errors that a plan might decide about, and for each forced route the
// reasons why it did not take statements.
func (o *Oracle) Details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nPostgres' own errors: %s\n", o.Report(), strings.Join(top(o.errors, mostReasons), ", "))
	for _, s := range o.sides {
		fmt.Fprintf(&b, "%s: %d taken, %d answers were the same error, %d an error on one side that a plan decides about\n", s.Name, s.counts.taken, s.counts.errors, s.counts.free)
		for _, r := range top(s.counts.reasons, mostReasons) {
			fmt.Fprintf(&b, "    %s\n", r)
		}
	}
	return b.String()
}

// top returns the most frequent of the keys, with how often each was met.
func top(counts map[string]int, n int) []string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	var out []string
	for _, k := range keys[:min(n, len(keys))] {
		out = append(out, fmt.Sprintf("%d× %s", counts[k], k))
	}
	return out
}
