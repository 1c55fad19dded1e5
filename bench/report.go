package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// report is a list of figures.
type report struct {
	lines []line
	notes []string
}

// line is one figure: what, for each candidate its value, and how it compares with the goal.
type line struct {
	what    string
	values  [3]string // direct, PgBouncer, Sluice; empty where it makes no sense
	ratio   string
	goal    string
	reached bool
}

func (r *report) add(l line) { r.lines = append(r.lines, l) }

func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// print writes a Markdown table and the notes below it.
func (r *report) print(w io.Writer) {
	rows := [][]string{{"figure", "direct", "PgBouncer", "Sluice", "ratio", "goal", "reached"}, nil}
	for _, l := range r.lines {
		verdict := ""
		if l.goal != "" {
			verdict = "**no**"
			if l.reached {
				verdict = "yes"
			}
		}
		rows = append(rows, []string{l.what, l.values[0], l.values[1], l.values[2], l.ratio, l.goal, verdict})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		if row == nil {
			for _, n := range widths {
				fmt.Fprint(w, "|", strings.Repeat("-", n+2))
			}
		}
		for i, cell := range row {
			fmt.Fprintf(w, "| %-*s ", widths[i], cell)
		}
		fmt.Fprintln(w, "|")
	}
	for _, n := range r.notes {
		fmt.Fprintf(w, "\n%s\n", n)
	}
}

// median returns the middle of values.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	if len(s)%2 == 0 {
		return (s[len(s)/2-1] + s[len(s)/2]) / 2
	}
	return s[len(s)/2]
}

// ratios divides a by b, turn by turn.
func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

// count prints a large number with its unit.
func count(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2f M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.1f k", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}
