package dialect

import "github.com/sluicedb/sluice/catalog"

// clickHouseSpells are the types at home whose values may come as texts, which are made such values on their way.
var clickHouseSpells = map[uint32]bool{textOID: true, varcharOID: true, bpcharOID: true, jsonOID: true, jsonbOID: true, numericOID: true}

// AsText reports whether a column holds the texts of values whose type home alone knows: there it is one of another type than text.
func (ClickHouse) AsText(c *catalog.Column) bool {
	return clickHouseBase(c) == "String" && !clickHouseSpells[c.Type]
}
