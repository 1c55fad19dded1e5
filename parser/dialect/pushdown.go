package dialect

import (
	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
)

// Pushdown is the option of a server that may be sent names of columns alone.
const Pushdown = "pushdown"

// columnsOnly is the dialect of an engine that is to compute nothing.
type columnsOnly struct{ Dialect }

// Ships says that home computes what is more than reading columns.
func (columnsOnly) Ships() Extent { return Columns }

// Table lists nothing.
func (columnsOnly) Table() Index { return nil }

// AsText reports whether values of a column come as text, though DuckDB has a type for them.
func (d columnsOnly) AsText(c *catalog.Column) bool { return !Feeds(d.Dialect, c) }

// pushing is the dialect of a server by its option. A Postgres computes what it is sent by other rules.
func pushing(d Dialect, s *catalog.Server) Dialect {
	if push, err := engines.ParseBool(s.Options[Pushdown], true); push || err != nil || d.Verbatim() {
		return d
	}
	return columnsOnly{d}
}
