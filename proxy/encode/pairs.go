package encode

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
)

// families groups the types that values convert between: a target takes sources of its own family.
var families = map[uint32]int{
	oidBool:  1,
	oidBytea: 2,
	oidInt2:  3, oidInt4: 3, oidInt8: 3, oidOID: 3, oidNumeric: 3,
	oidFloat4: 4, oidFloat8: 4,
	oidDate:        5,
	oidTime:        6,
	oidTimestamp:   7,
	oidTimestampTZ: 8,
	oidInterval:    9,
	oidUUID:        10,
	oidText:        11, oidVarchar: 11, oidBpchar: 11, oidName: 11, oidUnknown: 11, oidJSON: 11, oidJSONB: 11,
	oidTimeTZ: 11, oidBit: 11, oidVarbit: 11,
}

// Convertible reports whether rows of an engine that naturally have one type can be written as another. It asks the
// OIDs alone, before any row is there; Supports asks the Arrow type.
func Convertible(target, source engines.Field) bool {
	_, isArray := elements[target.OID]
	if _, sourceArray := elements[source.OID]; isArray != sourceArray {
		return false
	}
	to, from := scalarOf(target.OID), scalarOf(source.OID)
	if to == oidNumeric && families[from] == families[oidText] {
		return true // an engine without wide decimals sends their text
	}
	if families[to] == 0 || families[to] != families[from] {
		return false
	}
	if from == oidNumeric && to != oidNumeric {
		return numericTypeOf(source.Typmod).scale == 0
	}
	return to != oidInterval || !limitedFields(target.Typmod)
}

// natural returns f with the type that values of an Arrow type read as best.
func natural(f engines.Field, t arrow.DataType) engines.Field {
	f.Typmod = -1
	list := false
	for {
		switch of := t.(type) {
		case arrow.ListLikeType:
			t, list = of.Elem(), true
			continue
		case *arrow.DictionaryType:
			t = of.ValueType
			continue
		case arrow.ExtensionType:
			t = of.StorageType()
			continue
		}
		break
	}
	f.OID = naturalOID(t)
	if list {
		for array, element := range elements {
			if element == f.OID {
				f.OID = array
			}
		}
	}
	return f
}

func naturalOID(t arrow.DataType) uint32 {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return oidBool
	case *arrow.Float32Type:
		return oidFloat4
	case *arrow.Float64Type:
		return oidFloat8
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return oidBytea
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth == 16 {
			return oidUUID
		}
		return oidBytea
	case *arrow.Date32Type:
		return oidDate
	case *arrow.Time32Type, *arrow.Time64Type:
		return oidTime
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return oidTimestampTZ
		}
		return oidTimestamp
	case *arrow.MonthDayNanoIntervalType:
		return oidInterval
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return oidText
	default:
		return oidNumeric
	}
}
