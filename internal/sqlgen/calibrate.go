package sqlgen

import "strings"

// Calibrate drops the productions that home refuses, and notes which of the others engines take. Both functions are asked
// about statements over {s}.
func (s *Schema) Calibrate(valid, remote func(sql string) bool) (kept, taken int) {
	s.constants = map[string][]string{}
	for _, typ := range types {
		for _, v := range values[typ] {
			if remote("SELECT " + constant(typ, v) + " FROM " + s.tables[0].from) {
				s.constants[typ] = append(s.constants[typ], v)
			}
		}
	}
	for _, t := range s.tables {
		for i, c := range t.columns {
			t.columns[i].local = c.name != "k" && !remote("SELECT "+c.name+" FROM "+t.from)
		}
	}
	for _, group := range []struct {
		list map[string][]*production
		over string
	}{{s.productions, ""}, {s.aggregates, ""}, {s.windowed, " OVER (ORDER BY k0.k)"}, {s.ordered, " OVER (ORDER BY k0.k)"}} {
		for _, typ := range types {
			var good []*production
			for _, p := range group.list[typ] {
				if !valid(s.probe(p, group.over, false)) {
					continue
				}
				good = append(good, p)
				kept++
				switch {
				case remote(s.probe(p, group.over, false)):
					p.taken = always
				case remote(s.probe(p, group.over, true)):
					p.taken = constants
				}
				if p.taken != never {
					taken++
				}
			}
			group.list[typ] = good
		}
	}
	return kept, taken
}

// probe is a statement with one production, over columns or, but for its first argument, over constants.
func (s *Schema) probe(p *production, over string, constants bool) string {
	from := []string{s.tables[0].from + " k0"}
	known := map[string]string{}
	var b strings.Builder
	first := true
	for _, a := range p.parts {
		switch {
		case a.typ == "":
			b.WriteString(a.text)
			continue
		case a.typ == "keys":
			b.WriteString("k0.k")
			continue
		}
		arg := known[a.typ]
		if constants && !first {
			arg = constant(a.typ, values[a.typ][0])
		} else if arg == "" {
			from, arg = s.columnFor(a.typ, from)
			known[a.typ] = arg
		}
		if a.uniform && !constants { // a column whose equal values look equal would do without
			arg, _ = uniform(arg, a.typ)
		}
		b.WriteString(arg)
		first = false
	}
	return "SELECT " + b.String() + over + " FROM " + strings.Join(from, ", ")
}

// columnFor finds a column of a type and adds its table to FROM; a constant stands where there is none.
func (s *Schema) columnFor(typ string, from []string) (tables []string, column string) {
	for _, t := range s.tables {
		for _, c := range t.columns {
			if c.typ == typ {
				alias := "p_" + typ
				return append(from, t.from+" "+alias), alias + "." + c.name
			}
		}
	}
	return from, constant(typ, values[typ][0])
}
