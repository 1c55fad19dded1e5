package catalog

import (
	"context"
	"strings"
)

// RoleSettings are settings of ours that ALTER ROLE and ALTER DATABASE have made, by name: for the role of the session, and
// for its current one. Postgres lets superusers alone make them, and those to whom they have granted SET on the parameter.
type RoleSettings struct{ Session, Current map[string]string }

// roleSettingsSQL yields the less specific of two settings before the other, as a login applies them.
const roleSettingsSQL = `SELECT r.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, session]),
 r.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, current]), c.setting
FROM (SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(session_user))::pg_catalog.oid AS session,
 pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid AS current) u,
 pg_catalog.pg_db_role_setting r, pg_catalog.unnest(r.setconfig) AS c (setting)
WHERE r.setrole OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, session, current])
AND (r.setdatabase OPERATOR(pg_catalog.=) 0::pg_catalog.oid OR r.setdatabase OPERATOR(pg_catalog.=)
 (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()))
AND c.setting OPERATOR(pg_catalog.~~*) 'sluice.%'
ORDER BY r.setrole OPERATOR(pg_catalog.<>) 0::pg_catalog.oid, r.setdatabase OPERATOR(pg_catalog.<>) 0::pg_catalog.oid`

// ReadRoleSettings reads the settings for the roles of q's session.
func ReadRoleSettings(ctx context.Context, q Querier) (*RoleSettings, error) {
	rows, err := q.Query(ctx, roleSettingsSQL)
	if err != nil {
		return nil, err
	}
	s := &RoleSettings{map[string]string{}, map[string]string{}}
	for i := range rows {
		name, value, _ := strings.Cut(text(rows, i, 2), "=")
		name = strings.ToLower(name)
		if text(rows, i, 0) == "t" {
			s.Session[name] = value
		}
		if text(rows, i, 1) == "t" {
			s.Current[name] = value
		}
	}
	return s, nil
}
