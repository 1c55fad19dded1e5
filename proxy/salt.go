package proxy

import (
	"context"

	"github.com/sluicedb/sluice/pgerr"
)

// salted is the salt of hashes in a database, as it was at a catalog version.
type salted struct {
	version int64
	salt    string
}

// salt returns the salt of the database's hashes, which the client's own role may not see: the service account reads it.
func (s *Session) salt(ctx context.Context) (string, error) {
	version := s.snapshot.Version
	if known, ok := s.server.salts.Load(s.database); ok && known.(salted).version == version {
		return known.(salted).salt, nil
	}
	c, err := s.server.watch.connect(ctx, s.database, nil)
	if err != nil {
		return "", noSalt(err)
	}
	defer closeConn(c)
	row, err := askExtension(ctx, c, "SELECT salt FROM sluice.mask_salt")
	switch {
	case err != nil:
		return "", noSalt(err)
	case row == nil:
		return "", noSalt(pgerr.New(pgerr.UndefinedObject, "sluice.mask_salt is empty"))
	}
	if !s.snapshot.Uncommitted {
		s.server.salts.Store(s.database, salted{version, string(row[0])})
	}
	return string(row[0]), nil
}

func noSalt(err error) error {
	pe := pgerr.From(err)
	return pgerr.New(pe.Code, "the proxy's own account cannot read the salt of sluice.mask_hash: %s", pe.Message)
}
