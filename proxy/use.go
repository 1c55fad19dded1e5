package proxy

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
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

// reads returns the relations of ours that a portal of the statement reads for as long as it is open. One that writes has
// run to its end before it gives rows.
func (x *execution) reads() []uint32 {
	if x.plan == nil || x.statement.Kind != parser.Select {
		return nil
	}
	var oids []uint32
	for _, p := range x.plan.Privileges {
		oids = append(oids, p.Relation.OID)
	}
	return oids
}

// alters reports whether a statement alters tables in a way that is not home's alone to carry out: portals may read them, or
// the view of a table with masks may be in the way.
func (s *Session) alters(n *pg_query.Node) bool { return s.mayBeInUse(n) || s.mayBeMasked(n) }

// mayBeMasked reports whether a statement alters tables one of which has the name of a table of home with masks.
func (s *Session) mayBeMasked(n *pg_query.Node) bool {
	a := alterationOf(n)
	return a != nil && slices.ContainsFunc(a.tables, func(name catalog.Name) bool { return s.snapshot.Masks(name.Name) })
}

// mayBeInUse reports whether a statement alters tables while portals may read some of ours: home does not know that they do.
func (s *Session) mayBeInUse(n *pg_query.Node) bool {
	if len(s.inputs) > 0 {
		return alterationOf(n) != nil
	}
	for _, p := range s.portals {
		if len(p.reads) > 0 {
			return alterationOf(n) != nil
		}
	}
	return false
}

// alter carries out an alteration of tables that no portal reads, without the views that stand in for them.
func (s *Session) alter(ctx context.Context, x *execution) (*cursor, error) {
	n := x.statement.Node.Stmt
	a := alterationOf(n)
	oids, _, err := catalog.Resolve(ctx, s, a.tables)
	if err != nil {
		return nil, err
	}
	for i, oid := range oids {
		if err := s.checkInUse(ctx, a.verb, oid, a.tables[i].Name); err != nil {
			return nil, err
		}
		if r := s.snapshot.Relations[oid]; r != nil && r.MaskView != "" { // a trigger makes it anew
			if _, err := s.Query(ctx, "SELECT sluice.drop_mask_view($1::pg_catalog.oid::pg_catalog.regclass)", strconv.FormatUint(uint64(oid), 10)); err != nil {
				return nil, err
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

// input is a temporary table at home that holds rows of a relation.
type input struct {
	name     string
	relation uint32
}

// checkInUse refuses to do to a table what a portal or cursor that reads it stands against: one of ours, or one of home's
// own over an input, which home itself refuses to alter then.
func (s *Session) checkInUse(ctx context.Context, verb string, oid uint32, name string) error {
	inUse := pgerr.New(pgerr.ObjectInUse, "cannot %s \"%s\" because it is being used by active queries in this session", verb, name)
	for _, p := range s.portals {
		if slices.Contains(p.reads, oid) {
			return inUse
		}
	}
	for _, in := range s.inputs {
		if in.relation != oid {
			continue
		}
		var r request
		r.close('S', onceName).parse(onceName, "ALTER TABLE IF EXISTS pg_temp."+in.name+" RESET (fillfactor)", nil)
		err := s.ask(ctx, r.bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal).quiet(), nil)
		if pe, ok := err.(*pgconn.PgError); ok && pe.Code == pgerr.ObjectInUse {
			return inUse
		}
		if err != nil {
			return err
		}
	}
	return nil
}
