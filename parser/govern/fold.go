package govern

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// folder puts values in place of the largest parts of a rule that depend on the session and on no row.
type folder struct {
	relation string
	values   Values
	missing  []string // of values
}

func (f *folder) fold(n *pg_query.Node) error {
	var failed error
	parser.Walk(n, func(m proto.Message) bool {
		node, ok := m.(*pg_query.Node)
		if !ok || failed != nil {
			return failed == nil
		}
		if link := node.GetSubLink(); link != nil && link.SubLinkType == pg_query.SubLinkType_ANY_SUBLINK && !f.readsRow(link.Subselect) {
			failed = f.foldIn(node, link)
			return false
		}
		if !needsHome(node) || f.readsRow(node) {
			return true
		}
		failed = f.foldValue(node)
		return false
	})
	return failed
}

// needsHome reports whether an expression is more than constants, operators and casts that leave values as they are.
func needsHome(n *pg_query.Node) (needs bool) {
	parser.Walk(n, func(m proto.Message) bool {
		switch m := m.(type) {
		case *pg_query.FuncCall, *pg_query.SQLValueFunction, *pg_query.SubLink:
			needs = true
		case *pg_query.TypeName:
			needs = needs || len(m.Typmods) > 0
		}
		return !needs
	})
	return needs
}

// readsRow reports whether an expression has columns of the relation in it. Within sub-selects all columns are qualified;
// a reference that is not understood counts as one.
func (f *folder) readsRow(n *pg_query.Node) (reads bool) {
	var within func(m proto.Message, inner bool)
	within = func(m proto.Message, inner bool) {
		parser.Walk(m, func(m proto.Message) bool {
			switch n := m.(type) {
			case *pg_query.SubLink:
				if n.Testexpr != nil {
					within(n.Testexpr, inner)
				}
				within(n.Subselect, true)
				return false
			case *pg_query.ColumnRef:
				reads = reads || !inner || len(n.Fields) < 2 && n.Fields[0].GetAStar() == nil || n.Fields[0].GetString_().GetSval() == f.relation
			}
			return !reads
		})
	}
	within(n, isSelect(n))
	return reads
}

func isSelect(n *pg_query.Node) bool { return n.GetSelectStmt() != nil }

func (f *folder) foldValue(n *pg_query.Node) error {
	text, err := parser.DeparseList([]*pg_query.Node{n})
	if err != nil {
		return err
	}
	v, known, err := f.value(text)
	if err != nil || !known {
		return err
	}
	write, err := constants(v.Type)
	if err == nil {
		n.Node = write(v.Value).Node
	}
	return err
}

// value returns the value of an expression, and the error that home has met with it. One that is not known is noted.
func (f *folder) value(expression string) (v catalog.Value, known bool, err error) {
	if v, known = f.values[expression]; v.Code != "" {
		return v, false, pgerr.New(v.Code, "%s", v.Message)
	}
	if !known && !slices.Contains(f.missing, expression) {
		f.missing = append(f.missing, expression)
	}
	return v, known, nil
}

// mostValues is how many values the sub-select of x IN (SELECT …) may yield.
const mostValues = 10_000

// foldIn makes x IN (SELECT …) a list of values.
func (f *folder) foldIn(n *pg_query.Node, link *pg_query.SubLink) error {
	if len(link.OperName) > 0 {
		return pgerr.New(pgerr.FeatureNotSupported, "an operator with ANY over a sub-select is not supported")
	}
	array, err := parser.DeparseList([]*pg_query.Node{{Node: &pg_query.Node_SubLink{SubLink: &pg_query.SubLink{
		SubLinkType: pg_query.SubLinkType_ARRAY_SUBLINK, Subselect: link.Subselect,
	}}}})
	if err != nil {
		return err
	}
	if err := f.fold(link.Testexpr); err != nil {
		return err
	}
	rows := strings.TrimSuffix(strings.TrimPrefix(array, "ARRAY("), ")")
	document, known, err := f.value("SELECT json_build_object('type', format_type(pg_typeof(a[1]), NULL)," +
		" 'values', (SELECT json_agg(v::text) FROM unnest(a) AS u (v)))" +
		" FROM (SELECT ARRAY(SELECT * FROM (" + rows + ") AS r LIMIT " + strconv.Itoa(mostValues+1) + ") AS a) AS q")
	if err != nil || !known {
		return err
	}
	var list struct {
		Type   string
		Values []*string
	}
	if err := json.Unmarshal([]byte(*document.Value), &list); err != nil {
		return err
	}
	if len(list.Values) > mostValues {
		return pgerr.New(pgerr.ProgramLimitExceeded, "a sub-select yields more than %d values", mostValues)
	}
	if len(list.Values) == 0 {
		n.Node = boolean(false).Node
		return nil
	}
	write, err := constants(list.Type)
	if err != nil {
		return err
	}
	items := make([]*pg_query.Node, len(list.Values))
	for i, v := range list.Values {
		items[i] = write(v)
	}
	n.Node = pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_IN, []*pg_query.Node{pg_query.MakeStrNode("=")}, link.Testexpr,
		pg_query.MakeListNode(items), -1).Node
	return nil
}

// constants returns what writes values of a type, known by its name, nil for NULL.
func constants(typ string) (func(value *string) *pg_query.Node, error) {
	if typ == "character" { // which is one of one character, where it is written
		typ = "bpchar"
	}
	null, err := expression("NULL::" + typ)
	if err != nil {
		return nil, err
	}
	name := null.GetTypeCast().GetTypeName()
	return func(value *string) *pg_query.Node {
		literal := &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{Isnull: true}}}
		switch {
		case value == nil:
		case typ == "boolean":
			return boolean(*value == "true")
		default:
			literal = pg_query.MakeAConstStrNode(*value, -1)
		}
		return &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: literal, TypeName: name, Location: -1}}}
	}, nil
}

func boolean(value bool) *pg_query.Node {
	return &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{
		Val: &pg_query.A_Const_Boolval{Boolval: &pg_query.Boolean{Boolval: value}},
	}}}
}
