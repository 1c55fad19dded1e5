// Package page turns calls of sluice.page and its kin in the text of a statement into sub-selects over the query that they
// name: Find finds the calls, Read a query's order and tables, and Query.Expand, given Facts of home, prints the sub-select.
// What it prints reads no more rows than a page has, and one, where an index has the order; tokens are made and checked by
// functions of the extension.
//
// The one rule: what is printed yields each row of the query once over all pages, whatever is NULL, or an error.
package page
