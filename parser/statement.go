package parser

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// Kind groups statements by what Sluice does with them.
type Kind int

// Statement is one statement of a query text, parsed by Postgres' grammar.
type Statement struct {
	Text string            // the statement alone, as the client wrote it, without the semicolon
	Node *pg_query.RawStmt // locations count from the start of Text
	Kind Kind
}
