package govern

import (
	"slices"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/sql"
)

// maskFunction is a function of schema sluice that is one expression over its parameters.
type maskFunction struct {
	params []string
	types  []string // of the parameters, by their names in pg_catalog
	result string
	body   *pg_query.Node
}

// library has the mask functions, by name, as the extension makes them.
var library = sync.OnceValue(func() map[string][]maskFunction {
	script, err := sql.FS.ReadFile("55_masks.sql")
	if err != nil {
		panic(err)
	}
	list, err := parser.Parse(string(script))
	if err != nil {
		panic(err)
	}
	functions := map[string][]maskFunction{}
	for _, st := range list {
		create := st.Node.Stmt.GetCreateFunctionStmt()
		if create.GetSqlBody().GetReturnStmt() == nil {
			continue
		}
		f := maskFunction{result: typeName(create.ReturnType), body: create.SqlBody.GetReturnStmt().Returnval}
		for _, p := range create.Parameters {
			f.params = append(f.params, p.GetFunctionParameter().Name)
			f.types = append(f.types, typeName(p.GetFunctionParameter().ArgType))
		}
		name := nameOf(create.Funcname)
		functions[name] = append(functions[name], f)
	}
	return functions
})

func typeName(t *pg_query.TypeName) string { return nameOf(t.Names) }

func nameOf(names []*pg_query.Node) string { return names[len(names)-1].GetString_().GetSval() }

// inSchema reports whether a call names a function of schema sluice.
func inSchema(call *pg_query.FuncCall) bool {
	return call != nil && len(call.Funcname) == 2 && call.Funcname[0].GetString_().GetSval() == catalog.ExtensionName
}

// Inline returns an expression over the columns of a relation with the expressions of mask functions in place of their
// calls, for who has not the functions. A call that is not understood stays.
func Inline(n *pg_query.Node, r *catalog.Relation) *pg_query.Node {
	n = proto.CloneOf(n)
	inline(n, r)
	return n
}

// inline replaces the calls in an expression and returns its type, where that can be told. Postgres prints the casts that a
// call implies, so that of functions of one name that is meant whose parameters have the arguments' own types.
func inline(n *pg_query.Node, r *catalog.Relation) (typ string) {
	call := n.GetFuncCall()
	if !inSchema(call) {
		parser.Walk(n, func(m proto.Message) bool {
			inner, ok := m.(*pg_query.Node)
			if !ok || inner == n || !inSchema(inner.GetFuncCall()) {
				return true
			}
			inline(inner, r)
			return false
		})
		return typeOf(n, r)
	}
	types := make([]string, len(call.Args))
	for i, a := range call.Args {
		types[i] = inline(a, r)
	}
	named := library()[nameOf(call.Funcname)]
	for _, f := range named {
		if len(types) != len(f.types) || len(named) > 1 && !slices.Equal(types, f.types) {
			continue
		}
		body := proto.CloneOf(f.body)
		f.bind(body, call.Args)
		n.Node = body.Node
		return f.result
	}
	return ""
}

// bind puts arguments in the place of parameters.
func (f *maskFunction) bind(body *pg_query.Node, args []*pg_query.Node) {
	parser.Walk(body, func(m proto.Message) bool {
		n, ok := m.(*pg_query.Node)
		if !ok || n.GetColumnRef() == nil {
			return true
		}
		i := slices.Index(f.params, nameOf(n.GetColumnRef().Fields))
		n.Node = proto.CloneOf(args[i]).Node
		return false
	})
}

var typeNames = map[uint32]string{
	20: "int8", 23: "int4", 25: "text", 701: "float8", 1082: "date", 1114: "timestamp", 1184: "timestamptz", 1700: "numeric",
}

// typeOf names the type of a column, a cast or a number; it is empty for all else.
func typeOf(n *pg_query.Node, r *catalog.Relation) string {
	switch {
	case n.GetColumnRef() != nil:
		for i := range r.Columns {
			if r.Columns[i].Name == nameOf(n.GetColumnRef().Fields) {
				return typeNames[r.Columns[i].Type]
			}
		}
	case n.GetTypeCast() != nil:
		return typeName(n.GetTypeCast().TypeName)
	case n.GetAConst().GetIval() != nil:
		return "int4"
	}
	return ""
}

// Salt gives the hashes in the rules of a relation their salt: sluice.mask_hash(x) becomes sluice.salted_hash(x, salt), which
// the reader need not be able to execute.
func (r *Rules) Salt(of *catalog.Relation, salt func() (string, error)) error {
	if r == nil {
		return nil
	}
	if err := salted(r.Filter, salt); err != nil {
		return Refuse(of, "", err)
	}
	for column, mask := range r.Masks {
		if err := salted(mask, salt); err != nil {
			return Refuse(of, column, err)
		}
	}
	return nil
}

func salted(n *pg_query.Node, salt func() (string, error)) (err error) {
	parser.Walk(n, func(m proto.Message) bool {
		call, ok := m.(*pg_query.FuncCall)
		if !ok || err != nil || !inSchema(call) || nameOf(call.Funcname) != "mask_hash" {
			return err == nil
		}
		var value string
		if value, err = salt(); err == nil {
			call.Funcname = []*pg_query.Node{pg_query.MakeStrNode(catalog.ExtensionName), pg_query.MakeStrNode("salted_hash")}
			call.Args = append(call.Args, text(value))
		}
		return err == nil
	})
	return err
}

// text makes a literal of type text.
func text(value string) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{
		Arg:      pg_query.MakeAConstStrNode(value, -1),
		TypeName: &pg_query.TypeName{Names: []*pg_query.Node{pg_query.MakeStrNode("text")}, Typemod: -1},
	}}}
}
