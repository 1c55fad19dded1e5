package tests

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines/bigquery/fake"
)

// TestBigQueryPartitions reads a table that is partitioned by when rows came in, and that is read with a condition on that alone.
func TestBigQueryPartitions(t *testing.T) {
	p := fake.Start(t, "CREATE SCHEMA logs",
		`CREATE TABLE logs.hits (id BIGINT, url VARCHAR, "_PARTITIONTIME" TIMESTAMPTZ, "_PARTITIONDATE" DATE)`,
		`INSERT INTO logs.hits VALUES (1, '/a', '2024-02-28 00:00:00+00', '2024-02-28'), (2, '/b', '2024-02-29 00:00:00+00', '2024-02-29'),
		 (3, '/a', '2024-02-29 00:00:00+00', '2024-02-29'), (4, '/c', NULL, NULL)`,
		`CREATE TABLE logs.hourly (id BIGINT, "_PARTITIONTIME" TIMESTAMPTZ)`)
	p.Describe("logs", "hits", rest.Table{TimePartitioning: &rest.TimePartitioning{Type: "DAY"}, RequirePartitionFilter: true})
	p.Describe("logs", "hourly", rest.Table{TimePartitioning: &rest.TimePartitioning{Type: "HOUR"}})
	url := bigURL(t, p)
	conn := connect(t, url)
	role := "bigpart_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	const columns = "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = "
	const day, both = "_PARTITIONTIME = '2024-02-29'", "2\n3"
	for _, c := range [][2]string{
		{"CREATE SCHEMA plain", "CREATE SCHEMA"},
		{"CREATE SCHEMA parts", "CREATE SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"IMPORT FOREIGN SCHEMA logs FROM SERVER big INTO plain", "IMPORT FOREIGN SCHEMA"},
		{"IMPORT FOREIGN SCHEMA logs FROM SERVER big INTO parts OPTIONS (import_partition 'true')", "IMPORT FOREIGN SCHEMA"},
		{columns + "'plain.hits'::regclass", "id bigint, url text"},
		{columns + "'parts.hits'::regclass", "id bigint, url text, _partitiontime timestamp with time zone, _partitiondate date"},
		{columns + "'parts.hourly'::regclass", "id bigint, _partitiontime timestamp with time zone"},
		{"SELECT obj_description('plain.hits'::regclass)", "Partitioned by _PARTITIONTIME, DAY. A condition on the partition is required."},
		{"SELECT id FROM plain.hits", "0A000"},
		{"SELECT id FROM parts.hits WHERE id = 1", "0A000"},
		{"SELECT id FROM parts.hits WHERE " + day + " ORDER BY id", both},
		{"SELECT * FROM parts.hits WHERE _PARTITIONDATE BETWEEN '2024-02-01' AND '2024-02-28'", "1|/a|2024-02-28 00:00:00+00|2024-02-28"},
		{"SELECT _partitiontime, count(*) FROM parts.hits WHERE _partitiontime >= timestamptz '2024-02-28 01:00:00+01' GROUP BY 1 ORDER BY 1", "2024-02-28 00:00:00+00|1\n2024-02-29 00:00:00+00|2"},
		{"SELECT max(_partitiondate), count(*) FROM parts.hits WHERE _partitiondate > '2024-01-01'", "2024-02-29|3"},
		{"SELECT h.id, v.n FROM parts.hits h JOIN (VALUES ('/a', 'start')) v(url, n) USING (url) WHERE " + day, "3|start"},
		{"SELECT id FROM parts.hits WHERE " + day + " AND md5(url) = md5('/b')", "2"},
		{"SELECT _partitiontime, id FROM parts.hourly WHERE md5(id::text) = ''", "SELECT 0"},
		{"PREPARE since(timestamptz) AS SELECT id FROM parts.hits WHERE _partitiontime >= $1 ORDER BY id", "PREPARE"},
		{"EXECUTE since('2024-02-29')", both},
		{"SET sluice.route = home_join", "SET"},
		{"SELECT id, _partitiontime, _partitiondate FROM parts.hits WHERE " + day + " ORDER BY id", "2|2024-02-29 00:00:00+00|2024-02-29\n3|2024-02-29 00:00:00+00|2024-02-29"},
		{"SET sluice.route = federated", "SET"},
		{"SELECT a.id FROM parts.hits a JOIN parts.hits b USING (_partitiondate) WHERE a._partitiondate = '2024-02-29' AND b._partitiondate = '2024-02-29' AND b.id = 2 ORDER BY 1", both},
		{"RESET sluice.route", "RESET"},
		{`CREATE FOREIGN TABLE byhand (id bigint, came timestamptz OPTIONS (column_name '_PARTITIONTIME', remote_type 'TIMESTAMP')) SERVER big OPTIONS (schema_name 'logs', table_name 'hits')`, "CREATE FOREIGN TABLE"},
		{"SELECT id, came FROM byhand WHERE came < '2024-02-29' AND came > '2024-01-01'", "1|2024-02-28 00:00:00+00"},
		{"CREATE FOREIGN TABLE nopart (_partitiontime timestamptz OPTIONS (column_name '_PARTITIONTIME', remote_type 'TIMESTAMP')) SERVER big OPTIONS (schema_name 'logs', table_name 'none')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM nopart", "42P01"},
		{"CREATE ROLE " + role, "CREATE ROLE"},
		{"GRANT USAGE ON SCHEMA parts TO " + role, "GRANT"},
		{"GRANT SELECT ON parts.hits TO " + role, "GRANT"},
		{"SELECT sluice.set_row_filter('parts.hits', '" + role + "', 'url <> ''/b''')", ""},
		{"SET ROLE " + role, "SET"},
		{"SELECT id, _partitiontime FROM parts.hits WHERE " + day, "3|2024-02-29 00:00:00+00"},
		{"SELECT count(*) FROM parts.hits WHERE " + day, "1"},
		{"RESET ROLE", "RESET"},
		{"SELECT sluice.set_row_filter('parts.hits', '" + role + "', '_partitiondate > ''2024-02-28''')", ""},
		{"SET ROLE " + role, "SET"},
		{"SELECT id, _partitiondate FROM parts.hits ORDER BY id", "2|2024-02-29\n3|2024-02-29"},
	} {
		want(t, conn, c[0], c[1])
	}
	const explained = "EXPLAIN SELECT url, count(*) FROM parts.hits WHERE _PARTITIONDATE >= '2024-02-01' GROUP BY url"
	if got := rows(t, connect(t, url), explained); !strings.Contains(got, "WHERE (`hits`.`_PARTITIONDATE` >= DATE '2024-02-01')") || !strings.Contains(got, "Remote Estimate: 10485760 bytes") {
		t.Errorf("%s", got)
	}
	var pe *pgconn.PgError
	if _, err := connect(t, url).Exec(t.Context(), "SELECT id FROM plain.hits"); !errors.As(err, &pe) || !strings.Contains(pe.Hint, "import_partition") {
		t.Errorf("%v", err)
	}
	for _, j := range p.Jobs() {
		if t.Failed() {
			t.Log(j.Configuration.Query.Query)
		}
	}
}
