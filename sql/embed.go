package sql

import "embed"

// FS holds the scripts in its root. fs.ReadDir yields them in the order in which they run.
//
//go:embed *.sql
var FS embed.FS
