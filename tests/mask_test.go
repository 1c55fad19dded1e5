package tests

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// libraryRows are values that mask functions meet, by the types of the columns that hold them.
const libraryRows = `(VALUES
	(1, 'ann@example.com', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:34:56.789', 1234, 1234567890123, 1234.56, 1234.5),
	(2, '', DATE '1999-12-31', TIMESTAMP '1999-12-31 23:59:59.999999', -1234, -1234567890123, -1234.56, -1234.5),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(4, 'é@ü.de', DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00', 2147483647, 9223372036854775807, 99999999.99, 1e300),
	(5, '日本語テキスト', DATE '9999-12-31', TIMESTAMP '9999-12-31 00:00:00', -2147483648, -9223372036854775808, -99999999.99, -1e300),
	(6, 'a@b@c', DATE '1600-03-01', TIMESTAMP '1600-03-01 00:00:00', 0, 0, 0.00, 0),
	(7, '@', DATE '2023-01-01', TIMESTAMP '2023-01-01 00:00:00', 9, 99, 9.99, 0.1),
	(8, 'x', DATE '2023-12-01', TIMESTAMP '2023-12-01 01:00:00', 10, 100, 10.00, 99.999999),
	(9, '12345', DATE '2023-06-15', TIMESTAMP '2023-06-15 06:00:00', -9, -99, -9.99, -0.5),
	(10, '+49 170 1234567', DATE '1970-01-01', TIMESTAMP '1970-01-01 00:00:00', 11, 101, 10.01, 1e-300),
	(11, repeat('long ', 5000), DATE '2000-02-29', TIMESTAMP '2000-02-29 00:00:00', 19, 199, 19.99, 19.99),
	(12, E'two\nlines ''quoted'' \\', DATE '1900-02-28', TIMESTAMP '1900-02-28 00:00:00', 20, 200, 20.00, 1e15)
) v (k, t, d, ts, i4, i8, n, f8)`

const libraryZoned = "(CAST(ts AS text) || '+00')::timestamptz"

const libraryColumns = "k int, t text, d date, ts timestamp, i4 int, i8 bigint, n numeric(10,2), f8 double precision, tz timestamptz"

// libraryMasks are masks of each function, by column.
var libraryMasks = [][2]string{
	{"t", "sluice.mask_text(t)"}, {"t", "sluice.mask_email(t)"}, {"t", "sluice.mask_phone(t)"}, {"t", "sluice.mask_hash(t)"},
	{"t", "sluice.mask_partial(t, 1, '***', 2)"}, {"t", "sluice.mask_partial(t, 0, 'XXX-', 4)"}, {"t", "sluice.mask_partial(t, 3, '', 0)"},
	{"d", "sluice.mask_month(d)"}, {"d", "sluice.mask_year(d)"}, {"ts", "sluice.mask_month(ts)"}, {"ts", "sluice.mask_year(ts)"},
	{"tz", "sluice.mask_month(tz)"}, {"tz", "sluice.mask_year(tz)"},
	{"i4", "sluice.mask_band(i4, 10)"}, {"i8", "sluice.mask_band(i8, 100)"}, {"n", "sluice.mask_band(n, 10)"}, {"f8", "sluice.mask_band(f8, 10)"},
	{"t", "NULL"}, {"i4", "1000 / i4"}, {"t", "CASE WHEN k > 5 THEN sluice.mask_email(t) ELSE sluice.mask_partial(t, 1, '#', 1) END"},
}

// TestMaskLibrary reads columns under each mask function, with a row filter and without, from each engine: what an owner computes
// by the same function at home is what readers see.
func TestMaskLibrary(t *testing.T) {
	onBothEngines(t, map[string]string{"v": "SELECT k::INTEGER AS k, t, d, ts, i4::INTEGER AS i4, i8::BIGINT AS i8, n::NUMERIC(10,2) AS n, CAST(f8 AS DOUBLE PRECISION) AS f8, " + libraryZoned + " AS tz FROM " + libraryRows}, compareLibrary)
}

func compareLibrary(t *testing.T, direct, through, server string) {
	exec(t, direct, "CREATE SCHEMA plain", "CREATE SCHEMA fx", "DROP ROLE IF EXISTS mask_reader", "CREATE ROLE mask_reader", "GRANT USAGE ON SCHEMA fx TO mask_reader",
		"CREATE TABLE plain.v ("+libraryColumns+")", "INSERT INTO plain.v SELECT *, "+libraryZoned+" FROM "+libraryRows)
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY mask_reader", "DROP ROLE mask_reader") })
	exec(t, through, "CREATE FOREIGN TABLE fx.v ("+libraryColumns+") SERVER "+server, "GRANT SELECT ON fx.v TO mask_reader")
	owner, reader := connect(t, through), connect(t, through)
	want(t, reader, "SET ROLE mask_reader", "SET")
	for _, filter := range []string{"true", "k NOT IN (5, 6)"} {
		want(t, owner, "SELECT sluice.set_row_filter('fx.v', 'mask_reader', '"+filter+"')", "")
		for _, m := range libraryMasks {
			want(t, owner, "SELECT sluice.set_column_mask('fx.v', '"+m[0]+"', $$"+m[1]+"$$)", "")
			a := rows(t, owner, "SELECT k, "+m[1]+" FROM plain.v WHERE "+filter+" ORDER BY k")
			b := rows(t, reader, "SELECT k, "+m[0]+" FROM fx.v ORDER BY k")
			if a != b {
				t.Errorf("%s where %s\n home:   %.600s\n engine: %.600s", m[1], filter, a, b)
			}
			want(t, owner, "SELECT sluice.drop_column_mask('fx.v', '"+m[0]+"')", "")
		}
	}
	want(t, reader, "SELECT sluice.mask_hash('guess')", "42501")
	want(t, reader, "SELECT salt FROM sluice.mask_salt", "42501")
	want(t, owner, "SELECT sluice.set_column_mask('fx.v', 't', 'sluice.mask_hash(t)')", "")
	salt := rows(t, owner, "SELECT salt FROM sluice.mask_salt")
	before := rows(t, reader, "SELECT t FROM fx.v WHERE k = 1")
	for _, route := range []string{"", "home_join", "federated"} {
		want(t, reader, "SET sluice.route = '"+route+"'", "SET")
		want(t, reader, "SELECT t FROM fx.v WHERE k = 1", before)
		for _, sql := range []string{"EXPLAIN (VERBOSE) SELECT t FROM fx.v", "EXPLAIN (ANALYZE) SELECT t FROM fx.v", "SELECT t::int FROM fx.v", "SELECT 1 / length(left(t, 0)) FROM fx.v",
			"UPDATE fx.v SET t = t", "SELECT string_agg(query, ' ') FROM pg_stat_activity"} {
			if said := everything(t, reader, sql); strings.Contains(said, salt) {
				t.Errorf("route %q: %s shows the salt: %s", route, sql, said)
			}
		}
	}
	want(t, reader, "RESET sluice.route", "RESET")
	want(t, owner, "SELECT sluice.new_salt()", "")
	if after := rows(t, reader, "SELECT t FROM fx.v WHERE k = 1"); after == before || len(after) != 32 {
		t.Errorf("hash %s under a salt, %s under another", before, after)
	}
	want(t, reader, "SELECT sluice.new_salt()", "42501")
	want(t, owner, "REFRESH MATERIALIZED VIEW sluice.mask_salt WITH NO DATA; ALTER EXTENSION sluice UPDATE", "REFRESH MATERIALIZED VIEW\nALTER EXTENSION")
	if again := rows(t, owner, "SELECT length(salt) FROM sluice.mask_salt"); again != "72" {
		t.Errorf("ALTER EXTENSION leaves a salt of length %s", again)
	}
}

// everything is all that a client hears of a statement: rows and each field of an error.
func everything(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	results, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
	var heard strings.Builder
	for _, r := range results {
		for _, row := range r.Rows {
			heard.Write(bytes.Join(row, []byte("|")))
		}
	}
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		fmt.Fprintf(&heard, "%+v", *pe)
	}
	if heard.Len() == 0 {
		t.Errorf("%s says nothing", sql)
	}
	return heard.String()
}
