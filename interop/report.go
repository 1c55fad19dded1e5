package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// document is the page that a run makes.
const document = "docs/clients.md"

// The table stands between these lines of the document; what is around it is written by hand.
const (
	tableBegin = "<!-- made by make interop -->\n"
	tableEnd   = "<!-- end -->\n"
)

// row is one client's line of the table.
func (v *verdict) row() string {
	c := v.client
	if c.failed != "" {
		return fmt.Sprintf("| %s | %s | | not run: %s | | | [%s](../%s) |", c.Language, c.Name, c.failed, c.dir, c.dir)
	}
	var missing []string
	for _, check := range checks {
		if v.expected.notApplicable(check) != "" {
			missing = append(missing, check)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | [%s](../%s) |", c.Language, c.Name, c.version,
		v.cell(plain, len(missing)), v.cell(lake, len(missing)), strings.Join(missing, ", "), c.dir, c.dir)
}

// cell says how many of the checks that apply passed on a schema's tables.
func (v *verdict) cell(schema string, missing int) string {
	if v.broken != "" {
		return "broken"
	}
	applicable := len(checks) - missing
	var notes []string
	passed := applicable - len(v.differences[schema])
	if d := v.differences[schema]; len(d) > 0 {
		notes = append(notes, "differs: "+strings.Join(d, ", "))
	}
	for _, a := range v.accepted {
		if a.schema == schema {
			passed--
			notes = append(notes, "see below: "+a.check)
		}
	}
	text := fmt.Sprintf("%d of %d", passed, applicable)
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text
}

// table is the whole table, and the differences that are accepted below it.
func table(verdicts []*verdict) string {
	var b strings.Builder
	b.WriteString("| language | client | version | home tables | foreign tables | no means for | tested by |\n|---|---|---|---|---|---|---|\n")
	var accepted []acceptance
	for _, v := range verdicts {
		b.WriteString(v.row() + "\n")
		accepted = append(accepted, v.accepted...)
	}
	if len(accepted) > 0 {
		b.WriteString("\nDifferent, as documented:\n\n")
		for _, a := range accepted {
			fmt.Fprintf(&b, "- %s, %s on %s tables: %s\n", a.client, a.check, kind(a.schema), a.reason)
		}
	}
	return b.String()
}

func kind(schema string) string {
	if schema == plain {
		return "home"
	}
	return "foreign"
}

// writeDocument puts the table into the document.
func writeDocument(root string, verdicts []*verdict) error {
	path := filepath.Join(root, document)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, after, err := cutTable(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+tableBegin+"\n"+table(verdicts)+"\n"+tableEnd+after), 0o644)
}

// cutTable splits the document at its table.
func cutTable(text string) (before, table, after string, err error) {
	before, rest, found := strings.Cut(text, tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return "", "", "", fmt.Errorf("%s lacks the lines around its table", document)
	}
	return before, table, after, nil
}

// checkDocument compares the document with the run: one row for each client there is, and for those that ran the same
// row. Versions may differ, since some clients are the machine's own.
func checkDocument(root string, all []*client, verdicts []*verdict) error {
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return err
	}
	_, documented, _, err := cutTable(string(text))
	if err != nil {
		return err
	}
	rows := map[string]string{}
	for line := range strings.Lines(documented) {
		if cells := strings.Split(line, "|"); len(cells) > 7 {
			rows[strings.TrimSpace(cells[7])] = withoutVersion(line)
		}
	}
	var stale []string
	for _, c := range all {
		name := fmt.Sprintf("[%s](../%s)", c.dir, c.dir)
		i := slices.IndexFunc(verdicts, func(v *verdict) bool { return v.client == c })
		ran := i >= 0 && c.failed == ""
		if row, ok := rows[name]; !ok || ran && row != withoutVersion(verdicts[i].row()) {
			stale = append(stale, c.key())
		}
		delete(rows, name)
	}
	for name := range rows {
		if strings.HasPrefix(name, "[") {
			stale = append(stale, name)
		}
	}
	if len(stale) > 0 {
		return errors.New(document + " is out of date for " + strings.Join(stale, ", ") + "; make interop INTEROP_FLAGS=-write writes it anew")
	}
	return nil
}

// withoutVersion is a row less its third cell.
func withoutVersion(row string) string {
	cells := strings.Split(strings.TrimSpace(row), "|")
	if len(cells) > 3 {
		cells[3] = ""
	}
	return strings.Join(cells, "|")
}
