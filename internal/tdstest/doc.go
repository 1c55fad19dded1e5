// Package tdstest stands in for a SQL Server in tests: it speaks TDS 7.4, without TLS, and has a Postgres compute what it is asked.
// Statements are T-SQL as this project writes it; what T-SQL does not know is refused (error 102), and so is a statement in a session
// whose settings were not made, or have been taken back.
//
// The one rule: rows go to the client as Postgres sends them, and an attention signal ends the statement there.
//
// Messages are those of the specification MS-TDS; its sections are named where they are read or written.
package tdstest
