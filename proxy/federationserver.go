package proxy

import (
	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
)

// federationServer returns the server that is to compute statements over several, by the session's sluice.federation_server; nil for none.
func (s *Session) federationServer(facts *catalog.Facts) (*catalog.Server, error) {
	const hint = "SET sluice.federation_server to a server of wrapper sluice_trino, or RESET it."
	name := facts.FederationServer
	switch facts.Federates {
	case "t":
	case "f":
		return nil, pgerr.Hint(pgerr.New(pgerr.InsufficientPrivilege, "permission denied for foreign server %s", name), "GRANT USAGE ON FOREIGN SERVER lets the role use it, or RESET sluice.federation_server.")
	default:
		if name == "" {
			return nil, nil
		}
		return nil, pgerr.Hint(pgerr.New(pgerr.UndefinedObject, "server %q does not exist", name), hint)
	}
	for _, server := range s.snapshot.Servers {
		if server.Name != name {
			continue
		}
		d, err := dialect.Of(server)
		if joiner, ok := d.(dialect.Standard); ok && err == nil && joiner.Lacks()&dialect.Connectors == 0 {
			return server, nil
		}
	}
	return nil, pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "invalid value for parameter \"sluice.federation_server\": %q is no server that joins tables of others", name), hint)
}
