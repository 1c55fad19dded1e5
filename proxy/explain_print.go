package proxy

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// node is one node of an explained plan.
type node struct {
	Type    string
	Route   string
	Reason  string
	Table   string
	Server  string
	Columns []string
	Filters []string
	OneTime string // a condition without which nothing is read
	SQL     string
	Kept    []string // conditions that home evaluates
	Why     []string // the same, with the reason for each
	Rows    int64    // an estimate, 0 for none
	Cost    string   // what the server says that it would take
	actual  *meter   // what running it took, nil where it was not run
	Plans   []*node
	hidden  bool // see hide
	untimed bool // without what running it took in time

	home []string // home's own plan, by lines, in the format asked for
}

// hide leaves out what tells of more than the role may see: how large tables and what engines read of them are, and what is
// sent to engines, as the values of rules stand in it.
func (n *node) hide() {
	n.Rows, n.Cost, n.hidden = 0, "", true
	if n.SQL != "" {
		n.SQL = "not shown, as row security or masks hold for this role"
	}
	for _, p := range n.Plans {
		p.hide()
	}
}

// trim leaves out what the options do not ask for.
func (n *node) trim(o explainOptions) {
	if !o.costs {
		n.Rows = 0
	}
	n.untimed = !o.timing
	for _, p := range n.Plans {
		p.trim(o)
	}
}

// property is one thing said of a node: a string, a number, or a list of strings.
type property struct {
	name  string
	value any
}

func (n *node) properties() []property {
	var list []property
	add := func(name string, value any) {
		switch v := value.(type) {
		case string:
			if v == "" {
				return
			}
		case []string:
			if len(v) == 0 {
				return
			}
		}
		list = append(list, property{name, value})
	}
	add("Node Type", n.Type)
	add("Route", n.Route)
	add("Reason", n.Reason)
	add("Relation", n.Table)
	add("Server", n.Server)
	add("Output", n.Columns)
	add("One-Time Filter", n.OneTime)
	add("Remote Filter", strings.Join(n.Filters, " AND "))
	add("Remote SQL", n.SQL)
	add("Remote Estimate", n.Cost)
	add("Filter", strings.Join(n.Kept, " AND "))
	add("Not Shipped", n.Why)
	if n.Rows > 0 {
		add("Plan Rows", n.Rows)
	}
	if n.actual != nil {
		if !n.untimed {
			add("Actual Startup Time", milliseconds(n.actual.first))
			add("Actual Total Time", milliseconds(n.actual.last))
		}
		add("Actual Rows", n.actual.rows)
		if !n.hidden {
			add("Actual Bytes", n.actual.bytes)
		}
	}
	return list
}

// print renders the plan as the rows of EXPLAIN.
func (n *node) print(o explainOptions, took time.Duration) [][]*string {
	var lines []string
	millis := fmt.Sprintf("%.3f", milliseconds(took))
	switch o.format {
	case "json":
		lines = n.json(o, millis)
	case "yaml":
		lines = n.yaml(nil, "- Plan: ", "    ")
		if o.timed() {
			lines = append(lines, "  Execution Time: "+millis)
		}
	case "xml":
		lines = n.xml([]string{`<explain xmlns="http://www.postgresql.org/2009/explain">`, "  <Query>"}, "    ")
		if o.timed() {
			lines = append(lines, "    <Execution-Time>"+millis+"</Execution-Time>")
		}
		lines = append(lines, "  </Query>", "</explain>")
	default:
		lines = n.lines(nil, "", o)
		if o.timed() {
			lines = append(lines, "Execution Time: "+millis+" ms")
		}
		rows := make([][]*string, len(lines))
		for i := range lines {
			rows[i] = []*string{&lines[i]}
		}
		return rows
	}
	text := strings.Join(lines, "\n")
	return [][]*string{{&text}}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// indented puts more blanks before each line of home's, the first excepted.
func indented(lines []string, by string) string { return strings.Join(lines, "\n"+by) }

// scalar writes a value as JSON and YAML have it.
func scalar(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil { // a number that JSON has not
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (n *node) json(o explainOptions, millis string) []string {
	plan := []string{"[", "  {", `    "Plan": ` + n.jsonObject("    ")}
	if o.timed() {
		plan[2] += ","
		plan = append(plan, `    "Execution Time": `+millis)
	}
	return append(plan, "  }", "]")
}

// jsonObject writes a node as an object whose closing brace stands behind indent.
func (n *node) jsonObject(indent string) string {
	var members []string
	for _, p := range n.properties() {
		members = append(members, scalar(p.name)+": "+scalar(p.value))
	}
	if len(n.home) > 0 {
		members = append(members, `"Home Plan": `+indented(n.home, indent+"  "))
	}
	if len(n.Plans) > 0 {
		plans := make([]string, len(n.Plans))
		for i, c := range n.Plans {
			plans[i] = indent + "    " + c.jsonObject(indent+"    ")
		}
		members = append(members, "\"Plans\": [\n"+strings.Join(plans, ",\n")+"\n"+indent+"  ]")
	}
	return "{\n" + indent + "  " + strings.Join(members, ",\n"+indent+"  ") + "\n" + indent + "}"
}

// yaml writes a node behind head, its properties behind indent.
func (n *node) yaml(out []string, head, indent string) []string {
	list := n.properties()
	if strings.HasPrefix(strings.TrimLeft(head, " "), "- Plan") {
		out = append(out, head)
	} else { // an entry of a list has its first property in its own line
		out = append(out, head+list[0].name+": "+scalar(list[0].value))
		list = list[1:]
	}
	for _, p := range list {
		items, ok := p.value.([]string)
		if !ok {
			out = append(out, indent+p.name+": "+scalar(p.value))
			continue
		}
		out = append(out, indent+p.name+": ")
		for _, item := range items {
			out = append(out, indent+"  - "+scalar(item))
		}
	}
	if len(n.home) > 0 {
		out = append(out, indent+"Home Plan: ", indent+"  "+indented(n.home, indent+"  "))
	}
	if len(n.Plans) > 0 {
		out = append(out, indent+"Plans: ")
		for _, c := range n.Plans {
			out = c.yaml(out, indent+"  - ", indent+"    ")
		}
	}
	return out
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

// xml writes a node as an element behind indent.
func (n *node) xml(out []string, indent string) []string {
	out = append(out, indent+"<Plan>")
	for _, p := range n.properties() {
		name := strings.ReplaceAll(p.name, " ", "-")
		items, ok := p.value.([]string)
		if !ok {
			out = append(out, indent+"  <"+name+">"+escaped(fmt.Sprint(p.value))+"</"+name+">")
			continue
		}
		out = append(out, indent+"  <"+name+">")
		for _, item := range items {
			out = append(out, indent+"    <Item>"+escaped(item)+"</Item>")
		}
		out = append(out, indent+"  </"+name+">")
	}
	if len(n.home) > 2 { // without the element around all queries
		out = append(out, indent+"  <Home-Plan>")
		for _, l := range n.home[1 : len(n.home)-1] {
			out = append(out, indent+"  "+l)
		}
		out = append(out, indent+"  </Home-Plan>")
	}
	if len(n.Plans) > 0 {
		out = append(out, indent+"  <Plans>")
		for _, c := range n.Plans {
			out = c.xml(out, indent+"    ")
		}
		out = append(out, indent+"  </Plans>")
	}
	return append(out, indent+"</Plan>")
}

// lines writes a node as text behind indent.
func (n *node) lines(out []string, indent string, o explainOptions) []string {
	head := n.Type
	if n.Table != "" {
		head += " on " + n.Table
	}
	if n.Rows > 0 {
		head += fmt.Sprintf("  (rows=%d)", n.Rows)
	}
	if m := n.actual; m != nil {
		head += " (actual"
		if !n.untimed {
			head += fmt.Sprintf(" time=%.3f..%.3f", milliseconds(m.first), milliseconds(m.last))
		}
		head += fmt.Sprintf(" rows=%d", m.rows)
		if !n.hidden {
			head += fmt.Sprintf(" bytes=%d", m.bytes)
		}
		head += ")"
	}
	out = append(out, indent+head)
	deeper := indent + "  "
	if strings.HasSuffix(indent, "->  ") {
		deeper = strings.Repeat(" ", len(indent)) + "  "
	}
	property := func(name, value string) {
		if value != "" {
			out = append(out, deeper+name+": "+value)
		}
	}
	property("Route", n.Route)
	property("Reason", n.Reason)
	property("Server", n.Server)
	if o.verbose {
		property("Output", strings.Join(n.Columns, ", "))
	}
	property("One-Time Filter", n.OneTime)
	property("Remote Filter", strings.Join(n.Filters, " AND "))
	property("Remote SQL", n.SQL)
	property("Remote Estimate", n.Cost)
	property("Filter", strings.Join(n.Kept, " AND "))
	for _, why := range n.Why {
		property("Not Shipped", why)
	}
	for _, c := range n.Plans {
		out = c.lines(out, deeper+"->  ", o)
	}
	if len(n.home) > 0 {
		out = append(out, deeper+"->  Home")
		for _, l := range n.home {
			out = append(out, deeper+"      "+l)
		}
	}
	return out
}
