// Package plan decides who computes a statement: home alone, one engine (remote), the federation engine over inputs of
// several engines and of home (federated), or home over inputs that engines ship to it (home_join). A Plan is that
// decision with the SQL for each side; Build makes one from a parsed statement, what home said about it, and the catalog
// snapshot.
//
// The one rule: only what is proven to give Postgres' answer is shipped to an engine; everything else is evaluated at home.
package plan
