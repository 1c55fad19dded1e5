package plan

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// verbatim ships parts of a statement to another Postgres as they stand: it needs no translation, but each node of it must
// be one that is known to mean the same there. Only what names relations and parameters is replaced.
type verbatim struct {
	b            *builder
	d            dialect.Postgres
	home, remote engines.Facts
	unknown      error // why there are no facts
	params       []int
	reason       string
	orders       string // the first construct that depends on the order of text
	texts        bool   // text may come up under a collation that is not bytewise
	literals     map[*pg_query.A_Const]bool
	marked       string
	rule         bool // it prints rules, which mean what is in pg_catalog and are in UTF-8 whatever the session's settings are
}

func (b *builder) newVerbatim(s *source) *verbatim {
	v := &verbatim{b: b, literals: map[*pg_query.A_Const]bool{}}
	if b.req.Facts == nil {
		v.unknown = errNoFacts
		return v
	}
	v.home, v.remote, v.unknown = b.req.Facts(s.server, s.role)
	return v
}

var (
	errNoFacts = errors.New("nothing is known of the server")
	errStyles  = errors.New("DateStyle or extra_float_digits may bear upon it")
)

func (v *verbatim) shadowed(name string) bool { return !v.rule && v.b.req.Snapshot.Shadows[name] }

// mark begins names that stand in for SQL until a statement is printed. Nobody can have put them into the statement, as all that
// looks like them is replaced.
func (v *verbatim) mark() string {
	if v.marked == "" {
		v.marked = "m" + strings.ToLower(rand.Text()) + "_"
	}
	return v.marked
}

// no notes the first reason why something is not shipped.
func (v *verbatim) no(format string, args ...any) bool {
	if v.reason == "" {
		v.reason = fmt.Sprintf(format, args...)
	}
	return false
}

// whole plans that another Postgres computes the statement.
func (b *builder) whole(sel *pg_query.SelectStmt, format *CopyFormat) *Plan {
	v := b.newVerbatim(&b.sources[0])
	sql, ok := v.query(sel)
	for _, f := range b.req.Fields {
		if ok && !dialect.BuiltIn(f.OID) && f.OID != recordOID {
			ok = v.no("column %q is of a type that is home's own", f.Name)
		}
	}
	if !ok {
		b.because("%s", v.reason)
		return nil
	}
	return &Plan{
		Route: Remote, Server: b.sources[0].server, Role: b.sources[0].role, RemoteSQL: sql, Params: v.params,
		Privileges: b.privileges, Copy: format, whole: b.scanned(sel), Rows: b.yielded(sel),
	}
}

// query prints a SELECT of the clone for the remote server.
func (v *verbatim) query(sel *pg_query.SelectStmt) (string, bool) {
	if !v.fits(sel) || !v.ordersAlike() {
		return "", false
	}
	copied := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: proto.CloneOf(sel)}}
	originals, holders := rangeVars(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}), rangeVars(copied)
	var tables []string
	for i, h := range holders {
		src := v.b.sourceOf(originals[i].GetRangeVar())
		if src == nil {
			continue
		}
		from, ok := v.scan(src)
		if !ok {
			return "", false
		}
		r := h.GetRangeVar()
		if r.Alias == nil {
			r.Alias = &pg_query.Alias{Aliasname: r.Relname}
		}
		r.Catalogname, r.Schemaname, r.Relname = "", "", v.mark()+"table_"+itoa(i)+"_"
		r.Inh = true
		tables = append(tables, v.d.Identifier(r.Relname), from, r.Relname, from)
	}
	v.bindParams(copied)
	sql, err := parser.Deparse(&pg_query.RawStmt{Stmt: copied})
	if err != nil {
		return "", v.no("%v", err)
	}
	return strings.NewReplacer(tables...).Replace(sql), true
}

// rangeVars returns the nodes that hold references to relations, in order.
func rangeVars(n *pg_query.Node) (list []*pg_query.Node) {
	parser.Walk(n, func(m proto.Message) bool {
		if n, ok := m.(*pg_query.Node); ok && n.GetRangeVar() != nil {
			list = append(list, n)
		}
		return true
	})
	return list
}

// scan is a sub-select that has the columns of a foreign table that the statement may use, with its names, types and
// collations.
func (v *verbatim) scan(src *source) (string, bool) {
	if src.body != "" {
		return "", v.no("a view that was shipped as a whole is read at home")
	}
	from, err := v.b.origin(src)
	if err != nil {
		return "", v.no("%v", err)
	}
	var list []string
	for _, i := range v.b.used.of(src) {
		c := &src.table.Columns[i]
		sql, ok := v.d.Collated(c)
		if !ok || !dialect.BuiltIn(c.Type) {
			return "", v.no("column %q of foreign table %q has a type or collation that is home's own", c.Name, src.table.Name)
		}
		list = append(list, sql+" AS "+v.d.Identifier(c.Name))
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + from + ")", true
}

// bindParams gives the parameters below a node the places of v.params, and their types. What home knows best is one too.
func (v *verbatim) bindParams(n *pg_query.Node) {
	parser.Walk(n, func(m proto.Message) bool {
		node, ok := m.(*pg_query.Node)
		if !ok {
			return true
		}
		number, typ := 0, uint32(0)
		if p := node.GetParamRef(); p != nil {
			number = int(p.Number)
			typ = v.b.req.Params[number-1]
		} else if typ = cmp.Or(homeValue(node), v.pageType(node)); typ != 0 {
			number = v.b.moment(node, typ)
		}
		if number == 0 {
			return true
		}
		place := slices.Index(v.params, number)
		if place < 0 {
			place = len(v.params)
			v.params = append(v.params, number)
		}
		ref := &pg_query.Node{Node: &pg_query.Node_ParamRef{ParamRef: &pg_query.ParamRef{Number: int32(place + 1)}}}
		node.Node = &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: ref, TypeName: paramTypes[typ]}}
		return false
	})
}

// condition prints a condition on a table alone; false where it is not shipped.
func (v *verbatim) condition(src *source, n *pg_query.Node) (string, bool) {
	if !harmless(n) {
		return "", v.no("it may fail on rows that home does not look at")
	}
	return v.expression(src, n)
}

// expression prints an expression over a table alone; false where it is not shipped.
func (v *verbatim) expression(src *source, n *pg_query.Node) (string, bool) {
	v.reason, v.orders, v.texts = "", "", false
	if !v.fits(n) {
		return "", false
	}
	copied := proto.CloneOf(n)
	var columns []string
	ok := true
	parser.Walk(copied, func(m proto.Message) bool {
		node, isNode := m.(*pg_query.Node)
		if !isNode || node.GetColumnRef() == nil {
			return ok
		}
		i := src.columnOf(node.GetColumnRef().Fields)
		if i < 0 {
			ok = v.no("a row as a whole is looked at at home")
			return false
		}
		c := &src.table.Columns[i]
		sql, shipped := v.d.Collated(c)
		if !shipped || !dialect.BuiltIn(c.Type) {
			ok = v.no("column %q has a type or collation that is home's own", c.Name)
			return false
		}
		v.texts = v.texts || v.d.Orders(c)
		name := v.mark() + "column_" + itoa(len(columns)/2) + "_"
		columns = append(columns, v.d.Identifier(name), "("+sql+")", name, "("+sql+")")
		node.Node = pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(name)}, -1).Node
		return false
	})
	if !ok || !v.ordersAlike() {
		return "", false
	}
	v.bindParams(copied)
	sql, err := parser.DeparseList([]*pg_query.Node{copied})
	if err != nil {
		return "", v.no("%v", err)
	}
	return "(" + strings.NewReplacer(columns...).Replace(sql) + ")", true
}

// columnOf returns the index of the column that a reference to a table alone means, -1 for none.
func (s *source) columnOf(fields []*pg_query.Node) int {
	if len(fields) == 2 && fields[0].GetString_().GetSval() != s.alias || len(fields) > 2 {
		return -1
	}
	for i := range s.table.Columns {
		if s.table.Columns[i].Name == fields[len(fields)-1].GetString_().GetSval() {
			return i
		}
	}
	return -1
}

// verbatimConditions prints the conditions on a table alone that another Postgres can evaluate.
func (b *builder) verbatimConditions(src *source, conditions []*pg_query.Node) filter {
	v := b.newVerbatim(src)
	var f filter
	if !b.readsAlike(src) {
		v.unknown = errStyles
	}
	for _, c := range conditions {
		if !refers(c) || !onlyOn(src, c) {
			continue
		}
		mark := len(v.params)
		if sql, ok := v.condition(src, c); ok {
			f.sql = append(f.sql, sql)
		} else {
			v.params = v.params[:mark]
			f.kept = append(f.kept, Kept{c, v.reason})
		}
	}
	f.texts, f.params = f.sql, v.params
	return f
}

// readsAlike reports whether conditions on a table mean the same under the settings that its rows are brought home by: the
// session's own where they travel in binary form, else such as print values that home reads without doubt.
func (b *builder) readsAlike(src *source) bool {
	set := b.req.Settings
	if strings.HasPrefix(set.DateStyle, "ISO") && set.ExtraFloatDigits >= 1 {
		return true
	}
	return !b.req.ReadOnly && !slices.ContainsFunc(b.columns(src), func(i int) bool { return !dialect.BuiltIn(src.table.Columns[i].Type) })
}

func onlyOn(src *source, n *pg_query.Node) bool {
	all := true
	parser.Walk(n, func(m proto.Message) bool {
		if c, ok := m.(*pg_query.ColumnRef); ok {
			all = all && src.columnOf(c.Fields) >= 0
		}
		return true
	})
	return all
}

// paramTypes are the names of the built-in types as a parsed statement has them.
var paramTypes = map[uint32]*pg_query.TypeName{}

func init() {
	for oid := range uint32(10000) {
		if !dialect.BuiltIn(oid) {
			continue
		}
		list, err := parser.Parse("SELECT NULL::" + dialect.Postgres{}.Type(oid, -1))
		if err != nil {
			panic(err)
		}
		paramTypes[oid] = list[0].Node.Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val.GetTypeCast().TypeName
	}
}

// clock matches literals that are times only once they are read.
var clock = regexp.MustCompile(`(?i)\b(now|today|tomorrow|yesterday)\b`)
