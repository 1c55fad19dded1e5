package catalog

import (
	"context"
	"errors"
	"strconv"
)

// ErrMoved says that the catalog has changed since the snapshot was read: read it again, and resolve names anew.
var ErrMoved = errors.New("the catalog has changed")

// Definition returns the query of one of the snapshot's views, every name in it with its schema. What q had to be asked for
// is kept. Errors are q's, or ErrMoved.
func (s *Snapshot) Definition(ctx context.Context, q Querier, view *Relation) (string, error) {
	if kept, ok := s.definitions.Load(view.OID); ok {
		return kept.(string), nil
	}
	rows, err := q.Query(ctx, "SELECT definition, version FROM sluice.view_definition($1)", strconv.FormatUint(uint64(view.OID), 10))
	if err != nil {
		return "", err
	}
	definition := text(rows, 0, 0)
	if definition == "" || text(rows, 0, 1) != strconv.FormatInt(s.Version, 10) {
		return "", ErrMoved
	}
	s.definitions.Store(view.OID, definition)
	return definition, nil
}
