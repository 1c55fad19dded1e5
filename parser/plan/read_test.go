package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/govern"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// typeOIDs are the types that catalogs of the golden files can have.
var typeOIDs = map[string]uint32{
	"bool": boolOID, "int2": int2OID, "int4": int4OID, "int8": int8OID, "text": textOID, "varchar": varcharOID, "bpchar": 1042, "float8": float8OID,
	"date": dateOID, "timestamp": timestampOID, "timestamptz": timestamptzOID, "interval": 1186, "uuid": uuidOID, "numeric": numericOID,
	"jsonb": 3802, "oid": 26, "_text": 1009, "_int8": 1016,
}

// typeOf reads a type, of which only numeric can have a modifier: numeric(p,s).
func typeOf(d *datadriven.TestData, t *testing.T, text string) (uint32, int32) {
	name, modifier, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	oid, ok := typeOIDs[name]
	if !ok {
		d.Fatalf(t, "no such type: %s", text)
	}
	if modifier == "" {
		return oid, -1
	}
	var p, s int32
	if _, err := fmt.Sscanf(modifier, "%d:%d", &p, &s); err != nil {
		d.Fatalf(t, "%s: %v", text, err)
	}
	return oid, p<<16 | s + 4
}

// golden is the catalog that a golden file works with. Its lines are
//
//	server lake database=/lake.duckdb
//	server other wrapper=sluice_postgres
//	table lake.emp lake id:int4 name:text:C pay:numeric(10:2) table_name=staff
//	view lake.v id:int4: SELECT …
//	home public.h rows=100 shared=no id:int4
//	rule lake.emp filter: pay > 10
//	rule lake.emp name: 'somebody'
type golden struct {
	home     map[string]*catalog.HomeRelation // nil: nothing is federated
	snapshot *catalog.Snapshot
	servers  map[string]*catalog.Server

	definitions map[uint32]string // of views
	rules       map[uint32][]catalog.Rule
}

func (g *golden) load(t *testing.T, d *datadriven.TestData) string {
	g.snapshot = &catalog.Snapshot{Installed: true, Servers: map[uint32]*catalog.Server{}, Relations: map[uint32]*catalog.Relation{}}
	g.servers, g.home, g.definitions, g.rules = map[string]*catalog.Server{}, nil, map[uint32]string{}, map[uint32][]catalog.Rule{}
	for i, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		oid := uint32(16400 + i)
		head, definition, _ := strings.Cut(line, ": ")
		words := strings.Fields(head)
		switch words[0] {
		case "server":
			s := &catalog.Server{OID: oid, Name: words[1], Wrapper: "sluice_duckdb", Options: map[string]string{}}
			setOptions(s.Options, words[2:])
			if w := s.Options["wrapper"]; w != "" {
				s.Wrapper = w
			}
			g.servers[s.Name], g.snapshot.Servers[oid] = s, s
		case "table", "view", "invoker":
			schema, name, _ := strings.Cut(words[1], ".")
			r := &catalog.Relation{OID: oid, Schema: schema, Name: name, Kind: 'v', Options: map[string]string{}}
			g.definitions[oid] = definition
			rest := words[2:]
			if words[0] == "table" {
				r.Kind, r.Server, rest = 'f', g.servers[words[2]], words[3:]
			}
			r.Invoker = words[0] == "invoker"
			setOptions(r.Options, rest)
			r.Columns = columns(t, d, rest)
			if r.Options["owner"] != "" { // a role of its own
				r.Owner = oid
			}
			g.snapshot.Relations[oid] = r
		case "home":
			schema, name, _ := strings.Cut(words[1], ".")
			h := &catalog.HomeRelation{Relation: catalog.Relation{OID: oid, Schema: schema, Name: name, Kind: 'r'}, Readable: true}
			options := map[string]string{}
			setOptions(options, words[2:])
			rows, err := strconv.ParseInt(options["rows"], 10, 64)
			if err != nil {
				d.Fatalf(t, "%s: %v", line, err)
			}
			h.Rows, h.Columns, h.Shared = rows, columns(t, d, words[2:]), options["shared"] == ""
			if g.home == nil {
				g.home = map[string]*catalog.HomeRelation{}
			}
			g.home[name] = h
		case "rule": // of a table's column, or ("filter") of its rows
			rule := catalog.Rule{Column: words[2], Expression: definition}
			if words[2] == "filter" {
				rule.Column = ""
			}
			for _, r := range g.snapshot.Relations {
				if r.Schema+"."+r.Name == words[1] {
					r.Governed = true
					g.rules[r.OID] = append(g.rules[r.OID], rule)
				}
			}
		default:
			d.Fatalf(t, "%s?", line)
		}
	}
	return ""
}

func setOptions(options map[string]string, words []string) {
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok {
			options[name] = value
		}
	}
}

func columns(t *testing.T, d *datadriven.TestData, words []string) (list []catalog.Column) {
	for i, w := range words {
		if strings.Contains(w, "=") {
			continue
		}
		name, typ, _ := strings.Cut(w, ":")
		c := catalog.Column{Num: int16(i + 1), Name: name, Collation: defaultCollation}
		typ, remote, known := strings.Cut(typ, "/")
		if known {
			c.Options = map[string]string{"remote_type": remote}
		}
		if typ, c.BytewiseC = strings.CutSuffix(typ, ":C"); c.BytewiseC {
			c.Collation, c.Collate = cCollation, `pg_catalog."C"`
		} else if typ, c.BytewiseC = strings.CutSuffix(typ, ":POSIX"); c.BytewiseC {
			c.Collation, c.Collate = posixCollation, `pg_catalog."POSIX"`
		}
		c.Type, c.Typmod = typeOf(d, t, typ)
		if c.TypeName = typ; !textual[c.Type] {
			c.Collation = 0
		}
		list = append(list, c)
	}
	return list
}

// references resolves names as home would with search_path = lake, public.
func (g *golden) references(s *parser.Statement) (list []Reference) {
	for _, r := range s.Relations() {
		ref := Reference{OID: 99}
		for _, known := range g.snapshot.Relations {
			if known.Name == r.Name && (known.Schema == r.Schema || r.Schema == "" && known.Schema == "lake") {
				ref = Reference{OID: known.OID, Relation: known}
			}
		}
		if h := g.home[r.Name]; h != nil {
			ref = Reference{OID: h.OID}
		}
		list = append(list, ref)
	}
	return list
}

// TestRead prints plans of statements that read. Arguments: types are the result's, params the parameters', force a
// route, and settings by their names.
func TestRead(t *testing.T) {
	for _, file := range []string{"binding", "clickhouse", "databricks", "distributed", "federated", "governed", "groups", "home_join", "remote", "trino", "verbatim"} {
		t.Run(file, func(t *testing.T) {
			g := &golden{}
			datadriven.RunTest(t, "testdata/"+file, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd == "catalog" {
					return g.load(t, d)
				}
				req := g.request(t, d)
				checkNamed(t, req)
				return printRead(Build(req))
			})
		})
	}
}

// checkNamed makes of a plan with one prefix the plan with another, whether inputs are tables or spelled out.
func checkNamed(t *testing.T, req Request) {
	t.Helper()
	for _, readOnly := range []bool{false, true} {
		req.ReadOnly = readOnly
		want, err := Build(req)
		other := req
		other.TempPrefix = "sluice_abc_"
		got, otherErr := Build(other)
		if err != nil {
			if otherErr == nil {
				t.Errorf("the name of inputs decides over %q: %v", req.Statement.Text, err)
			}
			continue
		}
		if otherErr != nil {
			t.Errorf("the name of inputs decides over %q: %v", req.Statement.Text, otherErr)
			continue
		}
		if got := printRead(got.Named(other.TempPrefix, req.TempPrefix), nil); got != printRead(want, nil) {
			t.Errorf("named anew: %s\nwant: %s", got, printRead(want, nil))
		}
		for i, in := range got.Named(other.TempPrefix, req.TempPrefix).Inputs {
			if in.TempName != want.Inputs[i].TempName {
				t.Errorf("input %d is named %q, want %q", i, in.TempName, want.Inputs[i].TempName)
			}
		}
	}
}

func (g *golden) request(t *testing.T, d *datadriven.TestData) Request {
	list, err := parser.Parse(d.Input)
	if err != nil || len(list) != 1 {
		d.Fatalf(t, "cannot parse: %v", err)
	}
	req := Request{Statement: list[0], Snapshot: g.snapshot, References: g.references(list[0]), TempPrefix: "s_",
		Definition: func(view *catalog.Relation) (string, error) { return g.definitions[view.OID], nil },
		Rules: func(r *catalog.Relation) (*govern.Rules, error) {
			values := govern.Values{}
			rules, missing, err := govern.Resolve(r, g.rules[r.OID], values)
			for _, expression := range missing {
				value := "value of " + expression
				if strings.HasPrefix(expression, "SELECT json_build_object") {
					value = `{"type": "text", "values": ["sales", "eng"]}`
				}
				values[expression] = catalog.Value{Value: &value, Type: "text"}
			}
			if err == nil && len(missing) > 0 {
				rules, _, err = govern.Resolve(r, g.rules[r.OID], values)
			}
			return rules, err
		},
		Guards: func(r *catalog.Relation) (*Guard, error) {
			guard := &Guard{RowSecurity: true}
			for _, rule := range g.rules[r.OID] {
				if rule.Column != "" {
					guard.Masked = append(guard.Masked, rule.Column)
				}
			}
			return guard, nil
		}}
	if g.home != nil {
		req.Home = map[uint32]*catalog.HomeRelation{}
		for _, h := range g.home {
			req.Home[h.OID] = h
		}
	}
	req.Settings = Settings{TimeZone: "UTC", DateStyle: "ISO, MDY", IntervalStyle: "postgres", ExtraFloatDigits: 1}
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, ", ")
		switch arg.Key {
		case "types":
			for i, v := range arg.Vals {
				f := engines.Field{Name: "f" + strconv.Itoa(i+1)}
				f.OID, f.Typmod = typeOf(d, t, v)
				req.Fields = append(req.Fields, f)
			}
		case "params":
			for _, v := range arg.Vals {
				oid, _ := typeOf(d, t, v)
				req.Params = append(req.Params, oid)
			}
		case "force":
			req.Force = Route(value)
		case "facts": // versions of home and of a Postgres, and whether they order alike
			req.Facts = func(*catalog.Server, uint32) (home, remote engines.Facts, err error) {
				if _, err := fmt.Sscanf(value, "%d, %d, %s", &home.Version, &remote.Version, &remote.Collation); err != nil {
					d.Fatalf(t, "%s: %v", value, err)
				}
				home.Collation = "alike"
				return home, remote, nil
			}
		case "federation":
			req.Federation = g.servers[value]
		case "full":
			req.OnFullScan = value
		case "hold":
			req.HoldParams = true
		case "datestyle":
			req.Settings.DateStyle = value
		case "timezone":
			req.Settings.TimeZone = value
		case "intervalstyle":
			req.Settings.IntervalStyle = value
		case "floatdigits":
			req.Settings.ExtraFloatDigits = 0
		case "encoding":
			req.Settings.ClientEncoding = value
		default:
			d.Fatalf(t, "%s?", arg.Key)
		}
	}
	return req
}

func printRead(p *Plan, err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return fmt.Sprintf("%s: %s\nhint: %s\n", pe.Code, pe.Message, pe.Hint)
	}
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s", p.Route)
	if p.Reason != "" {
		fmt.Fprintf(&b, ": %s", p.Reason)
	}
	b.WriteString("\n")
	if p.Refused != nil {
		fmt.Fprintf(&b, "refused: %v\n", p.Refused)
	}
	var needs []string
	for _, v := range p.Privileges {
		text := v.Name + " on " + v.Relation.Name
		if v.View != 0 {
			text += " as the owner of " + strconv.Itoa(int(v.View))
		}
		if !slices.Contains(needs, text) {
			needs = append(needs, text)
		}
	}
	if len(needs) > 1 || len(needs) == 1 && p.Privileges[0].View != 0 {
		fmt.Fprintf(&b, "needs: %s\n", strings.Join(needs, "; "))
	}
	if p.RemoteSQL != "" {
		name := "over them"
		if p.Server != nil {
			name = p.Server.Name
		}
		fmt.Fprintf(&b, "%s: %s%s\n", name, p.RemoteSQL, bound(p.Params))
	}
	for _, in := range p.Inputs {
		from := in.TempName
		if p.Route == Federated {
			from = "home"
			if in.Server != nil {
				from = in.Server.Name
			}
		}
		fmt.Fprintf(&b, "%s: %s%s\n", from, in.RemoteSQL, bound(in.Params))
		if in.BoundSQL != "" {
			fmt.Fprintf(&b, "%s with keys: %s\n", from, in.BoundSQL)
		}
		for _, key := range in.Probes {
			fmt.Fprintf(&b, "%s is looked up by", in.TempName)
			for _, c := range key {
				fmt.Fprintf(&b, " %s", in.Relation.Columns[c].Name)
			}
			b.WriteString("\n")
		}
	}
	if p.HomeSQL != "" {
		fmt.Fprintf(&b, "home: %s\n", p.HomeSQL)
	}
	return b.String()
}

func bound(params []int) string {
	if len(params) == 0 {
		return ""
	}
	return fmt.Sprintf(" bound to %v", params)
}
