package catalog_test

import (
	"strings"
	"testing"
)

// Without foreign tables the shadow views must be information_schema's own, row for row, for everybody.
func TestShadowViewsEqual(t *testing.T) {
	s, url := installed(t)
	role(t, s, url, "looker")
	s.do(`CREATE TABLE t (a int PRIMARY KEY, b varchar(20) DEFAULT 'x', c numeric(10,2)[], d int GENERATED ALWAYS AS (a + 1) STORED);
CREATE VIEW simple AS SELECT a, b FROM t; CREATE VIEW sum AS SELECT sum(a) FROM t; CREATE VIEW checked AS SELECT * FROM t WHERE a > 1 WITH CHECK OPTION;
CREATE MATERIALIZED VIEW m AS SELECT a FROM t; CREATE DOMAIN dom AS int; CREATE TABLE parts (a dom, secret int) PARTITION BY LIST (a);
CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER trg INSTEAD OF INSERT ON sum FOR EACH ROW EXECUTE FUNCTION trg();
CREATE RULE r AS ON DELETE TO sum DO INSTEAD NOTHING; GRANT SELECT (a) ON t, parts TO looker; GRANT SELECT ON simple TO looker`)
	for _, who := range []string{"postgres", "looker"} {
		s.do("SET ROLE " + who)
		for _, view := range []string{"tables", "columns", "views"} {
			// The shadows themselves are in neither list.
			original := "SELECT * FROM information_schema." + view + " WHERE table_schema <> 'sluice_cat'"
			shadow := strings.Replace(original, "information_schema", "sluice_cat", 1)
			if n := s.value("SELECT count(*) FROM (" + original + ") x"); n == "0" {
				t.Errorf("%s sees no rows of %s", who, view)
			}
			diff := s.value("SELECT count(*) FROM ((" + original + " EXCEPT ALL " + shadow + ") UNION ALL (" + shadow + " EXCEPT ALL " + original + ")) x")
			if diff != "0" {
				t.Errorf("%s: %s rows of %s differ", who, diff, view)
			}
		}
		s.do("RESET ROLE")
	}
	columns := s.value(`SELECT count(*) FROM (
SELECT attrelid::regclass::text, attnum, attname, atttypid, atttypmod FROM pg_attribute WHERE attrelid = ANY ('{sluice_cat.tables,sluice_cat.columns,sluice_cat.views}'::regclass[])
EXCEPT SELECT replace(attrelid::regclass::text, 'information_schema', 'sluice_cat'), attnum, attname, atttypid, atttypmod FROM pg_attribute
WHERE attrelid = ANY ('{information_schema.tables,information_schema.columns,information_schema.views}'::regclass[])) x`)
	if columns != "0" {
		t.Errorf("%s columns of the shadow views differ in name, number or type", columns)
	}
}

// With a handler-less table the originals fail and the shadows must not.
func TestShadowViewsOverForeign(t *testing.T) {
	s, _ := installed(t)
	s.do(`CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database 'x');
CREATE SERVER rw FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database 'x', read_only 'false');
CREATE SERVER dir FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory 'x', read_only 'false');
CREATE FOREIGN DATA WRAPPER bare; CREATE SERVER bare FOREIGN DATA WRAPPER bare;
CREATE FOREIGN TABLE odd (a int, b text) SERVER rw OPTIONS (read_only 'perhaps');
CREATE FOREIGN TABLE shut (a int, b text) SERVER rw OPTIONS (read_only 'on'); CREATE SERVER pg FOREIGN DATA WRAPPER sluice_postgres;
CREATE FOREIGN TABLE pg (a int) SERVER pg; CREATE FOREIGN TABLE pgro (a int) SERVER pg OPTIONS (updatable 'false');
CREATE FOREIGN TABLE ro (a int, b text) SERVER lake; CREATE FOREIGN TABLE rw (a int, b text) SERVER rw;
CREATE FOREIGN TABLE dir (a int, b text) SERVER dir; CREATE FOREIGN TABLE bare (a int, b text) SERVER bare;
CREATE VIEW over AS SELECT a FROM ro; CREATE VIEW deep AS SELECT a FROM over; CREATE VIEW trig AS SELECT a FROM deep;
CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER trg INSTEAD OF INSERT OR UPDATE ON trig FOR EACH ROW EXECUTE FUNCTION trg();
CREATE VIEW ruled AS SELECT a FROM deep; CREATE RULE r AS ON DELETE TO ruled DO INSTEAD NOTHING; CREATE TABLE h (a int); CREATE VIEW hv AS TABLE h`)
	if err := s.try("SELECT * FROM information_schema.tables"); code(err) != "55000" {
		t.Errorf("information_schema.tables works by itself now (%v): are shadows still needed?", err)
	}
	for query, want := range map[string]string{
		"SELECT string_agg(table_name || ' ' || is_insertable_into || ' ' || table_type, ', ' ORDER BY table_name) FROM sluice_cat.tables WHERE table_schema = 'public'":            "bare NO FOREIGN, deep NO VIEW, dir NO FOREIGN, h YES BASE TABLE, hv YES VIEW, odd YES FOREIGN, over NO VIEW, pg YES FOREIGN, pgro NO FOREIGN, ro NO FOREIGN, ruled NO VIEW, rw YES FOREIGN, shut NO FOREIGN, trig NO VIEW",
		"SELECT string_agg(table_name || '.' || column_name, ', ' ORDER BY table_name, column_name) FROM sluice_cat.columns WHERE table_schema = 'public' AND is_updatable = 'YES'": "h.a, hv.a, odd.a, odd.b, pg.a, rw.a, rw.b",
		"SELECT string_agg(table_name || ' ' || is_trigger_insertable_into || ' ' || is_updatable, ', ' ORDER BY table_name) FROM sluice_cat.views WHERE table_schema = 'public'":   "deep NO NO, hv NO YES, over NO NO, ruled NO NO, trig YES NO",
		"SELECT string_agg(relname || ' ' || sluice_cat.pg_relation_is_updatable(oid, true), ', ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace":      "bare 0, deep 0, dir 0, h 28, hv 28, odd 28, over 0, pg 28, pgro 0, ro 0, ruled 16, rw 28, shut 0, trig 12",
		"SELECT sluice_cat.pg_relation_is_updatable(0, true)":             "0",
		"SELECT sluice_cat.pg_column_is_updatable('rw', 1::int2, false)":  "t",
		"SELECT sluice_cat.pg_column_is_updatable('rw', -1::int2, false)": "f",
		"SELECT sluice_cat.pg_column_is_updatable('ro', 1::int2, false)":  "f",
		"SELECT sluice_cat.pg_relation_is_updatable(NULL, true)":          "",
	} {
		if got := s.value(query); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
}
