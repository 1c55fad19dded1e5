package oracle

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// Shrink makes a statement smaller as long as it differs, with at most so many tries. What a total order rests on is left
// alone: a smaller statement has one answer, too.
func Shrink(s Statement, tries int, differs func(Statement) bool) Statement {
	if s.Ordered {
		loose := s
		loose.Ordered = false
		if tries--; differs(loose) {
			s = loose
		}
	}
	for smaller := true; smaller && tries > 0; {
		tree, err := pg_query.Parse(s.in("plain"))
		if err != nil || len(tree.Stmts) != 1 {
			return s
		}
		smaller = false
		for _, e := range edits(tree.Stmts[0], s.Ordered) {
			undo := e()
			if undo == nil {
				continue
			}
			c, ok := s.printed(tree)
			if tries--; ok && len(c.SQL) < len(s.SQL) && differs(c) {
				s, smaller = c, true
				break
			}
			undo()
			if tries <= 0 {
				break
			}
		}
	}
	return s
}

// parameter matches one. No text of a generated statement has a dollar sign.
var parameter = regexp.MustCompile(`\$[0-9]+`)

// printed returns the statement with the text of a tree, which uses fewer parameters perhaps.
func (s Statement) printed(tree *pg_query.ParseResult) (Statement, bool) {
	text, err := pg_query.Deparse(tree)
	if err != nil {
		return s, false
	}
	var params []*string
	number := map[string]string{}
	s.SQL = parameter.ReplaceAllStringFunc(strings.ReplaceAll(text, "plain.", "{s}."), func(p string) string {
		n, err := strconv.Atoi(p[1:])
		if number[p] == "" && err == nil && n <= len(s.Params) {
			params = append(params, s.Params[n-1])
			number[p] = "$" + strconv.Itoa(len(params))
		}
		return number[p]
	})
	if s.Params != nil && params == nil {
		params = []*string{}
	}
	s.Params = params
	return s, true
}

// Case prints a statement as a file of the oracle has it.
func (s Statement) Case() string {
	head := ""
	if len(s.Params) > 0 {
		params, err := json.Marshal(s.Params)
		if err != nil {
			return err.Error()
		}
		head = "-- params: " + string(params) + "\n"
	}
	return head + s.SQL + ";"
}

// edit changes the tree that it was made from and returns how to take that back; nil for no change.
type edit func() (undo func())

// edits lists ways to make a tree smaller, those of the whole before those of its parts.
func edits(m proto.Message, ordered bool) []edit {
	e := &editor{ordered: ordered}
	e.message(m.ProtoReflect())
	return e.list
}

// editor collects edits. With ordered set the order of the outermost SELECT is part of its answer.
type editor struct {
	list    []edit
	ordered bool
}

// cut drops elements of a list one at a time, but not the last one.
func cut(e *editor, list *[]*pg_query.Node, least int) {
	for i := range *list {
		e.list = append(e.list, func() func() {
			old := *list
			if len(old) <= least {
				return nil
			}
			*list = append(append([]*pg_query.Node{}, old[:i]...), old[i+1:]...)
			return func() { *list = old }
		})
	}
}

// drop sets a part to nothing.
func drop[T any](e *editor, part *T) {
	e.list = append(e.list, func() func() {
		old := *part
		var none T
		*part = none
		return func() { *part = old }
	})
}

// become puts one of several nodes in the place of another.
func (e *editor) become(n *pg_query.Node, others ...*pg_query.Node) {
	for _, o := range others {
		if o == nil || o.Node == nil {
			continue
		}
		e.list = append(e.list, func() func() {
			old := n.Node
			n.Node = o.Node
			return func() { n.Node = old }
		})
	}
}
