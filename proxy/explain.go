package proxy

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// explainOptions are those of EXPLAIN that matter to us; home reads all of them.
type explainOptions struct {
	analyze, verbose bool
	costs, timing    bool
	summary          bool // what the whole took
	format           string
	text             string // "(ANALYZE, …)" as home gets it
}

// timed reports whether what the whole took is said.
func (o explainOptions) timed() bool { return o.analyze && o.summary }

func readExplain(e *pg_query.ExplainStmt) (o explainOptions) {
	var words []string
	o.format, o.costs, o.timing, o.summary = "text", true, true, true
	for _, n := range e.Options {
		d := n.GetDefElem()
		value := optionText(d.Arg)
		on := value != "false" && value != "off" && value != "0"
		switch d.Defname {
		case "analyze":
			o.analyze = on
		case "verbose":
			o.verbose = on
		case "costs":
			o.costs = on
		case "timing":
			o.timing = on
		case "summary":
			o.summary = on
		case "format":
			o.format = strings.ToLower(value)
		}
		words = append(words, strings.TrimSpace(d.Defname+" "+value))
	}
	if len(words) > 0 {
		o.text = "(" + strings.Join(words, ", ") + ") "
	}
	return o
}

func optionText(n *pg_query.Node) string {
	switch {
	case n.GetString_() != nil:
		return n.GetString_().Sval
	case n.GetInteger() != nil:
		return fmt.Sprint(n.GetInteger().Ival)
	case n.GetBoolean() != nil:
		return fmt.Sprint(n.GetBoolean().Boolval)
	}
	return ""
}

// explain answers EXPLAIN of a statement over foreign tables.
func (s *Session) explain(ctx context.Context, x *execution) (*cursor, error) {
	inner, err := x.statement.Inner()
	if err != nil {
		return nil, err
	}
	d, err := s.describe(ctx, ownPrefix+"explained", inner.Text, x.described.params)
	if err != nil {
		return nil, err
	}
	o := readExplain(x.statement.Node.Stmt.GetExplainStmt())
	y := &execution{statement: inner, described: d, bind: x.bind, explained: !o.analyze, estimated: true, within: x.statement}
	ours, err := s.plan(ctx, y)
	err = s.enter(ctx, y, err)
	x.tag = fixedTag("EXPLAIN")
	if err != nil {
		return nil, err
	}
	if !ours || y.plan == nil {
		rows, _, err := s.once(ctx, x.statement.Text, x.described.params, x.bind)
		return rowsCursor(x.described.fields, rows), err
	}
	run := s.begin()
	defer run.end()
	defer run.limit(y.timeout())()
	defer run.spend(y.ledger)()
	started := time.Now()
	root, err := s.explainPlan(ctx, y, o)
	s.settle(y.ledger, s.cause(err))
	if err != nil {
		return nil, s.cause(err)
	}
	if y.plan.Governed {
		root.hide()
	}
	root.trim(o)
	return rowsCursor(x.described.fields, root.print(o, time.Since(started))), nil
}

func (s *Session) explainPlan(ctx context.Context, y *execution, o explainOptions) (*node, error) {
	p := y.plan
	root := &node{Route: string(p.Route), Reason: p.Reason}
	if p.Write != nil && o.analyze {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "EXPLAIN ANALYZE does not run writes to foreign tables"), "Use EXPLAIN without ANALYZE.")
	}
	if p.Server != nil && p.Write == nil {
		root.Type, root.Server, root.SQL, root.Rows = "Foreign Scan", p.Server.Name, p.RemoteSQL, p.Rows
		s.appraise(ctx, y, root, o, y.remoteQuery(nil))
		s.explainInputs(ctx, root, y, o)
		if p.Sends() && o.analyze {
			if err := s.sendValues(ctx, y, root.observer(time.Now())); err != nil {
				return nil, err
			}
			if y.plan.Server == nil { // it is computed elsewhere
				return s.explainPlan(ctx, y, o)
			}
		}
		return root, s.explainStream(ctx, root, y, o)
	}
	if p.Joined() {
		root.Type, root.SQL = "Federated Join", p.RemoteSQL
		s.explainInputs(ctx, root, y, o)
		return root, s.explainStream(ctx, root, y, o)
	}
	root.Type = "Home Join"
	for i := range p.Inputs {
		in := &p.Inputs[i]
		n := inputNode(in)
		root.Plans = append(root.Plans, n)
		if p.Write != nil || in.Spelled {
			continue
		}
		if !o.analyze {
			s.appraise(ctx, y, n, o, y.inputQuery(in, nil))
			if _, err := s.Exec(ctx, createInput(in)); err != nil {
				return nil, err
			}
			continue
		}
		m, err := s.ship(ctx, y, in)
		if err != nil {
			return nil, err
		}
		n.actual = m
	}
	if w := p.Write; w != nil {
		root.Type, root.Table = "Foreign "+writeNames[w.Kind], w.Relation.Schema+"."+w.Relation.Name
		return root, nil
	}
	sql, err := s.explained(ctx, y, o)
	if err != nil {
		return nil, err
	}
	s.temps = append(s.temps, y.temps()...)
	rows, _, err := s.once(ctx, "EXPLAIN "+o.text+sql, y.described.params, y.bind)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		root.home = append(root.home, strings.Split(*r[0], "\n")...)
	}
	return root, nil
}

// explainInputs adds the inputs of a statement that home does not compute.
func (s *Session) explainInputs(ctx context.Context, root *node, y *execution, o explainOptions) {
	for i := range y.plan.Inputs {
		n := inputNode(&y.plan.Inputs[i])
		s.appraise(ctx, y, n, o, y.inputQuery(&y.plan.Inputs[i], nil))
		root.Plans = append(root.Plans, n)
	}
}

// observer measures the streams of a node's inputs.
func (n *node) observer(started time.Time) observer {
	return func(i int, input engines.Stream) engines.Stream {
		n.Plans[i].actual = measured(input, started)
		return n.Plans[i].actual
	}
}

// appraise asks a server what a query of the plan would take, where it knows. Of rows that rules hide nothing is asked, and a server that
// does not answer is no reason for EXPLAIN to fail.
func (s *Session) appraise(ctx context.Context, y *execution, n *node, o explainOptions, q query) {
	if o.analyze || !o.costs || y.plan.Governed || q.server == nil || y.plan.Write != nil {
		return
	}
	engine, asked, err := s.locate(ctx, y, q)
	if err != nil {
		return
	}
	estimator, ok := engines.As[engines.Estimator](engine)
	if !ok {
		return
	}
	if n.Cost, err = estimator.Estimate(ctx, asked); err != nil {
		n.Cost = "not known: " + pgerr.From(err).Message
	}
}

// explained returns the statement that home explains. Inputs that are spelled out are empty where it is not run.
func (s *Session) explained(ctx context.Context, y *execution, o explainOptions) (string, error) {
	if o.analyze && y.facts.ReadOnly {
		err := s.spellAll(ctx, y)
		return y.plan.HomeSQL, err
	}
	sql := y.plan.HomeSQL
	for i := range y.plan.Inputs {
		in := &y.plan.Inputs[i]
		for j := 0; in.Spelled && j < len(in.Columns); j++ {
			sql = strings.ReplaceAll(sql, quoted(in, j), "'{}'")
		}
	}
	return sql, nil
}

func inputNode(in *plan.Input) *node {
	n := &node{Type: "Home Scan", Table: in.Relation.Schema + "." + in.Relation.Name, SQL: in.RemoteSQL, Filters: in.Filters, OneTime: in.OneTime, Rows: in.Rows}
	if in.Relation.Schema == "" { // a SELECT that its server computes
		n.Table = in.Relation.Name
	}
	if in.Server != nil {
		n.Type, n.Server = "Foreign Scan", in.Server.Name
	}
	for _, k := range in.Kept {
		text, err := parser.DeparseList([]*pg_query.Node{k.Condition})
		if err != nil {
			continue // home's own plan tells it
		}
		n.Kept, n.Why = append(n.Kept, text), append(n.Why, text+": "+k.Why)
	}
	for _, i := range in.Columns {
		n.Columns = append(n.Columns, in.Relation.Columns[i].Name)
	}
	return n
}

// explainStream runs a statement that home does not compute for EXPLAIN ANALYZE and measures it, with its inputs.
func (s *Session) explainStream(ctx context.Context, n *node, y *execution, o explainOptions) error {
	if !o.analyze {
		return nil
	}
	started := time.Now()
	stream, err := s.openWhole(ctx, y, nil, n.observer(started))
	if err != nil {
		return err
	}
	defer stream.Close()
	n.actual = measured(stream, started)
	for {
		if _, err := n.actual.Next(ctx); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// rowsCursor is a bounded result that the proxy made itself, in text form.
func rowsCursor(fields []pgproto3.FieldDescription, rows [][]*string) *cursor {
	var f engines.Frames
	for _, row := range rows {
		m := pgproto3.DataRow{Values: make([][]byte, len(row))}
		for i, v := range row {
			if v != nil {
				m.Values[i] = append([]byte{}, *v...)
			}
		}
		if data, err := m.Encode(f.Data); err == nil {
			f.Data, f.Rows = data, f.Rows+1
		}
	}
	return &cursor{stream: &frameStream{fields: engineFields(fields), frames: f}}
}

// frameStream is a Stream of one batch of frames.
type frameStream struct {
	fields []engines.Field
	frames engines.Frames
	read   bool
}

func (f *frameStream) Fields() []engines.Field { return f.fields }

func (f *frameStream) Next(context.Context) (engines.Batch, error) {
	if f.read || f.frames.Rows == 0 {
		return nil, io.EOF
	}
	f.read = true
	return f.frames, nil
}

func (f *frameStream) Close() error { return nil }

func fixedTag(tag string) func(int64) string { return func(int64) string { return tag } }
