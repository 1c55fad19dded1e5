package trinotest

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// TestRealCatalogs reads each catalog, and through the connector to Postgres values of each type that it maps.
func TestRealCatalogs(t *testing.T) {
	s := Start(t)
	if rows := s.Ask(t, "SELECT count(*) FROM tpch.tiny.nation"); fmt.Sprint(rows) != "[[25]]" {
		t.Errorf("nations: %v", rows)
	}
	s.Run(t, "CREATE TABLE memory.default.numbers AS SELECT 1 AS a")
	if rows := s.Ask(t, "SELECT a FROM memory.default.numbers"); fmt.Sprint(rows) != "[[1]]" {
		t.Errorf("memory: %v", rows)
	}
	s.Run(t, "DROP TABLE memory.default.numbers")

	database := hometest.Database(t, hometest.Start(t))
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kinds (a bool, b smallint, c int, d bigint, e real, f float8, g numeric(20,3), h text, i varchar(5), j bytea, k date, l timestamp);
INSERT INTO kinds VALUES (true, -1, 2, 9223372036854775807, 0.5, 1e300, -12345678901234567.125, 'é', 'x', '\x00ff', '2024-02-29', '2024-02-29 12:34:56.789012'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`); err != nil {
		t.Fatal(err)
	}
	c := conn.Config()
	s.Postgres(t, "home", fmt.Sprintf("jdbc:postgresql://%s:%d/%s", c.Host, c.Port, c.Database), c.User, c.Password)
	want := "[[true -1 2 9.223372036854776e+18 0.5 1e+300 -12345678901234567.125 é x AP8= 2024-02-29 2024-02-29 12:34:56.789012] [<nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil> <nil>]]"
	if rows := s.Ask(t, "SELECT * FROM home.public.kinds ORDER BY a NULLS LAST"); fmt.Sprint(rows) != want {
		t.Errorf("kinds: %v", rows)
	}
}
