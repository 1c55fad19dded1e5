// Package columnar is the life of a Stream over Arrow record batches that a service sends. NewStream makes one of a Source, which
// knows where the batches come from; the stream cuts them to the size of a Batch, ends what waits when it is cancelled or
// closed, and gives errors their SQLSTATE and server.
//
// The one rule: a Source holds one record batch at a time.
package columnar
