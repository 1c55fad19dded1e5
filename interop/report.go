package main

import (
	"errors"
	"fmt"
	"maps"
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
		return fmt.Sprintf("| %s | %s | | not run: %s | | | | [%s](../%s) |", c.Language, c.Name, c.failed, c.dir, c.dir)
	}
	var missing []string
	for _, check := range checks {
		if v.expected.notApplicable(check) != "" {
			missing = append(missing, check)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | [%s](../%s) |", c.Language, c.Name, c.version,
		v.cell(plain, len(missing)), v.cell(lake, len(missing)), v.secureCell(), strings.Join(missing, ", "), c.dir, c.dir)
}

// secureCell says how the client used TLS.
func (v *verdict) secureCell() string {
	switch d := v.differences[overTLS]; {
	case v.broken != "":
		return "broken"
	case len(d) > 0:
		return "differs: " + strings.Join(d, ", ")
	case v.client.TLS == binds:
		return verifies + ", " + binds
	}
	return v.client.TLS
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
		if note := "see below: " + a.check; a.schema == schema && !slices.Contains(notes, note) {
			passed--
			notes = append(notes, note)
		}
	}
	text := fmt.Sprintf("%d of %d", passed, applicable)
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text
}

// table is a table of rows, and the differences that are accepted below it.
func table(rows []string, accepted []acceptance) string {
	var b strings.Builder
	b.WriteString("| language | client | version | home tables | foreign tables | TLS | no means for | tested by |\n|---|---|---|---|---|---|---|---|\n")
	for _, row := range rows {
		b.WriteString(row + "\n")
	}
	if len(accepted) > 0 {
		b.WriteString("\nDifferent, as documented:\n\n")
		for _, a := range accepted {
			fmt.Fprintf(&b, "- %s, %s of %s on %s tables: %s\n", a.client, a.word, a.check, kind(a.schema), a.reason)
		}
	}
	return b.String()
}

// rowsOf are the rows of clients that were to be run.
func rowsOf(verdicts []*verdict) []string {
	var rows []string
	for _, v := range verdicts {
		rows = append(rows, v.row())
	}
	return rows
}

func kind(schema string) string {
	if schema == plain {
		return "home"
	}
	return "foreign"
}

// writeDocument puts the table into the document. Clients that were not to be run keep their rows.
func writeDocument(root string, all []*client, verdicts []*verdict, accepted []acceptance) error {
	path := filepath.Join(root, document)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, _, after, err := cutTable(string(text))
	if err != nil {
		return err
	}
	rows, err := documented(root)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		rows[v.client.dir] = v.row()
	}
	var ordered []string
	for _, c := range all {
		if row, ok := rows[c.dir]; ok {
			ordered = append(ordered, row)
		}
	}
	return os.WriteFile(path, []byte(before+tableBegin+"\n"+table(ordered, accepted)+"\n"+tableEnd+after), 0o644)
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

// checkDocument compares the document with the run: the same row for each client that ran, any for one that could not,
// and, where all did, no others. Versions may differ, since some clients are the machine's own.
func checkDocument(root string, verdicts []*verdict, whole bool) error {
	rows, err := documented(root)
	if err != nil {
		return err
	}
	var stale []string
	for _, v := range verdicts {
		name := v.client.dir
		if row, ok := rows[name]; !ok || v.client.failed == "" && withoutVersion(row) != withoutVersion(v.row()) {
			stale = append(stale, name)
		}
		delete(rows, name)
	}
	if whole {
		stale = append(stale, slices.Sorted(maps.Keys(rows))...)
	}
	if len(stale) > 0 {
		return errors.New(document + " is out of date for " + strings.Join(stale, ", ") + "; make interop INTEROP_FLAGS=-write writes it anew")
	}
	return nil
}

// documented returns the rows of the document's table by the directory of the client.
func documented(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return nil, err
	}
	_, table, _, err := cutTable(string(text))
	if err != nil {
		return nil, err
	}
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		_, link, ok := strings.Cut(line, " [")
		if name, _, closed := strings.Cut(link, "](../"); ok && closed {
			rows[name] = strings.TrimSpace(line)
		}
	}
	return rows, nil
}

// withoutVersion is a row less its third cell.
func withoutVersion(row string) string {
	cells := strings.Split(strings.TrimSpace(row), "|")
	if len(cells) > 3 {
		cells[3] = ""
	}
	return strings.Join(cells, "|")
}
