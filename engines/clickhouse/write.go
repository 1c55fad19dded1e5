package clickhouse

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// writers write a value, whose text home has written, in the form of a type of ClickHouse's; nil, which is NULL, as anything.
var writers = map[string]func(out []byte, text []byte, t typeName) ([]byte, error){
	"Int16": writeInt(16), "Int32": writeInt(32), "Int64": writeInt(64), "Float32": writeFloat(32), "Float64": writeFloat(64),
	"Decimal": writeDecimal, "UUID": writeUUID, "String": writeString,
}

func writeString(out, text []byte, _ typeName) ([]byte, error) {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...), nil
}

func writeInt(bits int) func(out, text []byte, t typeName) ([]byte, error) {
	return func(out, text []byte, t typeName) ([]byte, error) {
		var n int64
		if text != nil {
			var err error
			if n, err = strconv.ParseInt(string(text), 10, bits); err != nil {
				return out, misfit(text, t)
			}
		}
		return appendBits(out, uint64(n), bits), nil
	}
}

func appendBits(out []byte, n uint64, bits int) []byte {
	for shift := 0; shift < bits; shift += 8 {
		out = append(out, byte(n>>shift))
	}
	return out
}

func writeFloat(bits int) func(out, text []byte, t typeName) ([]byte, error) {
	return func(out, text []byte, t typeName) ([]byte, error) {
		var f float64
		if text != nil {
			var err error
			if f, err = strconv.ParseFloat(string(text), bits); err != nil {
				return out, misfit(text, t)
			}
		}
		if bits == 32 {
			return appendBits(out, uint64(math.Float32bits(float32(f))), bits), nil
		}
		return appendBits(out, math.Float64bits(f), bits), nil
	}
}

// writeDecimal writes the digits with as many behind the point as the type has.
func writeDecimal(out, text []byte, t typeName) ([]byte, error) {
	precision, scale, _ := t.decimal()
	width := 16
	switch {
	case precision <= 9:
		width = 4
	case precision <= 18:
		width = 8
	}
	if text == nil {
		return append(out, make([]byte, width)...), nil
	}
	whole, fraction, _ := strings.Cut(string(text), ".")
	if len(fraction) > scale {
		return out, misfit(text, t)
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", scale-len(fraction)), 10)
	if !ok || len(n.Text(10)) > precision+1 || n.CmpAbs(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)) >= 0 {
		return out, misfit(text, t)
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	var b [16]byte
	n.FillBytes(b[:width])
	for i := range width {
		out = append(out, b[width-1-i])
	}
	return out, nil
}

func writeUUID(out, text []byte, t typeName) ([]byte, error) {
	var b [16]byte
	if text != nil {
		n, err := hex.Decode(b[:], []byte(strings.ReplaceAll(string(text), "-", "")))
		if err != nil || n != 16 || len(text) != 36 {
			return out, misfit(text, t)
		}
	}
	for half := range 2 {
		out = binary.LittleEndian.AppendUint64(out, binary.BigEndian.Uint64(b[8*half:]))
	}
	return out, nil
}

// misfit says that ClickHouse has no such value.
func misfit(text []byte, t typeName) error {
	shown := string(text)
	if len(shown) > 60 {
		shown = shown[:60] + "…"
	}
	return pgerr.Hint(pgerr.New(pgerr.InvalidTextRepr, "%q cannot be kept as a %s of ClickHouse", shown, t.text),
		"Cast the column in the query, for instance to text, or keep the result at home.")
}
