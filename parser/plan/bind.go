package plan

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
)

// item is one entry of a FROM clause, or a target, under the name that references call it by.
type item struct {
	name    string
	table   *catalog.Relation // nil where it is not ours
	columns []string          // as the statement calls them
	bare    bool              // it has no alias: schema.table.column can mean it as well
	long    bool              // such a reference does
	set     func(name string) // gives it an alias
	refs    []*pg_query.ColumnRef
}

// level is what references at one query level can name, the innermost first.
type level struct {
	items []*item
	outer *level
}

// binder finds which relation each qualified reference of a statement means. Foreign tables will be read from elsewhere,
// so what only holds for the table itself is replaced: its schema in references, tableoid, its row type in calls.
type binder struct {
	b      *builder
	levels []*level
	later  []func() // replacements, once all names are settled
}

// bind settles the references to foreign tables and to views that were inlined.
func (b *builder) bind() {
	w := &binder{b: b}
	w.message(b.statement.Node.ProtoReflect(), nil)
	names := map[string]int{}
	for _, l := range w.levels {
		for _, it := range l.items {
			names[it.name]++
		}
	}
	for _, l := range w.levels {
		for _, it := range l.items {
			if it.table != nil && it.bare && (it.long && names[it.name] > 1 || l.doubled(it)) {
				it.rename(names)
			}
			it.shorten()
		}
	}
	for _, replace := range w.later {
		replace()
	}
}

// doubled reports whether another entry of the level has the same name, as tables of different schemas may.
func (l *level) doubled(it *item) bool {
	for _, o := range l.items {
		if o != it && o.name == it.name {
			return true
		}
	}
	return false
}

func (it *item) rename(names map[string]int) {
	for n := 1; ; n++ {
		suffix := "_" + itoa(n)
		name := it.name[:min(len(it.name), 63-len(suffix))] + suffix
		if names[name] == 0 {
			names[name]++
			it.set(name)
			it.name = name
			for _, r := range it.refs {
				r.Fields[len(r.Fields)-2] = pg_query.MakeStrNode(name)
			}
			return
		}
	}
}

func (it *item) shorten() {
	for _, r := range it.refs {
		r.Fields = r.Fields[len(r.Fields)-2:]
	}
}

func (w *binder) message(m protoreflect.Message, l *level) {
	switch n := m.Interface().(type) {
	case *pg_query.Node:
		w.node(n, l)
	case *pg_query.ResTarget:
		w.resTarget(n, l)
	case *pg_query.SelectStmt:
		w.query(m, l, n.FromClause, nil)
		return
	case *pg_query.UpdateStmt:
		w.query(m, l, n.FromClause, n.Relation)
		return
	case *pg_query.DeleteStmt:
		w.query(m, l, n.UsingClause, n.Relation)
		return
	case *pg_query.MergeStmt:
		w.query(m, l, []*pg_query.Node{n.SourceRelation}, n.Relation)
		return
	case *pg_query.InsertStmt:
		w.query(m, l, nil, n.Relation)
		return
	case *pg_query.RangeSubselect:
		if !n.Lateral { // it sees nothing of the level that it stands in
			l = l.outer
		}
	}
	w.fields(m, l, "")
}

// query walks a statement whose FROM clause and target make a level of their own. Its WITH clause does not see them.
func (w *binder) query(m protoreflect.Message, outer *level, from []*pg_query.Node, target *pg_query.RangeVar) {
	l := &level{outer: outer}
	if target != nil {
		l.items = append(l.items, w.table(target))
	}
	for _, n := range from {
		w.from(n, l)
	}
	w.levels = append(w.levels, l)
	if f := m.Descriptor().Fields().ByName("with_clause"); m.Has(f) {
		w.message(m.Get(f).Message(), outer)
	}
	w.fields(m, l, "with_clause")
}

func (w *binder) fields(m protoreflect.Message, l *level, except protoreflect.Name) {
	parser.Children(m, func(f protoreflect.FieldDescriptor, child protoreflect.Message) {
		if except == "" || f.Name() != except {
			w.message(child, l)
		}
	})
}

// from adds the entries of a FROM item to a level.
func (w *binder) from(n *pg_query.Node, l *level) {
	alias := func(a *pg_query.Alias) {
		if a != nil {
			l.items = append(l.items, &item{name: a.Aliasname})
		}
	}
	switch n := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		l.items = append(l.items, w.table(n.RangeVar))
	case *pg_query.Node_RangeTableSample:
		w.from(n.RangeTableSample.Relation, l)
	case *pg_query.Node_JoinExpr:
		w.from(n.JoinExpr.Larg, l)
		w.from(n.JoinExpr.Rarg, l)
		alias(n.JoinExpr.Alias)
		alias(n.JoinExpr.JoinUsingAlias)
	case *pg_query.Node_RangeSubselect:
		if v, ok := w.b.inlined[n.RangeSubselect]; ok {
			a := v.sub.Alias
			l.items = append(l.items, &item{
				name: a.Aliasname, table: v.table, columns: columnsOf(v.table, a), bare: v.bare, set: func(name string) { a.Aliasname = name },
			})
			return
		}
		alias(n.RangeSubselect.Alias)
	case *pg_query.Node_RangeFunction:
		alias(n.RangeFunction.Alias)
	case *pg_query.Node_RangeTableFunc:
		alias(n.RangeTableFunc.Alias)
	case *pg_query.Node_JsonTable:
		alias(n.JsonTable.Alias)
	}
}

func (w *binder) table(v *pg_query.RangeVar) *item {
	it := &item{name: aliasOf(v), bare: v.Alias == nil}
	s := w.b.sourceOf(v)
	if i := slices.IndexFunc(w.b.masks, func(m source) bool { return m.Var == v }); i >= 0 {
		s = &w.b.masks[i]
	}
	if t := w.b.target; t != nil && t.Var == v {
		s = t
	}
	if s != nil {
		it.table, it.columns = s.table, columnsOf(s.table, v.Alias)
		it.set = func(name string) {
			v.Alias = &pg_query.Alias{Aliasname: name}
			s.alias = name
		}
	}
	return it
}

// node binds a column reference.
func (w *binder) node(n *pg_query.Node, l *level) {
	if f := n.GetFuncCall(); f != nil {
		w.call(f, l)
	}
	ref := n.GetColumnRef()
	if ref == nil {
		return
	}
	it := l.find(ref.Fields)
	if it == nil {
		return
	}
	if len(ref.Fields) > 1 {
		it.refs = append(it.refs, ref)
		it.long = it.long || len(ref.Fields) > 2
	}
	last := ref.Fields[len(ref.Fields)-1].GetString_().GetSval()
	switch {
	case it.table == nil || !it.stored() || last == "":
	case last == "tableoid":
		w.later = append(w.later, func() { n.Node = w.tableOID(ref, it) })
	case len(ref.Fields) > 1 && !it.has(last): // table.function, another form of function(table)
		w.later = append(w.later, func() {
			n.Node = pg_query.MakeFuncCallNode([]*pg_query.Node{pg_query.MakeStrNode(last)}, []*pg_query.Node{it.row()}, -1).Node
		})
	}
}

// find returns the entry that a reference means, nil where that is not known. The only unqualified name looked at is
// tableoid, which only one table of a level can be meant by.
func (l *level) find(fields []*pg_query.Node) *item {
	k := len(fields)
	if k == 1 && fields[0].GetString_().GetSval() != "tableoid" {
		return nil
	}
	for ; l != nil; l = l.outer {
		if k == 1 {
			if len(l.items) == 1 {
				return l.items[0]
			}
			return nil
		}
		for _, it := range l.items {
			switch {
			case it.name != fields[k-2].GetString_().GetSval():
			case k == 2, it.bare && it.table != nil && it.table.Schema == fields[k-3].GetString_().GetSval():
				return it
			}
		}
	}
	return nil
}

// resTarget keeps the name of a column that is about to be replaced.
func (w *binder) resTarget(t *pg_query.ResTarget, l *level) {
	ref := t.Val.GetColumnRef()
	if ref == nil || t.Name != "" || lastName(ref.Fields) != "tableoid" {
		return
	}
	if it := l.find(ref.Fields); it != nil && it.table != nil && it.stored() {
		t.Name = "tableoid"
	}
}

// tableOID is what tableoid is for a row of the foreign table, NULL where an outer join has found none. An input that is
// spelled out, or a view, has no tableoid to tell by: there it is the row as a whole.
func (w *binder) tableOID(ref *pg_query.ColumnRef, it *item) *pg_query.Node_CaseExpr {
	own := &pg_query.Node{Node: &pg_query.Node_ColumnRef{ColumnRef: proto.CloneOf(ref)}}
	isRow := &pg_query.Node{Node: &pg_query.Node_NullTest{NullTest: &pg_query.NullTest{Arg: own, Nulltesttype: pg_query.NullTestType_IS_NOT_NULL}}}
	if w.b.req.ReadOnly || ofHome(it.table) {
		row := pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(it.name)}, -1)
		null := &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{Isnull: true}}}
		isRow = pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_DISTINCT, []*pg_query.Node{pg_query.MakeStrNode("=")}, row, null, -1)
	}
	when := &pg_query.CaseWhen{Expr: isRow, Result: castTo(pg_query.MakeAConstStrNode(itoa(int(it.table.OID)), -1), "pg_catalog", "oid")}
	return &pg_query.Node_CaseExpr{CaseExpr: &pg_query.CaseExpr{
		Args: []*pg_query.Node{{Node: &pg_query.Node_CaseWhen{CaseWhen: when}}},
	}}
}

func castTo(n *pg_query.Node, schema, name string) *pg_query.Node {
	t := &pg_query.TypeName{Names: []*pg_query.Node{pg_query.MakeStrNode(schema), pg_query.MakeStrNode(name)}, Typemod: -1}
	return &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: n, TypeName: t}}}
}

// anyRow are functions that take a row of any type.
var anyRow = map[string]bool{
	"count": true, "row_to_json": true, "to_json": true, "to_jsonb": true, "json_agg": true, "jsonb_agg": true,
	"hstore": true, "concat": true, "concat_ws": true, "format": true, "num_nulls": true, "num_nonnulls": true,
}

// call gives rows of foreign tables their own type again where they are arguments of a function, which may want it.
func (w *binder) call(f *pg_query.FuncCall, l *level) {
	if anyRow[lastName(f.Funcname)] {
		return
	}
	for i, a := range f.Args {
		fields := a.GetColumnRef().GetFields()
		if len(fields) == 0 || len(fields) > 2 || len(fields) == 2 && fields[1].GetAStar() == nil {
			continue
		}
		name := fields[0].GetString_().GetSval()
		if it := l.row(name, len(fields) == 2); it != nil {
			w.later = append(w.later, func() { f.Args[i] = it.row() })
		}
	}
}

// row returns the foreign table whose row a name means. It means a column instead where any entry has such a one, and
// that may be where the entry's columns are not known.
func (l *level) row(name string, starred bool) *item {
	for ; l != nil; l = l.outer {
		for _, it := range l.items {
			switch {
			case !starred && (it.table == nil || it.has(name)):
				return nil
			case it.name == name && it.table != nil && it.stored():
				return it
			}
		}
	}
	return nil
}

// row is a row of the temporary table, brought to the type of the foreign table's rows.
func (it *item) row() *pg_query.Node {
	row := pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(it.name)}, -1)
	return castTo(castTo(row, "pg_catalog", "text"), it.table.Schema, it.table.Name)
}

// stored reports whether the entry's relation is a table.
func (it *item) stored() bool { return it.table.Kind == 'f' || ofHome(it.table) }

// has reports whether the entry has a column of a name, one of the system's included.
func (it *item) has(name string) bool {
	switch name {
	case "ctid", "xmin", "cmin", "xmax", "cmax", "tableoid":
		return it.stored()
	}
	return slices.Contains(it.columns, name)
}

// columnsOf returns the names that a relation's columns have under an alias.
func columnsOf(t *catalog.Relation, alias *pg_query.Alias) []string {
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	for i, n := range alias.GetColnames() {
		if i < len(names) {
			names[i] = n.GetString_().GetSval()
		}
	}
	return names
}
