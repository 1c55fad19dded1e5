// Package databricks reads SQL warehouses of Databricks by the SQL Statement Execution API, version 2.0
// (https://docs.databricks.com/api/workspace/statementexecution).
//
// A Wrapper opens an Engine for one server. The client sends requests and bears the credentials. A statement is one that
// the warehouse was told to execute: it is asked after until it has ended. A stream then reads its result, which lies in files
// of Arrow's stream format, one after another by links that expire.
//
// The one rule: one file is read at a time, and from its network connection, so that what is held is a record batch.
package databricks
