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

// undecided reports whether an entry compares operands by a collation that they do not agree on, which home refuses.
func undecided(entry *dialect.Entry, args []typ) bool {
	compares := slices.ContainsFunc(entry.Args, func(a dialect.Arg) bool { return comparing[a.Class] })
	return compares && dialect.TextOf(args...).Collate == dialect.Indeterminate
}

// comparing are the classes of text whose collation matters.
var comparing = map[dialect.Class]bool{dialect.Equal: true, dialect.Ordered: true, dialect.Letters: true, dialect.Sorted: true, dialect.Grouped: true}
