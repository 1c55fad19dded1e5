package startup

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// IdentMap says which roles a certificate's common name may log in as, by the lines of pg_ident.conf.
type IdentMap struct{ lines []identLine }

// identLine is one line: the names it is for, and the roles.
type identLine struct {
	system  string
	pattern *regexp.Regexp // in place of system
	role    string         // \1 stands for what the pattern's first group matched
	roles   *regexp.Regexp // in place of role
	all     bool
}

// ParseIdentMap reads the lines of the map called name from text in the form of pg_ident.conf: map name, system user,
// database user. A system user or a database user that begins with a slash is a regular expression, "all" in place of a
// database user stands for every role. Files that are included, lists and groups (+role) are refused.
func ParseIdentMap(text, name string) (*IdentMap, error) {
	m := &IdentMap{}
	begun := "" // of a line that goes on
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line, goesOn := strings.CutSuffix(begun+strings.TrimRight(line, "\r"), `\`)
		if begun = ""; goesOn && i+1 < len(lines) {
			begun = line
			continue
		}
		fields, err := identFields(line)
		if err == nil && len(fields) > 0 && fields[0].text == name {
			err = m.add(fields)
		} else if err == nil && len(fields) > 0 && strings.HasPrefix(fields[0].text, "include") && len(fields) == 2 {
			err = fmt.Errorf("%s is not supported: put the lines into one file", fields[0].text)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return m, nil
}

// identField is a word of a line. What was quoted has no special meaning.
type identField struct {
	text   string
	quoted bool
}

// identFields splits a line at blanks, up to a comment.
func identFields(line string) ([]identField, error) {
	var fields []identField
	var f identField
	inWord, inQuotes := false, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case inQuotes && c == '"' && i+1 < len(line) && line[i+1] == '"':
			f.text += `"`
			i++
		case c == '"':
			f.quoted = f.quoted || !inWord
			inWord, inQuotes = true, !inQuotes
		case inQuotes:
			f.text += string(c)
		case c == ',':
			return nil, errors.New("lists are not supported: quote a comma, or write a line for each word")
		case c == '@' && !inWord && i+1 < len(line) && !strings.ContainsRune(" \t\r#", rune(line[i+1])):
			return nil, errors.New("files are not supported: put what @ names into the map, or quote the word")
		case c == '#' || c == ' ' || c == '\t' || c == '\r':
			if inWord {
				fields = append(fields, f)
			}
			f, inWord = identField{}, false
			if c == '#' {
				return fields, nil
			}
		default:
			f.text += string(c)
			inWord = true
		}
	}
	if inQuotes {
		return nil, errors.New("a quoted word does not end")
	}
	if inWord {
		fields = append(fields, f)
	}
	return fields, nil
}

func (m *IdentMap) add(fields []identField) (err error) {
	if len(fields) != 3 {
		return fmt.Errorf("want three words (map name, system user, database user), got %d", len(fields))
	}
	system, role := fields[1], fields[2]
	l := identLine{system: system.text, role: role.text, all: role.text == "all" && !role.quoted}
	if strings.HasPrefix(system.text, "/") {
		if l.pattern, err = regexp.Compile(system.text[1:]); err != nil {
			return err
		}
	}
	switch {
	case strings.HasPrefix(role.text, "+") && !role.quoted:
		return fmt.Errorf("%s: groups are not supported, name the roles", role.text)
	case strings.HasPrefix(role.text, "/"):
		if l.roles, err = regexp.Compile(role.text[1:]); err != nil {
			return err
		}
	case strings.Contains(role.text, `\1`) && (l.pattern == nil || l.pattern.NumSubexp() == 0):
		return fmt.Errorf(`\1 in %q needs a regular expression with a group in %q`, role.text, system.text)
	}
	m.lines = append(m.lines, l)
	return nil
}

// Maps reports whether the owner of a certificate for system may log in as role. Without a map the two are the same.
func (m *IdentMap) Maps(system, role string) bool {
	if system == "" || role == "" {
		return false
	}
	if m == nil {
		return system == role
	}
	for i := range m.lines {
		if found, over := m.lines[i].maps(system, role); found || over {
			return found
		}
	}
	return false
}

// maps reports whether the line gives the role to the name. over says that no other line may: as in Postgres, a \1 for
// which nothing was matched is a failure, which ends the search.
func (l *identLine) maps(system, role string) (found, over bool) {
	want := l.role
	if l.pattern == nil {
		if l.system != system {
			return false, false
		}
	} else {
		groups := l.pattern.FindStringSubmatchIndex(system)
		if groups == nil {
			return false, false
		}
		if l.roles == nil && strings.Contains(want, `\1`) {
			if groups[2] < 0 {
				return false, true
			}
			want = strings.Replace(want, `\1`, system[groups[2]:groups[3]], 1)
		}
	}
	switch {
	case l.all:
		return true, false
	case l.roles != nil:
		return l.roles.MatchString(role), false
	}
	return want == role, false
}
