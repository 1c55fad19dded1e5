package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// missing returns what a query finds to be wrong with names that are put into it as a list of literals.
func missing(t *testing.T, conn *pgx.Conn, query string, names []string) []string {
	t.Helper()
	slices.Sort(names)
	rows, err := conn.Query(t.Context(), query, names)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return bad
}

// What is shipped must be in the catalog of Postgres, and none of its forms may change anything or read the clock.
func TestPostgresTables(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), hometest.Start(t).URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var text string
	if err := conn.QueryRow(t.Context(), "SHOW server_version_num").Scan(&text); err != nil {
		t.Fatal(err)
	}
	version, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	functions := slices.Collect(maps.Keys(shared))
	for name, first := range since {
		if Shared(name, version, version) != (version >= first) {
			t.Errorf("function %s, of version %d, is wrong for version %d", name, first, version)
		}
		if version >= first {
			functions = append(functions, name)
		}
	}
	if bad := missing(t, conn, `SELECT n FROM unnest($1::text[]) n WHERE NOT EXISTS (SELECT FROM pg_proc WHERE proname = n AND pronamespace = 11)
		OR EXISTS (SELECT FROM pg_proc WHERE proname = n AND pronamespace = 11 AND provolatile = 'v')`, functions); len(bad) > 0 {
		t.Errorf("functions that are not there or volatile: %s", strings.Join(bad, " "))
	}
	if bad := missing(t, conn, `SELECT n FROM unnest($1::text[]) n WHERE NOT EXISTS (SELECT FROM pg_operator WHERE oprname = n AND oprnamespace = 11)
		OR EXISTS (SELECT FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode WHERE oprname = n AND oprnamespace = 11 AND provolatile = 'v')`,
		slices.Collect(maps.Keys(operators))); len(bad) > 0 {
		t.Errorf("operators that are not there or volatile: %s", strings.Join(bad, " "))
	}
	var types []string
	for oid, name := range builtInTypes {
		types = append(types, fmt.Sprintf("%d %s", oid, name))
	}
	if bad := missing(t, conn, `SELECT n FROM unnest($1::text[]) n WHERE format_type(split_part(n, ' ', 1)::oid, -1) <> substr(n, strpos(n, ' ') + 1)`, types); len(bad) > 0 {
		t.Errorf("types that have other names: %s", strings.Join(bad, ", "))
	}
	if bad := missing(t, conn, `SELECT n FROM unnest($1::text[]) n WHERE to_regtype('pg_catalog.' || quote_ident(n)) IS NULL`, slices.Collect(maps.Keys(typeWords))); len(bad) > 0 {
		t.Errorf("words that name no type: %s", strings.Join(bad, ", "))
	}
	// Functions that make text are known as such; max and min only pass on what is text already.
	if bad := missing(t, conn, `SELECT DISTINCT n FROM unnest($1::text[]) n JOIN pg_proc ON proname = n AND pronamespace = 11
		WHERE prorettype IN ('text'::regtype, 'text[]'::regtype, 'varchar'::regtype, 'name'::regtype, 'bpchar'::regtype)`,
		slices.DeleteFunc(slices.Clone(functions), func(n string) bool { return MakesText(n) || n == "max" || n == "min" })); len(bad) > 0 {
		t.Errorf("functions that yield text: %s", strings.Join(bad, " "))
	}
}
