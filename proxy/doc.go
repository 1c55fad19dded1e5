// Package proxy is the Postgres that clients see. Server accepts connections; Session is one client and its own home
// connection, logged in as the client's role. A statement that names nothing of ours passes through as frames, in whole
// runs; a statement over foreign tables is analysed by home, planned by parser/plan and delivered by deliver.go, the one
// terminal of every result that an engine computes.
//
// A session has two goroutines. The frontend (Session.serve) reads the client, and alone writes to home. The backend
// (backend.pump) reads home and forwards to the client. The frontend writes to the client only while home owes nothing
// (takeHome), so the two never write into each other's frames. While the frontend waits for rows of a federated statement
// (federated.go), the threads of the federation engine may ask home in its place, one at a time.
//
// The one rule: what home owes is always known (wire.Replies), and the transaction status a client sees is home's own.
package proxy
