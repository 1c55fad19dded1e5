package catalog

import "context"

// Mapping returns the options of the user mapping in force for a role on a server, its own or that for PUBLIC; nil
// where there is none or it has none. q must be the proxy's own account, with EXECUTE on sluice.user_mapping (a superuser has it).
// Secrets come as they are stored, references unresolved.
func Mapping(ctx context.Context, q Querier, server, role uint32) (map[string]string, error) {
	rows, err := q.Query(ctx, `SELECT pg_catalog.unnest(sluice.user_mapping($1::pg_catalog.oid, $2::pg_catalog.oid))`,
		number(server), number(role))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	list := make([]string, len(rows))
	for i := range rows {
		list[i] = text(rows, i, 0)
	}
	return options(list), nil
}
