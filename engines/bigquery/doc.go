// Package bigquery is the engine behind the foreign-data wrapper sluice_bigquery: tables of Google BigQuery, asked by jobs of its
// REST API, version 2 (https://cloud.google.com/bigquery/docs/reference/rest), and read by its Storage Read API.
//
// A Wrapper opens an Engine for one server. A statement is a job, which has written its whole result into a table of its own when it
// has ended; a stream reads that table as record batches of Arrow, by one or a few streams of rows. What it reads becomes the
// types that home has for the columns, or is refused by name.
//
// The one rule: a stream of rows is received message by message, as the rows are asked for, and it has ended only where the
// service says so: what breaks off is taken up at the row where it broke, a few times, and is an error else.
package bigquery
