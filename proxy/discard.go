package proxy

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// mustSpare reports whether a statement is a DISCARD TEMP that would meet tables of ours, which a portal may read.
func (s *Session) mustSpare(n *pg_query.Node) bool {
	return len(s.inputs) > 0 && n.GetDiscardStmt().GetTarget() == pg_query.DiscardMode_DISCARD_TEMP
}

// temporarySQL yields the commands that drop what the client has made that is temporary: all that depends on the schema,
// as Postgres finds it, but for tables with names of ours.
const temporarySQL = `SELECT pg_catalog.concat('DROP ', pg_catalog.replace(o.type, ' object', ''), ' IF EXISTS ', o.identity, ' CASCADE')
FROM pg_catalog.pg_depend d CROSS JOIN LATERAL pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) o
WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
 AND d.refobjid OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()
 AND NOT (o.type OPERATOR(pg_catalog.=) 'table' AND o.name OPERATOR(pg_catalog.~) '^` + ownPrefix + `[0-9]+_')`

// discardTemp carries out DISCARD TEMP and leaves the inputs of portals alone.
func (s *Session) discardTemp(ctx context.Context, x *execution) (*cursor, error) {
	rows, err := s.Query(ctx, temporarySQL)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		var r request
		r.close('S', onceName).parse(onceName, *row[0], nil)
		if err := s.ask(ctx, r.bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal).quiet(), nil); err != nil {
			return nil, err
		}
	}
	x.tag = fixedTag("DISCARD TEMP")
	return nil, nil
}
