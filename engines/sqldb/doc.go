// Package sqldb is the engine behind the foreign-data wrappers sluice_sql and sluice_mssql: databases that Go has a database/sql driver for.
// MySQL, with MariaDB, SQLite and SQL Server are there; docs/adding-an-engine.md says how one more is added.
//
// A kind of database is a source: one file that connects, one that knows types, and a dialect in parser/dialect. All else
// is shared: an Engine keeps connections, a stream reads rows from the driver one by one and makes batches of them, a
// column brings values to the type that home has for them.
//
// Drivers are used by database/sql/driver, without database/sql itself: rows are not copied on the way, and whoever opens
// a statement knows its connection, which it takes to cancel it.
//
// The one rule: a value that the column's type at home does not hold is an error that names the column. Nothing is rounded,
// cut or read as NULL, but that a time finer than a microsecond is rounded as Postgres rounds it.
package sqldb
