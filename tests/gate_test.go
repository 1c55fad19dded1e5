package tests

import (
	"strings"
	"testing"
)

// TestGates has home compute statements over servers that cannot be reached, below conditions that hang on no row and are not true.
// Where they are true, the servers are asked.
func TestGates(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g",
		"CREATE SERVER gone FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '/nowhere/gone.duckdb')", "CREATE FOREIGN TABLE gone (id int, name text) SERVER gone")
	conn := connect(t, w.through)
	exec1(t, conn, "SET sluice.route = 'home_join'")
	for sql, want := range map[string]string{
		"SELECT * FROM gone WHERE 1 = 0":                                                               "SELECT 0",
		"SELECT count(*), max(name) FROM gone WHERE NULL":                                              "0|NULL",
		"SELECT h.id FROM h JOIN gone g ON g.id = h.id AND 2 < ALL (ARRAY[1])":                         "58P01",
		"SELECT h.id, g.name FROM h LEFT JOIN gone g ON g.id = h.id AND 'a' = 'b' ORDER BY 1":          "1|NULL\n2|NULL\n3|NULL",
		"SELECT h.id, g.name FROM gone g RIGHT JOIN h ON g.id = h.id AND 2 BETWEEN 3 AND 4 ORDER BY 1": "1|NULL\n2|NULL\n3|NULL",
		"SELECT g.name FROM gone g LEFT JOIN h ON false":                                               "58P01",
		"SELECT g.name FROM gone g FULL JOIN h ON false":                                               "58P01",
		"SELECT * FROM (SELECT id, count(*) FROM gone GROUP BY 1) x WHERE '1'::int > 2":                "SELECT 0",
		"SELECT id FROM h WHERE id IN (SELECT id FROM gone) AND false":                                 "SELECT 0",
		"SELECT count(*), (SELECT max(id) FROM gone) FROM item WHERE false":                            "58P01",
		"SELECT id FROM h UNION ALL SELECT id FROM gone WHERE md5('a') = 'a' ORDER BY 1":               "1\n2\n3",
		"SELECT id FROM gone WHERE 1 = 1":                                                              "58P01",
		"SELECT id FROM gone WHERE random() > 2":                                                       "58P01",
		"SELECT count(*) FROM gone a, item b WHERE a.id = 1 AND 1 = 0":                                 "0",
		"SELECT count(*) FROM gone a WHERE false UNION ALL SELECT count(*) FROM gone b":                "58P01",
		"WITH c AS (SELECT * FROM gone) SELECT id FROM c WHERE false":                                  "58P01",
		"WITH c AS (SELECT * FROM gone WHERE false) SELECT count(*) FROM c":                            "0",
	} {
		if got := rows(t, conn, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	text := rows(t, conn, "EXPLAIN SELECT * FROM gone WHERE 1 = 0 AND id > 2")
	if want := "\n        One-Time Filter: 1 = 0\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	got, err := conn.Query(t.Context(), "SELECT id FROM gone WHERE $1", false)
	if err == nil {
		for got.Next() {
			t.Error("a row that there is not")
		}
		err = got.Err()
	}
	if err != nil {
		t.Error(err)
	}
}
