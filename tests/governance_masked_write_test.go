package tests

import (
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestMaskedWrites lets a role write to a table some of whose columns it may not see as they are.
func TestMaskedWrites(t *testing.T) {
	onBothEngines(t, map[string]string{"pii": "SELECT * FROM " + pii, "kept": "SELECT 9 AS id, '' AS email"}, writeMasked)
}

func writeMasked(t *testing.T, direct, through, server string) {
	const role = "gow_masked"
	exec(t, direct, "CREATE SCHEMA fx", "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT USAGE ON SCHEMA fx TO "+role)
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	exec(t, through, writable(server), "CREATE FOREIGN TABLE fx.pii (id int, email text, ssn text, region text DEFAULT 'eu') SERVER "+server,
		"CREATE FOREIGN TABLE fx.kept (id int, email text) SERVER "+server, "GRANT ALL ON fx.pii, fx.kept TO "+role,
		"SELECT sluice.set_column_mask('fx.pii', 'email', 'left(email, 1) || ''***''')",
		"SELECT sluice.set_column_mask('fx.pii', 'ssn', 'NULL::text')")
	conn, owner := connect(t, through), connect(t, through)
	exec1(t, conn, "SET ROLE "+role)
	refused := `0A000 cannot read masked column "email" of foreign table "pii" in a statement that writes to it`
	all := func(answer string) {
		t.Helper()
		want(t, owner, "SELECT string_agg(concat_ws(',', id, email, ssn, region), ' ' ORDER BY id) FROM fx.pii", answer)
	}
	const before = "1,ann@x.io,111-11-1111,eu 2,bob@x.io,222-22-2222,us 3,333-33-3333,us"
	for _, step := range []struct{ sql, answer, after string }{
		{"INSERT INTO fx.pii VALUES (4, 'dan@x.io', '4') RETURNING id, region", "4|eu; INSERT 0 1", before + " 4,dan@x.io,4,eu"},
		{"INSERT INTO fx.pii VALUES (4, 'dan@x.io', '4') RETURNING *", refused, before},
		{"INSERT INTO fx.pii AS p VALUES (4, 'dan@x.io', '4') RETURNING p", refused, before},
		{"INSERT INTO fx.pii SELECT id + 10, email, ssn, region FROM fx.pii WHERE email = 'b***'", "INSERT 0 1", before + " 12,b***,us"},
		{"INSERT INTO fx.pii (id) SELECT id + 10 FROM fx.pii WHERE email = 'bob@x.io'", "INSERT 0 0", before},
		{"UPDATE fx.pii SET region = 'de' WHERE id = 2", "UPDATE 1", "1,ann@x.io,111-11-1111,eu 2,bob@x.io,222-22-2222,de 3,333-33-3333,us"},
		{"UPDATE fx.pii SET email = 'new@x.io', ssn = DEFAULT WHERE id = 2 RETURNING id", "2; UPDATE 1", "1,ann@x.io,111-11-1111,eu 2,new@x.io,us 3,333-33-3333,us"},
		{"UPDATE fx.pii SET region = email", refused, before},
		{"UPDATE fx.pii SET region = 'x' WHERE email LIKE 'bob%'", refused, before},
		{"UPDATE fx.pii p SET region = 'x' WHERE p IS NOT NULL", refused, before},
		{"UPDATE fx.pii SET region = 'x' RETURNING to_jsonb(pii)", refused, before},
		{"UPDATE fx.pii SET region = k.email FROM fx.kept k WHERE k.id = pii.id + 8", "UPDATE 1", "1,ann@x.io,111-11-1111, 2,bob@x.io,222-22-2222,us 3,333-33-3333,us"},
		{"UPDATE fx.pii SET region = q.email FROM fx.pii q WHERE q.id = pii.id AND pii.id = 1", "UPDATE 1", "1,ann@x.io,111-11-1111,a*** 2,bob@x.io,222-22-2222,us 3,333-33-3333,us"},
		{"DELETE FROM fx.pii WHERE email = 'bob@x.io'", refused, before},
		{"DELETE FROM fx.pii WHERE id = 1 RETURNING *", refused, before},
		{"DELETE FROM fx.pii WHERE region = 'us' RETURNING id", "2; 3; DELETE 2", "1,ann@x.io,111-11-1111,eu"},
		{"DELETE FROM fx.pii USING fx.kept k WHERE k.id = pii.id", "DELETE 0", before},
		{"WITH w AS (SELECT * FROM fx.pii) UPDATE fx.pii SET region = w.ssn FROM w WHERE w.id = pii.id", "UPDATE 3", "1,ann@x.io,111-11-1111 2,bob@x.io,222-22-2222 3,333-33-3333"},
		{"UPDATE fx.pii SET id = id + 1 WHERE id = 3", "UPDATE 1", "1,ann@x.io,111-11-1111,eu 2,bob@x.io,222-22-2222,us 4,333-33-3333,us"},
		{"TRUNCATE fx.pii", "TRUNCATE TABLE", "NULL"},
	} {
		if got := says(t, conn, step.sql); got != step.answer {
			t.Errorf("%s: %s, want %s", step.sql, got, step.answer)
		}
		all(step.after)
		exec1(t, owner, "TRUNCATE fx.pii; INSERT INTO fx.pii SELECT * FROM "+pii)
	}
	if got := copied(t, conn, "COPY fx.pii (id, email, ssn) FROM STDIN"); got != "COPY 1\n" {
		t.Errorf("COPY FROM: %s", got)
	}
	all(before + " 9,alice,8,eu")
}

// TestGovernedWriteErrors lets engine and home refuse rows that the role does not see, or may not see as they are.
func TestGovernedWriteErrors(t *testing.T) {
	const role = "gow_curious"
	for _, engine := range []string{"duckdb", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			var direct, through, server string
			if engine == "duckdb" {
				w := newWorld(t, "CREATE TABLE item (id INTEGER PRIMARY KEY, owner VARCHAR, code VARCHAR)", "INSERT INTO item VALUES (1, 'x', 'seen'), (2, 'zoe', 'hidden!')")
				direct, through, server = w.direct, w.through, "lake"
			} else {
				home := hometest.Start(t)
				other := ""
				direct, other = hometest.Database(t, home), hometest.Database(t, home)
				exec(t, other, "CREATE TABLE item (id int PRIMARY KEY, owner text, code text)", "INSERT INTO item VALUES (1, 'x', 'seen'), (2, 'zoe', 'hidden!')")
				through, server = postgresProxy(t, direct), "other"
				exec(t, through, otherServer(t, other, "")...)
			}
			exec(t, direct, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role)
			t.Cleanup(func() { exec(t, direct, "DROP OWNED BY "+role, "DROP ROLE "+role) })
			exec(t, through, writable(server), "CREATE FOREIGN TABLE item (id int, owner text, code text CONSTRAINT sound CHECK (code !~ '!')) SERVER "+server, "GRANT ALL ON item TO "+role)
			conn := connect(t, through)
			for _, rule := range []string{
				"CREATE POLICY own ON item USING (owner = 'x'); ALTER TABLE item ENABLE ROW LEVEL SECURITY",
				"ALTER TABLE item DISABLE ROW LEVEL SECURITY; SECURITY LABEL FOR sluice ON COLUMN item.code IS 'MASKED WITH VALUE ''***'''",
			} {
				exec1(t, conn, rule)
				exec1(t, conn, "SET ROLE "+role)
				for _, step := range [][2]string{
					{"INSERT INTO item VALUES (2, 'x', 'mine')", "23505"}, {"UPDATE item SET id = 2 WHERE id = 1", "23505"}, {"INSERT INTO item VALUES (2, 'x', 'mine') ON CONFLICT DO NOTHING", "\nINSERT 0 0"},
					{"UPDATE item SET owner = 'x'", "23514"}, {"INSERT INTO item VALUES (3, 'x', 'a!')", "23514"},
				} {
					got := answer(t, conn, step[0])
					if !strings.HasPrefix(got, step[1]) || strings.Contains(got, "hidden") || strings.Contains(got, "zoe") || strings.Contains(got, "=(2)") {
						t.Errorf("%s: %s", step[0], got)
					}
				}
				for _, sql := range []string{"EXPLAIN UPDATE item SET owner = 'x' WHERE id = 7", "EXPLAIN (ANALYZE) DELETE FROM item"} {
					if got := answer(t, conn, sql); strings.Contains(got, "rows=") || !strings.Contains(got, "not shown") && !strings.Contains(got, "0A000") {
						t.Errorf("%s: %s", sql, got)
					}
				}
				exec1(t, conn, "RESET ROLE")
			}
		})
	}
}
