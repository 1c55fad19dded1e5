package catalog

import (
	"encoding/json"

	"github.com/sluicedb/sluice/pgerr"
)

// MappingSQL asks for the user mapping in force for a role ($2) on a server ($1): one row, for ReadMapping. It is for the
// proxy's own account, which has EXECUTE on sluice.user_mapping.
const MappingSQL = `SELECT r.rolname, r.rolsuper OR o.rolsuper AND NOT EXISTS (SELECT FROM pg_user_mappings m WHERE m.srvid = s.oid AND m.umuser = r.oid),
 array_to_json(sluice.user_mapping(s.oid, r.oid))
FROM pg_foreign_server s JOIN pg_roles o ON o.oid = s.srvowner, pg_roles r WHERE s.oid = $1 AND r.oid = $2`

// Mapping is a user mapping in force for a role, its own or that for PUBLIC.
type Mapping struct {
	Role string
	// Trusted says that a superuser answers for the mapping: the role is one, or the server's owner, who alone makes a
	// mapping for PUBLIC. Only such may log in without a password, or with files of the proxy's machine.
	Trusted bool
	Known   bool              // whether there is one
	Options map[string]string // secrets as they are stored, references unresolved
}

// ReadMapping reads the row of MappingSQL.
func ReadMapping(row [][]byte) (Mapping, error) {
	if len(row) != 3 {
		return Mapping{}, pgerr.New(pgerr.UndefinedObject, "the server or the role is gone")
	}
	m := Mapping{Role: string(row[0]), Trusted: string(row[1]) == "t", Known: row[2] != nil}
	var list []string
	if m.Known {
		if err := json.Unmarshal(row[2], &list); err != nil {
			return Mapping{}, err
		}
	}
	m.Options = options(list)
	return m, nil
}

// InForce returns what the mapping of a server says, with what is not the role's to say left out: 42704 where there is no
// mapping, 42501 for options that need a superuser.
func (m Mapping) InForce(server string) (map[string]string, error) {
	if !m.Known {
		return nil, pgerr.Hint(pgerr.New(pgerr.UndefinedObject, "user mapping not found for user %q, server %q", m.Role, server),
			"CREATE USER MAPPING, and commit it.")
	}
	options := map[string]string{"user": m.Role}
	for name, value := range m.Options {
		switch {
		case m.Trusted:
		case name == "password_required":
			continue
		case name == "sslcert" || name == "sslkey":
			return nil, pgerr.Hint(pgerr.New(pgerr.InsufficientPrivilege, "option %q of the user mapping for %q on server %q is superuser-only", name, m.Role, server),
				"A superuser may own the server and map PUBLIC.")
		}
		options[name] = value
	}
	return options, nil
}
