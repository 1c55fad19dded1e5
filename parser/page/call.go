package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// names are the functions of schema sluice that are expanded, with the names of their arguments.
var names = map[string][]string{
	"page":         {"query", "page_size", "after"},
	"open_cursor":  {"query", "name", "ttl"},
	"fetch_cursor": {"name", "page_size"},
}

// Call is one call in a text.
type Call struct {
	Function string
	Start    int // of the name, in bytes
	Open     int // of the parenthesis behind it
	End      int // behind the closing one
	Position int // of the name, in characters from 1
	Alias    bool
	Args     map[string]*pg_query.Node // by name; those left out are not in it
}

// Mentions is the cheap test whether a text may have such calls.
func Mentions(text string) bool {
	text = strings.ToLower(text)
	for name := range names {
		if strings.Contains(text, name) && strings.Contains(text, "sluice") {
			return true
		}
	}
	return false
}

// Find returns the calls in a text, in order, whose statements these are. A call where none can be expanded is an error.
func Find(text string, statements []*parser.Statement) ([]Call, error) {
	f := finder{text: text, spans: map[int]span{}}
	for _, at := range spans(text) {
		f.spans[at.start] = at
	}
	for _, st := range statements {
		if err := f.statement(st, byteOffset(text, st.Start)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.calls, func(a, b Call) int { return a.Start - b.Start })
	return f.calls, nil
}

// byteOffset returns how many bytes the first characters of a text take.
func byteOffset(text string, characters int) int {
	for at := range text {
		if characters == 0 {
			return at
		}
		characters--
	}
	return len(text)
}

type finder struct {
	text  string
	spans map[int]span
	calls []Call
}

// span is where a call stands in the text.
type span struct{ start, open, end, position int }

func (f *finder) statement(st *parser.Statement, offset int) (err error) {
	inFrom := map[*pg_query.FuncCall]*pg_query.RangeFunction{}
	before := len(f.calls)
	var info *pg_query.FuncCall
	parser.Walk(st.Node, func(m proto.Message) bool {
		if r, ok := m.(*pg_query.RangeFunction); ok && !r.Ordinality && !r.IsRowsfrom && len(r.Coldeflist) == 0 && len(r.Functions) == 1 {
			if call := r.Functions[0].GetList().GetItems(); len(call) > 0 && call[0].GetFuncCall() != nil {
				inFrom[call[0].GetFuncCall()] = r
			}
		}
		c, ok := m.(*pg_query.FuncCall)
		if ok && called(c) == "page_info" {
			info = c
		}
		if !ok || err != nil || nameOf(c) == "" {
			return err == nil
		}
		at, known := f.spans[offset+int(c.Location)]
		r := inFrom[c]
		switch {
		case !known:
			err = refuse(at, "sluice.%s cannot be told from other names in the text", nameOf(c))
		case r == nil && nameOf(c) != "open_cursor":
			err = pgerr.Hint(refuse(at, "sluice.%s must stand in a FROM clause, alone", nameOf(c)),
				"SELECT … FROM sluice.%s(…) AS p, without ROWS FROM, WITH ORDINALITY and column definitions.", nameOf(c))
		case !expands(st.Node.Stmt):
			err = pgerr.Hint(refuse(at, "sluice.%s cannot be part of what a statement defines", nameOf(c)),
				"Call it in the statements that read pages, not in a view, rule or function.")
		default:
			err = f.add(c, r, at)
		}
		return err == nil
	})
	if at := offset + int(info.GetLocation()); err == nil && info != nil && len(f.calls) > before {
		return pgerr.Hint(refuse(span{position: utf8.RuneCountInString(f.text[:at]) + 1}, "sluice.page_info stands in the statement that reads the page"),
			"Which comes first is not said: call it in a statement of its own, or look whether page_token is NULL in the last row.")
	}
	return err
}

func (f *finder) add(c *pg_query.FuncCall, r *pg_query.RangeFunction, at span) error {
	call := Call{Function: nameOf(c), Start: at.start, Open: at.open, End: at.end, Position: at.position, Alias: r == nil || r.Alias != nil, Args: map[string]*pg_query.Node{}}
	if c.AggStar || c.AggDistinct || c.FuncVariadic || c.Over != nil || c.AggFilter != nil || len(c.AggOrder) > 0 {
		return refuse(at, "sluice.%s is a plain function", call.Function)
	}
	list := names[call.Function]
	for i, a := range c.Args {
		name := ""
		if n := a.GetNamedArgExpr(); n != nil {
			name, a = n.Name, n.Arg
		} else if i < len(list) {
			name = list[i]
		}
		if _, twice := call.Args[name]; twice || !slices.Contains(list, name) {
			e := pgerr.New("42883", "function sluice.%s does not exist with these arguments", call.Function)
			e.Position = int32(at.position)
			return pgerr.Hint(e, "Its arguments are: %s.", strings.Join(list, ", "))
		}
		call.Args[name] = a
	}
	f.calls = append(f.calls, call)
	return nil
}

// nameOf returns the name of the function that is called if it is one of ours, else an empty one.
func nameOf(c *pg_query.FuncCall) string {
	name := called(c)
	if names[name] == nil {
		return ""
	}
	return name
}

// called returns the name of the function of schema sluice that is called, an empty one for any other.
func called(c *pg_query.FuncCall) string {
	if len(c.Funcname) != 2 || c.Funcname[0].GetString_().GetSval() != "sluice" {
		return ""
	}
	return c.Funcname[1].GetString_().GetSval()
}

// expands reports whether a statement is of a kind that is run as it stands, and kept nowhere.
func expands(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_SelectStmt, *pg_query.Node_InsertStmt, *pg_query.Node_UpdateStmt, *pg_query.Node_DeleteStmt, *pg_query.Node_MergeStmt,
		*pg_query.Node_CopyStmt:
		return true
	case *pg_query.Node_DeclareCursorStmt:
		return true
	case *pg_query.Node_CreateTableAsStmt:
		return n.CreateTableAsStmt.Objtype != pg_query.ObjectType_OBJECT_MATVIEW
	case *pg_query.Node_ExplainStmt:
		return expands(n.ExplainStmt.Query)
	case *pg_query.Node_PrepareStmt:
		return expands(n.PrepareStmt.Query)
	}
	return false
}

// spans finds the calls by their tokens, from the name to the closing parenthesis.
func spans(text string) (list []span) {
	result, err := pg_query.Scan(text)
	if err != nil {
		return nil
	}
	var tokens []*pg_query.ScanToken
	for _, t := range result.Tokens {
		if t.Token != pg_query.Token_SQL_COMMENT && t.Token != pg_query.Token_C_COMMENT {
			tokens = append(tokens, t)
		}
	}
	word := func(i int) string {
		if i >= len(tokens) {
			return ""
		}
		return identifier(text[tokens[i].Start:tokens[i].End])
	}
	for i := range tokens {
		if word(i) != "sluice" || word(i+1) != "." || names[word(i+2)] == nil || word(i+3) != "(" || i > 0 && word(i-1) == "." {
			continue
		}
		depth := 0
		for j := i + 3; j < len(tokens); j++ {
			switch word(j) {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				list = append(list, span{int(tokens[i].Start), int(tokens[i+3].Start), int(tokens[j].End), utf8.RuneCountInString(text[:tokens[i].Start]) + 1})
				break
			}
		}
	}
	return list
}

// identifier decodes a token that is a name; of others it makes nothing that is one of ours.
func identifier(token string) string {
	if len(token) > 1 && token[0] == '"' {
		return strings.ReplaceAll(token[1:len(token)-1], `""`, `"`)
	}
	return strings.ToLower(token)
}

// refuse is an error at a call.
func refuse(at span, format string, args ...any) *pgconn.PgError {
	e := pgerr.New(pgerr.FeatureNotSupported, format, args...)
	e.Position = int32(at.position)
	return e
}

// Fixed reports whether an expression is the same for all rows: it has no columns and no sub-selects, and calls nothing of ours.
func Fixed(n *pg_query.Node) bool {
	fixed := true
	parser.Walk(n, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.ColumnRef, *pg_query.SubLink:
			fixed = false
		case *pg_query.FuncCall:
			fixed = fixed && nameOf(n) == ""
		}
		return fixed
	})
	return fixed
}
