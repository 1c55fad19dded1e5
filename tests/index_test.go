package tests

import "testing"

// TestProbedInput has home look up rows of an input by a short key, by two, and by one longer than a btree takes.
func TestProbedInput(t *testing.T) {
	w := newWorld(t, "CREATE TABLE long AS SELECT i::INTEGER AS i, i % 7 AS j, repeat('x', 5000) || i AS k FROM range(2000) r (i)")
	exec(t, w.through, "CREATE FOREIGN TABLE long (i int, j bigint, k text) SERVER lake")
	conn := connect(t, w.through)
	exec1(t, conn, "SET sluice.route = home_join")
	for condition, index := range map[string]string{
		"b.i = a.i":               "USING hash (i)",
		"b.i = a.i AND b.j = a.j": "USING btree (i, j)",
		"b.k = a.k":               "USING hash (k)",
	} {
		exec1(t, conn, "BEGIN") // within it, the tables of its last statement stay
		for _, q := range [][2]string{
			{"SELECT count(*) FROM long a WHERE EXISTS (SELECT 1 FROM long b WHERE " + condition + ")", "2000"},
			{"SELECT substring(indexdef FROM 'USING.*') FROM pg_indexes WHERE schemaname LIKE 'pg\\_temp\\_%'", index},
		} {
			var got string
			if err := conn.QueryRow(timed(t), q[0]).Scan(&got); err != nil || got != q[1] {
				t.Errorf("%s: got %q (%v), want %q", q[0], got, err, q[1])
			}
		}
		exec1(t, conn, "COMMIT")
	}
}
