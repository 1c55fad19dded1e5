// Package trinotest gives tests a Trino: the engine's own jars from Maven Central, run as its packages run them, one server for a test
// process and its children. Catalogs are tpch, memory and, by Server.Postgres, databases of a Postgres.
//
// Trino's connector to Postgres is not among the artifacts that can be relied on: java/ has a small one over Trino's library for
// JDBC.
//
// The one rule: where Maven, a registry or Java 25 is missing, tests that need a server are skipped, and say why.
package trinotest
