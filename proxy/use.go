package proxy

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// alteration is what Postgres refuses to do to tables that a portal of the session reads.
type alteration struct {
	verb   string
	tables []catalog.Name
}

// alterationOf returns the alteration that a statement is, nil for any other.
func alterationOf(n *pg_query.Node) *alteration {
	if alter := n.GetAlterTableStmt(); alter.GetRelation() != nil {
		return &alteration{"ALTER TABLE", []catalog.Name{{Schema: alter.Relation.Schemaname, Name: alter.Relation.Relname}}}
	}
	drop := n.GetDropStmt()
	switch drop.GetRemoveType() {
	case pg_query.ObjectType_OBJECT_TABLE, pg_query.ObjectType_OBJECT_FOREIGN_TABLE:
	default:
		return nil
	}
	a := &alteration{verb: "DROP TABLE"}
	for _, object := range drop.Objects {
		parts := object.GetList().GetItems()
		name := catalog.Name{Name: parts[len(parts)-1].GetString_().GetSval()}
		if len(parts) > 1 {
			name.Schema = parts[len(parts)-2].GetString_().GetSval()
		}
		a.tables = append(a.tables, name)
	}
	return a
}

// reads returns the relations of ours that a statement reads.
func (x *execution) reads() []uint32 {
	if x.plan == nil {
		return nil
	}
	var oids []uint32
	for _, p := range x.plan.Privileges {
		oids = append(oids, p.Relation.OID)
	}
	return oids
}

// mayBeInUse reports whether a statement alters tables while a portal reads some of ours: home does not know that it does.
func (s *Session) mayBeInUse(n *pg_query.Node) bool {
	for _, p := range s.portals {
		if len(p.reads) > 0 {
			return alterationOf(n) != nil
		}
	}
	return false
}

// alter carries out an alteration of tables that no portal reads.
func (s *Session) alter(ctx context.Context, x *execution) (*cursor, error) {
	n := x.statement.Node.Stmt
	a := alterationOf(n)
	resolved, _, err := catalog.Resolve(ctx, s, a.tables)
	if err != nil {
		return nil, err
	}
	for i, r := range resolved {
		for _, p := range s.portals {
			if slices.Contains(p.reads, r.OID) {
				return nil, pgerr.New(pgerr.ObjectInUse, "cannot %s \"%s\" because it is being used by active queries in this session", a.verb, a.tables[i].Name)
			}
		}
	}
	if n.GetAlterTableStmt().GetObjtype() == pg_query.ObjectType_OBJECT_FOREIGN_TABLE {
		return s.define(ctx, x)
	}
	tag, err := s.Exec(ctx, x.statement.Text)
	x.tag = fixedTag(tag)
	return nil, err
}
