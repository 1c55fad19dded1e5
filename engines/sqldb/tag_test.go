package sqldb

import (
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestTag shows at MariaDB for whom a statement runs, and does not change what it means, to SQLite either.
func TestTag(t *testing.T) {
	tag := engines.Tag{Role: "*/ x", ID: "ab-1"}
	for e, sql := range map[*Engine]string{
		open(t, maria(t)): "SELECT info FROM information_schema.processlist WHERE id = CONNECTION_ID()",
		open(t, lite(t)):  "SELECT 'ab-1 role=%2A%2F%20x'",
	} {
		s, err := e.Open(t.Context(), engines.Query{SQL: sql, Tag: tag})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.(*stream).texts(t.Context())
		if err != nil || len(rows) != 1 || !strings.Contains(*rows[0][0], "role=%2A%2F%20x") || !strings.Contains(*rows[0][0], "ab-1") {
			t.Errorf("%v: %v", rows, err)
		}
		_ = s.Close()
	}
}
