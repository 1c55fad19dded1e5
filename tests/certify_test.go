package tests

import (
	"strings"
	"testing"
)

// TestCertify certifies a server, and lets it be asked to stream only then.
func TestCertify(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	conn := connect(t, w.through)
	want(t, conn, "ALTER SERVER lake OPTIONS (ADD stream 'required')", "55000")
	want(t, conn, "ALTER SERVER lake OPTIONS (ADD stream 'perhaps')", "22023")
	want(t, conn, w.server("other", ", stream 'required'"), "55000")
	want(t, conn, "SELECT * FROM sluice.certify('nope')", "42704")
	want(t, conn, "SELECT (sluice.certify('lake')).server", "0A000")
	want(t, conn, "SELECT terminal, capability, certified_at IS NOT NULL, starts_with(version, 'DuckDB v1') FROM sluice.certify('lake')",
		"row|stream|t|t\nrow|cancel|t|t\nrow|errors|t|t\nrow|interleave|t|t\nrow|schema|t|t\narrow|stream|t|t\narrow|cancel|t|t\narrow|errors|t|t\narrow|interleave|t|t\narrow|schema|t|t")
	want(t, conn, "ALTER SERVER lake OPTIONS (ADD stream 'required')", "ALTER SERVER")
	want(t, conn, "SELECT count(*) FROM sluice.engine_capabilities WHERE server = 'lake'", "10")
	// It holds for the server as it was then.
	want(t, conn, "ALTER SERVER lake OPTIONS (ADD threads '1')", "55000")
	want(t, conn, "ALTER SERVER lake OPTIONS (ADD threads '1', DROP stream)", "ALTER SERVER")
	want(t, conn, "SELECT count(*) FROM sluice.engine_capabilities WHERE server = 'lake'", "0")

	exec(t, w.direct, "DROP ROLE IF EXISTS sluice_certifier", "CREATE ROLE sluice_certifier LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP ROLE sluice_certifier") })
	stranger := connect(t, strings.Replace(w.through, "postgres://postgres@", "postgres://sluice_certifier@", 1))
	want(t, stranger, "SELECT * FROM sluice.certify('lake')", "42501")
	want(t, stranger, "SELECT sluice.note_certification('lake', '[]')", "42501")
	want(t, stranger, "INSERT INTO sluice.certification SELECT 'lake', 'row', 'stream', true, now(), 'x', 'x', sluice.server_definition('lake')", "42501")
	want(t, stranger, "SELECT count(*) FROM sluice.engine_capabilities", "0")
	want(t, stranger, "DELETE FROM sluice.certification", "42501")
	want(t, conn, "DROP SERVER lake CASCADE", "DROP SERVER")
	want(t, stranger, "DELETE FROM sluice.certification", "DELETE 10")
}
