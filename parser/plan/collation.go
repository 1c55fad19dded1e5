package plan

import (
	"slices"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// ownText is text that comes from no column: it has the database's default collation.
func (s *shipper) ownText() typ {
	t := dialect.TextOf()
	t.Bytewise = s.b.bytewise()
	return t
}

// bytewise reports whether the database's default collation compares bytes, as any column under it tells; false where there is none.
func (b *builder) bytewise() bool {
	for _, r := range b.req.Snapshot.Relations {
		if i := slices.IndexFunc(r.Columns, func(c catalog.Column) bool { return c.Collation == defaultCollation }); i >= 0 {
			return r.Columns[i].BytewiseC
		}
	}
	return false
}

// collated gives the result of an entry that takes no text, but for its literals, the default collation.
func (s *shipper) collated(entry *dialect.Entry, args []typ, t typ) typ {
	if !t.IsText() {
		return t
	}
	for i, a := range args {
		if entry.Args[i].Literal == nil && dialect.Text.Takes(a) {
			return t
		}
	}
	t.Bytewise = s.b.bytewise()
	return t
}
