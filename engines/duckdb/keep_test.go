package duckdb

import (
	"slices"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestKeep makes tables of results, of types that are those of the columns and of others, and finds those that were committed.
func TestKeep(t *testing.T) {
	ctx := t.Context()
	e := database(t, map[string]string{"read_only": "false", "handles": "true"})
	keeper := e.(engines.Keeper)
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	maker, arg := tx.(engines.Maker), "7"
	columns := []engines.Column{{Name: "a", Type: "bigint"}, {Name: "b c", Type: "numeric(10,2)"}, {Name: "t", Type: "character varying(3)"}}
	n, ok, err := maker.Fill(ctx, "keep_1", columns, engines.Query{SQL: "SELECT i, CAST(i AS DECIMAL(10,2)), 'x' FROM range(CAST($1 AS BIGINT)) r(i)", Args: []*string{&arg}})
	if n != 7 || !ok || err != nil {
		t.Errorf("%d rows, %t: %v", n, ok, err)
	}
	if n, ok, err = maker.Fill(ctx, "keep_2", columns, engines.Query{SQL: "SELECT 1, CAST(1 AS DECIMAL(10,2)), 'x'"}); n != 0 || ok || err != nil {
		t.Errorf("an INTEGER for a bigint: %d rows, %t: %v", n, ok, err)
	}
	if err := maker.Make(ctx, "keep_3", columns); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if names, err := keeper.Kept(ctx, "keep_"); err != nil || !slices.Equal(names, []string{"keep_1", "keep_3"}) {
		t.Errorf("%v: %v", names, err)
	}
	if err := keeper.Forget(ctx, "keep_1"); err != nil {
		t.Error(err)
	}
	if names, err := keeper.Kept(ctx, "keep_"); err != nil || !slices.Equal(names, []string{"keep_3"}) {
		t.Errorf("%v: %v", names, err)
	}
	for typ, want := range map[string]string{
		"character(3)": "VARCHAR", "timestamp(3) without time zone": "TIMESTAMP", "time(0) with time zone[]": "TIME WITH TIME ZONE[]", "numeric(38,38)[]": "DECIMAL(38,38)[]", "interval(2)": "INTERVAL",
		"numeric": "VARCHAR", "numeric[]": "VARCHAR[]", "jsonb[]": "VARCHAR", "inet": "VARCHAR", "bit varying(3)": "VARCHAR", "bit(3)[]": "VARCHAR", "anyenum": "VARCHAR", "anyenum[]": "VARCHAR",
	} {
		if got, ok := keptType(typ); got != want || !ok {
			t.Errorf("%s is kept as %s", typ, got)
		}
	}
	for _, columns := range [][]engines.Column{
		{{Name: "a", Type: "numeric(39,1)"}}, {{Name: "a", Type: "numeric(3,5)"}}, {{Name: "a", Type: "numeric(3,-1)"}}, {{Name: "a", Type: "money"}}, {{Name: "a", Type: "regclass"}}, {{Name: "a", Type: "mood"}}, {{Name: "a", Type: "money[]"}},
		{{Name: "a", Type: "interval year"}}, {{Name: "a", Type: "bpchar"}}, {{Name: "a", Type: "\"json\""}}, {{Name: "a", Type: "text"}, {Name: "A", Type: "text"}}, {},
	} {
		if _, err := kept(columns); err == nil {
			t.Errorf("%v can be kept", columns)
		}
	}
}
