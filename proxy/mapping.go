package proxy

import (
	"context"
	"strconv"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// mapped is a user mapping as it was read at a version of the catalog.
type mapped struct {
	version int64
	catalog.Mapping
}

// engine returns the engine of a server, as a role, or (0) the current one, logs in to it.
func (s *Session) engine(ctx context.Context, server *catalog.Server, role uint32) (engines.Engine, error) {
	w, err := s.server.engines.wrapper(server)
	if err != nil {
		return nil, err
	}
	key := engineKey{database: s.database, server: server.OID}
	var options map[string]string
	if engines.Maps(w, server.Options) {
		if key.role, err = s.roleOr(ctx, role); err != nil {
			return nil, err
		}
		if options, err = s.mapping(ctx, key, server); err != nil {
			return nil, err
		}
	}
	return s.server.engines.get(ctx, key, server, options)
}

// roleOr returns the role given, or the current one.
func (s *Session) roleOr(ctx context.Context, role uint32) (uint32, error) {
	if role != 0 {
		return role, nil
	}
	rows, err := s.Query(ctx, "SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(current_user))::pg_catalog.oid")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(*rows[0][0], 10, 32)
	return uint32(n), err
}

// mapping returns what the user mapping in force says.
func (s *Session) mapping(ctx context.Context, key engineKey, server *catalog.Server) (map[string]string, error) {
	o := s.server.engines
	o.mu.Lock()
	m, known := o.mappings[key]
	o.mu.Unlock()
	if !known || m.version != s.snapshot.Version {
		read, err := s.server.watch.mapping(ctx, key)
		if err != nil {
			return nil, err
		}
		m = mapped{s.snapshot.Version, read}
		o.mu.Lock()
		o.mappings[key] = m
		o.mu.Unlock()
	}
	return m.InForce(server.Name)
}

// mapping reads a user mapping, which the proxy's own account alone may see.
func (w *watches) mapping(ctx context.Context, key engineKey) (catalog.Mapping, error) {
	c, err := w.connect(ctx, key.database, nil)
	if err != nil {
		return catalog.Mapping{}, err
	}
	defer closeConn(c)
	number := func(n uint32) []byte { return strconv.AppendUint(nil, uint64(n), 10) }
	row, err := askExtension(ctx, c, catalog.MappingSQL, number(key.server), number(key.role))
	if err != nil {
		return catalog.Mapping{}, pgerr.Hint(pgerr.New(pgerr.ObjectNotInPrerequisite, "the proxy cannot read user mappings: %v", err),
			"Its account needs EXECUTE on sluice.user_mapping.")
	}
	return catalog.ReadMapping(row)
}
