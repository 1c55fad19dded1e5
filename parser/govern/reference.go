package govern

import "github.com/sluicedb/sluice/catalog"

// Privilege is one privilege that a role needs on a relation.
type Privilege struct {
	Relation *catalog.Relation
	View     uint32  // 0: the current role needs it; else the owner of this view, in which the reference stands
	Name     string  // SELECT, INSERT, UPDATE, DELETE, TRUNCATE
	Columns  []int16 // attribute numbers where they are known; none: the whole relation, unless home knows of less
}

// Governed is a reference in its governed form.
type Governed struct {
	Relation *catalog.Relation
	Needs    []Privilege
	// Within is, of a view, the view whose owner reads what its definition names: 0 for the current role.
	Within uint32
}

// Read governs a reference that stands in the definition of the view given, or (0) in the statement itself.
//
// A view with security_invoker is read as if the statement itself named what it names, even from within a view that has
// not: Postgres never lends it another's privileges.
func Read(r *catalog.Relation, view uint32) Governed {
	g := Governed{Relation: r, Needs: []Privilege{{Relation: r, View: view, Name: "SELECT"}}}
	if r.Kind == 'v' && !r.Invoker {
		g.Within = r.OID
	}
	return g
}

// Write returns what the current role needs to do what names say to a relation.
func Write(r *catalog.Relation, names ...string) []Privilege {
	needs := make([]Privilege, len(names))
	for i, name := range names {
		needs[i] = Privilege{Relation: r, Name: name}
	}
	return needs
}
