package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Statement is one question, with {s} where the schema goes.
type Statement struct {
	Pos     string // file:line
	SQL     string
	Params  []*string // text form; nil for a statement without
	Ordered bool      // the statement says in which order its rows come
	Setting bool      // SET or RESET: for the statements that follow, and not a question
	// Generated statements may have constants that Postgres folds: modifiers that only a plan brings out are not compared.
	Generated bool
	// Free says that a plan decides whether an error shows that a row's values raise: which rows an expression comes to,
	// Postgres does not promise for joins, sub-selects, AND, OR and LIMIT.
	Free bool
	Form int // the one form of the protocol to ask in, from 1; 0 for each of them
}

// Load reads a file of statements. A statement ends with a semicolon at the end of a line. A line "-- params: [JSON]"
// before a statement gives its parameters, other comments and empty lines between statements are skipped.
func Load(path string) ([]Statement, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []Statement
	var current Statement
	var lines []string
	for i, line := range strings.Split(string(text), "\n") {
		trimmed := strings.TrimSpace(line)
		if params, ok := strings.CutPrefix(trimmed, "-- params:"); ok {
			if err := json.Unmarshal([]byte(params), &current.Params); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
			continue
		}
		if len(lines) == 0 && (trimmed == "" || strings.HasPrefix(trimmed, "--")) {
			continue
		}
		if len(lines) == 0 {
			current.Pos = fmt.Sprintf("%s:%d", path, i+1)
		}
		lines = append(lines, line)
		if strings.HasSuffix(trimmed, ";") {
			current.SQL = strings.TrimSuffix(strings.TrimSpace(strings.Join(lines, "\n")), ";")
			current.classify()
			all = append(all, current)
			current, lines = Statement{}, nil
		}
	}
	if len(lines) > 0 {
		return nil, fmt.Errorf("%s: the statement is not ended by a semicolon", current.Pos)
	}
	return all, nil
}

// classify finds out whether the order of rows is part of the answer.
func (s *Statement) classify() {
	tree, err := pg_query.Parse(s.in("plain"))
	if err != nil || len(tree.Stmts) != 1 {
		s.Ordered = true
		return
	}
	switch n := tree.Stmts[0].Stmt.Node.(type) {
	case *pg_query.Node_SelectStmt:
		s.Ordered = len(n.SelectStmt.SortClause) > 0
	case *pg_query.Node_VariableSetStmt:
		s.Setting = true
	case *pg_query.Node_InsertStmt, *pg_query.Node_UpdateStmt, *pg_query.Node_DeleteStmt:
	default:
		s.Ordered = true
	}
}

// in returns the statement over the tables of a schema.
func (s *Statement) in(schema string) string { return strings.ReplaceAll(s.SQL, "{s}", schema) }
