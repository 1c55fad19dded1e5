package duckdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestVerify compares what DuckDB knows of a table with its rows, which it reads for that, where some are deleted and several writers
// have been there.
func TestVerify(t *testing.T) {
	e := database(t, map[string]string{"read_only": "false"}, "CREATE TABLE t (a BIGINT, b VARCHAR)", "INSERT INTO t SELECT range, NULL FROM range(300000)",
		"DELETE FROM t WHERE a % 3 = 0", "INSERT INTO t VALUES (NULL, NULL), (1, 'x')")
	target := engines.Target{Relation: "t", Schema: "main"}
	for _, repair := range []bool{false, true} {
		v, err := e.(engines.Counter).Verify(t.Context(), target, repair)
		if err != nil || v.Stored == nil || fmt.Sprint(*v.Stored, v.Actual, v.Repaired) != "200002 200002 false" {
			t.Errorf("%v: %v", v, err)
		}
	}
	c, err := e.(*Engine).connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.disconnect()
	rows, err := c.texts(t.Context(), fmt.Sprintf("EXPLAIN SELECT "+verifyRead, relation(target)))
	if err != nil {
		t.Fatal(err)
	}
	if plan := *rows[0][1]; !strings.Contains(plan, "hash") || !strings.Contains(plan, "SEQ_SCAN") {
		t.Errorf("the rows are not read:\n%s", plan)
	}
}
