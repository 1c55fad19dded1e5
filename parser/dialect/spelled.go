package dialect

import (
	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
)

// spelled reports whether a column holds texts that home has written of values of another type, and which home alone reads.
func spelled(c *catalog.Column) bool {
	is, err := engines.ParseBool(c.Options["spelled"], false)
	return is && err == nil
}

// AsText reports whether a column is spelled.
func (MySQL) AsText(c *catalog.Column) bool { return spelled(c) }

// AsText reports whether a column is spelled.
func (SQLite) AsText(c *catalog.Column) bool { return spelled(c) }

// AsText reports whether a column is spelled.
func (SQLServer) AsText(c *catalog.Column) bool { return spelled(c) }
