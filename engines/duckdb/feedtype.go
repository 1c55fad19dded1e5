package duckdb

import (
	"strconv"
	"strings"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// feedType is the DuckDB type of a feed's column.
type feedType struct {
	name             string
	id               bindings.Type
	precision, scale int // of a decimal
	binary           binaryForm
	element          *feedType // of a list
}

// binaryForm reads one value in Postgres' binary form into row i of a vector's data. A nil one stands for text: the
// bytes are the value.
type binaryForm func(t *feedType, data unsafe.Pointer, i int, v []byte) error

// feedTypes are the types that Postgres' types are shipped in, but for decimals and lists.
var feedTypes = map[string]feedType{
	"BOOLEAN":     {id: bindings.TypeBoolean, binary: readBool},
	"SMALLINT":    {id: bindings.TypeSmallInt, binary: readInt2},
	"INTEGER":     {id: bindings.TypeInteger, binary: readInt4},
	"BIGINT":      {id: bindings.TypeBigInt, binary: readInt8},
	"FLOAT":       {id: bindings.TypeFloat, binary: readInt4},
	"DOUBLE":      {id: bindings.TypeDouble, binary: readInt8},
	"VARCHAR":     {id: bindings.TypeVarchar},
	"JSON":        {id: bindings.TypeVarchar},
	"BLOB":        {id: bindings.TypeBlob},
	"DATE":        {id: bindings.TypeDate, binary: readDate},
	"TIME":        {id: bindings.TypeTime, binary: readInt8},
	"TIMESTAMP":   {id: bindings.TypeTimestamp, binary: readTimestamp},
	"TIMESTAMPTZ": {id: bindings.TypeTimestampTZ, binary: readTimestamp},
	"INTERVAL":    {id: bindings.TypeInterval, binary: readInterval},
	"UUID":        {id: bindings.TypeUUID, binary: readUUID},
}

// newFeedType returns the type of a name; 0A000 where a feed cannot hold it.
func newFeedType(name string) (*feedType, error) {
	if element, ok := strings.CutSuffix(name, "[]"); ok {
		t, err := newFeedType(element)
		if err != nil {
			return nil, err
		}
		return &feedType{name: name, id: bindings.TypeList, element: t, binary: readNoList}, nil
	}
	if t, ok := feedTypes[name]; ok {
		t.name = name
		return &t, nil
	}
	precision, scale, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "DECIMAL("), ")"), ",")
	p, perr := strconv.Atoi(precision)
	s, serr := strconv.Atoi(scale)
	if !ok || perr != nil || serr != nil || p < 1 || p > 38 || s < 0 || s > p {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "values of DuckDB type %s cannot be fed", name)
	}
	return &feedType{name: name, id: bindings.TypeDecimal, precision: p, scale: s, binary: readNumeric}, nil
}

// logical returns the type for a declaration, which the caller destroys.
func (t *feedType) logical() bindings.LogicalType {
	switch t.id {
	case bindings.TypeDecimal:
		return bindings.CreateDecimalType(uint8(t.precision), uint8(t.scale))
	case bindings.TypeList:
		element := t.element.logical()
		defer bindings.DestroyLogicalType(&element)
		return bindings.CreateListType(element)
	}
	l := bindings.CreateLogicalType(t.id)
	if t.name == "JSON" {
		bindings.LogicalTypeSetAlias(l, t.name)
	}
	return l
}

// isText reports whether values are strings of bytes.
func (t *feedType) isText() bool { return t.id == bindings.TypeVarchar || t.id == bindings.TypeBlob }

// unfed says that a stream's values are not of the type that its feed has.
func (t *feedType) unfed(what string) *pgconn.PgError {
	return pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "values of type %s came for a column that is read as %s", what, t.name),
		"Give the foreign table's column the type that IMPORT FOREIGN SCHEMA gives it, or SET sluice.route = home_join.")
}
