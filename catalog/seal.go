package catalog

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Seal takes the temporary tables of a write from its role: home lets it do to their rows what the relation's policies
// allow, and no more.
type Seal struct {
	Relation      uint32
	Command       string // INSERT, UPDATE or DELETE
	Prefix, Child string // of the names, as in sluice.seal_rows
	RowSecurity   bool
	Masked        []string // columns that the role may not read
	Role          uint32   // that has made the tables
	key           string
}

// Set seals the tables. The key is not told before Open.
func (s *Seal) Set(ctx context.Context, q Querier) error {
	s.key = rand.Text()
	digest := sha256.Sum256([]byte(s.key))
	_, err := q.Query(ctx, "SELECT sluice.seal_rows($1, $2, $3, $4, $5, $6, $7, $8)", number(s.Relation), s.Command, s.Prefix, s.Child,
		number(s.Role), strconv.FormatBool(s.RowSecurity), textArray(s.Masked), hex.EncodeToString(digest[:]))
	return err
}

// Open lets the rows be read, and not be changed any more.
func (s *Seal) Open(ctx context.Context, q Querier) error {
	_, err := q.Query(ctx, "SELECT sluice.open_rows($1, $2, $3)", s.Prefix, s.Child, s.key)
	return err
}

// End deletes the rows and gives the table back.
func (s *Seal) End(ctx context.Context, q Querier) error {
	_, err := q.Query(ctx, "SELECT sluice.unseal($1, $2, $3, $4)", s.Prefix, s.Child, number(s.Role), s.key)
	return err
}
