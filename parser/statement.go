package parser

import (
	"errors"
	"strings"
	"unicode/utf8"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/pgerr"
)

// treeVersion is the version of Postgres' grammar that trees carry and Deparse demands.
const treeVersion = 170007

// Statement is one statement of a query text, parsed by Postgres' grammar. Its tree is shared and must not be changed;
// Clone makes one that may be.
type Statement struct {
	Text   string            // the statement alone, as the client wrote it, without the semicolon
	Source string            // the query text that it stands in
	Start  int               // how many characters of the query text stand before it
	Node   *pg_query.RawStmt // locations count from the start of Text
	Kind   Kind

	// General, where it is not empty, is the text that Node was parsed from instead, and Values are what its parameters
	// stand for.
	General string
	Values  []string

	relations []Relation // of the tree as it was parsed; nil of a clone
}

// Parse parses a query text into its statements; empty ones are left out. A syntax error is a *pgconn.PgError with its
// position.
func Parse(text string) ([]*Statement, error) {
	if list, ok := cache.Get(text); ok {
		return list, nil
	}
	tree, err := pg_query.Parse(text)
	if err != nil {
		return nil, syntaxError(err)
	}
	var list []*Statement
	for _, raw := range tree.Stmts {
		start := int(raw.StmtLocation)
		end := len(text)
		if raw.StmtLen > 0 {
			end = start + int(raw.StmtLen)
		}
		if start > 0 { // locations must count from the statement's own start
			part, err := pg_query.Parse(text[start:end])
			if err != nil || len(part.Stmts) != 1 {
				return nil, syntaxError(err)
			}
			raw = part.Stmts[0]
		}
		raw.StmtLen = 0
		st := newStatement(strings.TrimRight(text[start:end], " \t\r\n;"), raw)
		st.Source, st.Start = text, utf8.RuneCountInString(text[:start])
		list = append(list, st)
	}
	cache.Put(text, list, len(text))
	return list, nil
}

func newStatement(text string, raw *pg_query.RawStmt) *Statement {
	return &Statement{Text: text, Node: raw, Kind: kindOf(raw.Stmt), relations: relationsOf(raw.Stmt)}
}

func syntaxError(err error) error {
	var pe *parser.Error
	if !errors.As(err, &pe) {
		return pgerr.New(pgerr.SyntaxError, "syntax error")
	}
	e := pgerr.New(pgerr.SyntaxError, "%s", pe.Message)
	e.Position = int32(pe.Cursorpos)
	return e
}

// Inner returns the statement that an EXPLAIN, PREPARE, DECLARE CURSOR, COPY or CREATE TABLE AS is about, nil for any other.
func (s *Statement) Inner() (*Statement, error) {
	var node *pg_query.Node
	switch n := s.Node.Stmt; {
	case n.GetExplainStmt() != nil:
		node = n.GetExplainStmt().Query
	case n.GetPrepareStmt() != nil:
		node = n.GetPrepareStmt().Query
	case n.GetDeclareCursorStmt() != nil:
		node = n.GetDeclareCursorStmt().Query
	case n.GetCopyStmt() != nil:
		node = n.GetCopyStmt().Query
	case n.GetCreateTableAsStmt() != nil:
		node = n.GetCreateTableAsStmt().Query
	}
	if node == nil {
		return nil, nil
	}
	return FromNode(&pg_query.RawStmt{Stmt: node})
}

// InnerText returns the text between the first parentheses of the statement, as the client wrote it, and how many
// characters stand before it: of COPY (query) TO the query.
func (s *Statement) InnerText() (text string, offset int, ok bool) {
	if s.Node.Stmt.GetCopyStmt().GetQuery() == nil {
		return "", 0, false
	}
	begin, end, ok := Parentheses(s.Text)
	if !ok {
		return "", 0, false
	}
	return s.Text[begin+1 : end-1], utf8.RuneCountInString(s.Text[:begin+1]), true
}

// Parentheses returns where the first parentheses of a text begin and end, their own characters within.
func Parentheses(text string) (begin, end int, ok bool) {
	result, err := pg_query.Scan(text)
	if err != nil {
		return 0, 0, false
	}
	depth := 0
	for _, t := range result.Tokens {
		switch t.Token {
		case pg_query.Token_ASCII_40: // (
			if depth == 0 {
				begin = int(t.Start)
			}
			depth++
		case pg_query.Token_ASCII_41: // )
			depth--
			if depth == 0 {
				return begin, int(t.End), true
			}
		}
	}
	return 0, 0, false
}

// Arguments returns the arguments of the EXECUTE that the statement is or is made from, parentheses included, as the client
// wrote them, and how many characters stand before them.
func (s *Statement) Arguments() (text string, offset int, ok bool) {
	result, err := pg_query.Scan(s.Text)
	if err != nil {
		return "", 0, false
	}
	depth, start, tokens := 0, -1, result.Tokens
	for i, t := range tokens {
		switch {
		case start < 0 && (i < 2 || t.Token != pg_query.Token_ASCII_40 || tokens[i-2].Token != pg_query.Token_EXECUTE):
		case t.Token == pg_query.Token_ASCII_40: // (
			if start < 0 {
				start = int(t.Start)
			}
			depth++
		case t.Token == pg_query.Token_ASCII_41: // )
			if depth--; depth == 0 {
				return s.Text[start:t.End], utf8.RuneCountInString(s.Text[:start]), true
			}
		}
	}
	return "", 0, false
}

// FromNode makes a statement of a tree, its text deparsed.
func FromNode(raw *pg_query.RawStmt) (*Statement, error) {
	text, err := Deparse(raw)
	if err != nil {
		return nil, err
	}
	list, err := Parse(text)
	if err != nil || len(list) != 1 {
		return nil, pgerr.New(pgerr.InternalError, "a statement reads differently once printed: %s", text)
	}
	return list[0], nil
}

// Deparse prints a tree as SQL.
func Deparse(raw *pg_query.RawStmt) (string, error) {
	raw = proto.Clone(raw).(*pg_query.RawStmt)
	raw.StmtLocation, raw.StmtLen = 0, 0
	printed := proto.Clone(raw).(*pg_query.RawStmt)
	parenthesize(printed)
	text, err := pg_query.Deparse(&pg_query.ParseResult{Version: treeVersion, Stmts: []*pg_query.RawStmt{printed}})
	if err != nil {
		return "", pgerr.New(pgerr.InternalError, "a statement cannot be printed: %v", err)
	}
	again, err := pg_query.Parse(text)
	if err != nil || len(again.Stmts) != 1 || !Same(raw, again.Stmts[0]) {
		return "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the statement cannot be rewritten without changing its meaning: %s", text),
			"Write it with fewer nested conditions, or read the foreign table in a CTE of its own.")
	}
	return text, nil
}

// DeparseList prints expressions, separated by commas.
func DeparseList(list []*pg_query.Node) (string, error) {
	targets := make([]*pg_query.Node, len(list))
	for i, n := range list {
		targets[i] = pg_query.MakeResTargetNodeWithVal(n, -1)
	}
	sel := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: &pg_query.SelectStmt{
		TargetList: targets, LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}}}
	text, err := Deparse(&pg_query.RawStmt{Stmt: sel})
	return strings.TrimPrefix(text, "SELECT "), err
}
