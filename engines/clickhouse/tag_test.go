package clickhouse

import (
	"regexp"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestTag shows at the server for whom a statement runs, by its ID and in a comment.
func TestTag(t *testing.T) {
	overEach(t, checkTag)
}

func checkTag(t *testing.T, s engines.Server) {
	rows, err := open(t, s).Open(t.Context(), engines.Query{SQL: "SELECT query_id, query FROM system.processes WHERE query LIKE '%' || 'own' || '%'", Tag: engines.Tag{Role: "*/ x", ID: "ab-1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	b, err := rows.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	record := b.(engines.Columns).Record
	got := record.Column(0).ValueStr(0) + "|" + record.Column(1).ValueStr(0)
	if !regexp.MustCompile(`^ab-1-[0-9a-f]{8}\|/\* sluice role=%2A%2F%20x id=ab-1 \*/ SELECT`).MatchString(got) {
		t.Errorf("%s", got)
	}
}
