package parser

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Relation is one reference of a statement to a table or view. It points into the statement's tree.
type Relation struct {
	Schema, Name string
	Var          *pg_query.RangeVar
	// Holder is the node that holds Var and may be made to hold something else; nil where only a table can stand:
	// targets of INSERT, UPDATE, DELETE, MERGE, COPY and TRUNCATE.
	Holder *pg_query.Node
	Target bool // it is written to
}

// Relations returns the references to relations, in an order that is the same for each clone of the tree. References to
// common table expressions are not among them, nor what a statement creates.
func (s *Statement) Relations() []Relation {
	if s.relations != nil {
		return s.relations
	}
	return relationsOf(s.Node.Stmt)
}

// RelationsIn returns the references below one node, as Relations does.
func RelationsIn(n *pg_query.Node) []Relation { return relationsOf(n) }

// Clone returns the statement with a tree of its own.
func (s *Statement) Clone() *Statement {
	return &Statement{Text: s.Text, Source: s.Source, General: s.General, Values: s.Values, Node: proto.Clone(s.Node).(*pg_query.RawStmt), Kind: s.Kind}
}

func relationsOf(n *pg_query.Node) []Relation {
	w := &relationWalk{}
	w.message(n.ProtoReflect(), nil)
	return w.found
}

// scope holds the names of the common table expressions that are visible at a place.
type scope struct {
	names []string
	outer *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		for _, n := range s.names {
			if n == name {
				return true
			}
		}
	}
	return false
}

type relationWalk struct{ found []Relation }

// message walks any node: kinds that it does not know are walked as well, so that nothing is missed.
func (w *relationWalk) message(m protoreflect.Message, s *scope) {
	switch n := m.Interface().(type) {
	case *pg_query.Node:
		if v := n.GetRangeVar(); v != nil {
			w.relation(v, n, false, s)
			return
		}
	case *pg_query.RangeVar:
		w.relation(n, nil, false, s)
		return
	case *pg_query.IntoClause, *pg_query.LockingClause: // what is created; aliases
		return
	case *pg_query.SelectStmt:
		s = w.with(n.WithClause, s)
	case *pg_query.InsertStmt:
		s = w.with(n.WithClause, s)
		w.target(n.Relation)
	case *pg_query.UpdateStmt:
		s = w.with(n.WithClause, s)
		w.target(n.Relation)
	case *pg_query.DeleteStmt:
		s = w.with(n.WithClause, s)
		w.target(n.Relation)
	case *pg_query.MergeStmt:
		s = w.with(n.WithClause, s)
		w.target(n.Relation)
	case *pg_query.CopyStmt:
		if n.IsFrom {
			w.target(n.Relation)
		} else if n.Relation != nil {
			w.relation(n.Relation, nil, false, nil)
		}
		if n.Query != nil {
			w.message(n.Query.ProtoReflect(), s)
		}
		return
	case *pg_query.TruncateStmt:
		for _, r := range n.Relations {
			w.target(r.GetRangeVar())
		}
		return
	}
	w.fields(m, s)
}

// fields walks the fields of a node in the order of the grammar.
func (w *relationWalk) fields(m protoreflect.Message, s *scope) {
	Children(m, func(f protoreflect.FieldDescriptor, child protoreflect.Message) {
		if !skips(m, f) {
			w.message(child, s)
		}
	})
}

// skips reports fields that were walked already.
func skips(m protoreflect.Message, f protoreflect.FieldDescriptor) bool {
	switch m.Interface().(type) {
	case *pg_query.SelectStmt:
		return f.Name() == "with_clause"
	case *pg_query.InsertStmt, *pg_query.UpdateStmt, *pg_query.DeleteStmt, *pg_query.MergeStmt:
		return f.Name() == "with_clause" || f.Name() == "relation"
	}
	return false
}

// with walks the common table expressions of a statement and returns the scope of what follows. Without RECURSIVE an
// expression sees those before it, with RECURSIVE all.
func (w *relationWalk) with(clause *pg_query.WithClause, outer *scope) *scope {
	if clause == nil {
		return outer
	}
	inner := &scope{outer: outer}
	if clause.Recursive {
		for _, n := range clause.Ctes {
			inner.names = append(inner.names, n.GetCommonTableExpr().Ctename)
		}
	}
	for _, n := range clause.Ctes {
		e := n.GetCommonTableExpr()
		w.message(e.Ctequery.ProtoReflect(), inner)
		if !clause.Recursive {
			inner.names = append(inner.names, e.Ctename)
		}
	}
	return inner
}

func (w *relationWalk) target(v *pg_query.RangeVar) {
	if v != nil {
		w.relation(v, nil, true, nil)
	}
}

func (w *relationWalk) relation(v *pg_query.RangeVar, holder *pg_query.Node, target bool, s *scope) {
	if v.Schemaname == "" && s.has(v.Relname) {
		return
	}
	w.found = append(w.found, Relation{Schema: v.Schemaname, Name: v.Relname, Var: v, Holder: holder, Target: target})
}

// Walk calls visit for each node below and including m, parents first, until visit says no for a node's children.
func Walk(m proto.Message, visit func(proto.Message) (deeper bool)) {
	walk(m.ProtoReflect(), visit)
}

func walk(m protoreflect.Message, visit func(proto.Message) bool) {
	if visit(m.Interface()) {
		Children(m, func(_ protoreflect.FieldDescriptor, child protoreflect.Message) { walk(child, visit) })
	}
}
