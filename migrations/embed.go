package migrations

import "embed"

// FS holds the migrations, NNNNNN_name.up.sql and NNNNNN_name.down.sql, in its root.
//
//go:embed *.sql
var FS embed.FS
