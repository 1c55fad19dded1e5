// Package parser reads SQL with Postgres' own grammar (pg_query, libpg_query of Postgres 17) and says what a statement
// is and which relations it names. Concerns is the cheap test that comes first: a tokeniser in Go, no parse. Statement
// is one parsed statement.
//
// The one rule: what passes through to home is never deparsed; only statements that Sluice runs itself are.
package parser
