package proxy

import (
	"context"

	"github.com/sluicedb/sluice/parser/page"
	"github.com/sluicedb/sluice/pgerr"
)

// openKeyset returns the call that opens a cursor for a query, and the query.
func (s *Session) openKeyset(ctx context.Context, c *page.Call) (sql, query string, err error) {
	text, ok := constantText(c.Args["query"])
	if !ok {
		return "", "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.open_cursor must be a string constant"), "Write it out.")
	}
	q, err := s.paged(ctx, c, text)
	switch {
	case err != nil:
		return "", "", err
	case len(q.Params()) > 0:
		return "", "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.open_cursor must not have parameters"),
			"It outlives the statement: write the values out.")
	case c.Args["name"] == nil:
		return "", "", pgerr.New("42883", "function sluice.open_cursor needs a name")
	}
	name, err := pageArgument("name", c.Args["name"], "pg_catalog.text")
	ttl := "'1 day'"
	if err == nil && c.Args["ttl"] != nil {
		ttl, err = pageArgument("ttl", c.Args["ttl"], "pg_catalog.interval")
	}
	return q.Open(name, ttl, q.options), text, err
}

// nextPage returns the sub-select that yields the next page of a cursor, and its query.
func (s *Session) nextPage(ctx context.Context, c *page.Call) (sql, query string, err error) {
	name, ok := constantText(c.Args["name"])
	if !ok {
		return "", "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the name of sluice.fetch_cursor must be a string constant"),
			"Columns of the page hang on it.")
	}
	rows, err := s.Query(ctx, "SELECT sluice.cursor_query($1)", name)
	if err != nil {
		return "", "", err
	}
	q, err := s.paged(ctx, c, *rows[0][0])
	if err != nil {
		return "", "", err
	}
	sql, err = q.Fetch(q.columns, name, q.options)
	return sql, q.Text, err
}
