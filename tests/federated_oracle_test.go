package tests

import (
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/internal/oracle"
)

// TestFederatedOracle asks of tables that lie by turns in DuckDB, in another Postgres and at home.
func TestFederatedOracle(t *testing.T) {
	other, _ := fixture(t)
	home, admin := fixture(t)
	through := postgresProxy(t, home)
	lake, err := oracle.Copy(t.Context(), admin, "plain", filepath.Join(t.TempDir(), "lake.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, through, append(otherServer(t, other, ""), lake.Server("lake", false), "CREATE SCHEMA fm", "CREATE SCHEMA of_other",
		"IMPORT FOREIGN SCHEMA plain FROM SERVER other INTO of_other", "IMPORT FOREIGN SCHEMA plain FROM SERVER other INTO fx")...)
	exec(t, through, lake.Spread("fm", "plain", "lake")...)
	// The tables of home's go to the other Postgres in part.
	rows, err := admin.Query(t.Context(), "SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = 'fm'::regnamespace AND relkind = 'r' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 4 {
		t.Fatalf("%v, %v", names, err)
	}
	for i, name := range names {
		if i%2 == 0 {
			exec(t, through, "DROP TABLE fm."+name, "ALTER FOREIGN TABLE of_other."+name+" SET SCHEMA fm")
		}
	}
	o := oracle.New(t, home, through,
		&oracle.Side{Name: "of the other Postgres", Schema: "fx", Route: "federated", Quick: true},
		&oracle.Side{Name: "free choice", Schema: "fm", Quick: true},
		&oracle.Side{Name: "federated", Schema: "fm", Route: "federated"})
	for _, file := range statements(t) {
		t.Run(file.name, func(t *testing.T) {
			for _, s := range file.list {
				o.Compare(t, s)
			}
		})
	}
	t.Log(o.Report())
}
