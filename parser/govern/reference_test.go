package govern

import (
	"reflect"
	"testing"

	"github.com/sluicedb/sluice/catalog"
)

func TestRead(t *testing.T) {
	table := &catalog.Relation{OID: 1, Kind: 'f'}
	view := &catalog.Relation{OID: 2, Kind: 'v'}
	invoker := &catalog.Relation{OID: 3, Kind: 'v', Invoker: true}
	for _, c := range []struct {
		relation     *catalog.Relation
		view, within uint32
	}{
		{table, 0, 0}, {table, 9, 0}, {view, 0, 2}, {view, 9, 2}, {invoker, 0, 0}, {invoker, 9, 0},
	} {
		g := Read(c.relation, c.view)
		needs := []Privilege{{Relation: c.relation, View: c.view, Name: "SELECT"}}
		if g.Relation != c.relation || !reflect.DeepEqual(g.Needs, needs) || g.Within != c.within {
			t.Errorf("relation %d in view %d: %+v", c.relation.OID, c.view, g)
		}
	}
}

func TestWrite(t *testing.T) {
	table := &catalog.Relation{OID: 1, Kind: 'f'}
	want := []Privilege{{Relation: table, Name: "INSERT"}, {Relation: table, Name: "SELECT"}}
	if got := Write(table, "INSERT", "SELECT"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
