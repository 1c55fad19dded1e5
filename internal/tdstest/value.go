package tdstest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// kind is a type of the protocol (MS-TDS 2.2.5.4), with what describes it and how a text of Postgres becomes a value.
type kind struct {
	info  func(typmod int32) []byte
	value func(text string, typmod int32) ([]byte, error)
}

func fixed(info ...byte) func(int32) []byte { return func(int32) []byte { return info } }

// kinds are those that values of Postgres have, by OID. All others are texts.
var kinds = map[uint32]kind{
	16:   {fixed(0x68, 1), func(text string, _ int32) ([]byte, error) { return []byte{1, boolByte(text == "t")}, nil }},
	21:   {fixed(0x26, 2), integer(2)},
	23:   {fixed(0x26, 4), integer(4)},
	20:   {fixed(0x26, 8), integer(8)},
	700:  {fixed(0x6d, 4), float(32)},
	701:  {fixed(0x6d, 8), float(64)},
	1700: {decimalInfo, decimal},
	17:   {fixed(0xa5, 0xff, 0xff), binaryValue},
	2950: {fixed(0x24, 16), uuid},
	1082: {fixed(0x28), moment(time.DateOnly, false, true)},
	1083: {scaled(0x29), moment("15:04:05.999999", true, false)},
	1114: {scaled(0x2a), moment("2006-01-02 15:04:05.999999", true, true)},
	1184: {scaled(0x2b), zoned},
}

// text is NVARCHAR(MAX), under a collation of Windows'.
var text = kind{fixed(0xe7, 0xff, 0xff, 0x09, 0x04, 0xd0, 0x00, 0x34), func(text string, _ int32) ([]byte, error) { return parts(ucs2(text)), nil }}

func kindOf(f pgconn.FieldDescription) kind {
	if k, ok := kinds[f.DataTypeOID]; ok {
		return k
	}
	return text
}

// columns describes rows (2.2.7.4).
func (s *session) columns(fields []pgconn.FieldDescription) {
	out := binary.LittleEndian.AppendUint16([]byte{0x81}, uint16(len(fields)))
	for _, f := range fields {
		out = append(out, 0, 0, 0, 0, 1, 0) // user type; nullable
		out = append(out, kindOf(f).info(f.TypeModifier)...)
		out = append(out, short(f.Name)...)
	}
	_, _ = s.out.Write(out)
}

// row writes one (2.2.7.19).
func (s *session) row(fields []pgconn.FieldDescription, values [][]byte) error {
	out := []byte{0xd1}
	for i, f := range fields {
		k := kindOf(f)
		long := k.info(f.TypeModifier)[0] == 0xe7 || k.info(f.TypeModifier)[0] == 0xa5
		switch {
		case values[i] == nil && long:
			out = binary.LittleEndian.AppendUint64(out, 1<<64-1)
		case values[i] == nil:
			out = append(out, 0)
		default:
			v, err := k.value(string(values[i]), f.TypeModifier)
			if err != nil {
				return fmt.Errorf("column %q: %w", f.Name, err)
			}
			out = append(out, v...)
		}
	}
	_, err := s.out.Write(out)
	return err
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// parts is a value in parts (2.2.5.2.3): one.
func parts(data []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	if len(data) > 0 {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), data...)
	}
	return append(out, 0, 0, 0, 0)
}

func integer(size int) func(string, int32) ([]byte, error) {
	return func(text string, _ int32) ([]byte, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		return append([]byte{byte(size)}, binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]...), err
	}
}

func float(bits int) func(string, int32) ([]byte, error) {
	return func(text string, _ int32) ([]byte, error) {
		f, err := strconv.ParseFloat(text, bits)
		if bits == 32 {
			return binary.LittleEndian.AppendUint32([]byte{4}, math.Float32bits(float32(f))), err
		}
		return binary.LittleEndian.AppendUint64([]byte{8}, math.Float64bits(f)), err
	}
}

// digitsOf returns precision and scale of a numeric; one without has those that most values fit.
func digitsOf(typmod int32) (precision, scale int) {
	if typmod < 4 {
		return 38, 10
	}
	return int(typmod-4) >> 16, int(typmod-4) & 0x7ff
}

func decimalInfo(typmod int32) []byte {
	precision, scale := digitsOf(typmod)
	return []byte{0x6a, 17, byte(precision), byte(scale)}
}

func decimal(text string, typmod int32) ([]byte, error) {
	_, scale := digitsOf(typmod)
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if len(fraction) > scale {
		fraction = fraction[:scale]
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", scale-len(fraction)), 10)
	if !ok || n.BitLen() > 128 {
		return nil, fmt.Errorf("%s is no decimal", text)
	}
	raw := make([]byte, 16)
	n.FillBytes(raw)
	out := []byte{17, boolByte(!strings.HasPrefix(text, "-"))}
	for i := range raw {
		out = append(out, raw[15-i])
	}
	return out, nil
}

func binaryValue(text string, _ int32) ([]byte, error) {
	data, err := hex.DecodeString(strings.TrimPrefix(text, `\x`))
	return parts(data), err
}

// uuid has its first three fields in the other order of bytes.
func uuid(text string, _ int32) ([]byte, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != 16 {
		return nil, fmt.Errorf("%s is no uuid", text)
	}
	return append([]byte{16, b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6]}, b[8:]...), nil
}

// scaled describes a type of microseconds.
func scaled(id byte) func(int32) []byte { return fixed(id, scale) }

// scale is how many digits fractions of a second have.
const scale = 6

// moment reads a date, a time, or both.
func moment(layout string, clock, day bool) func(string, int32) ([]byte, error) {
	return func(text string, _ int32) ([]byte, error) {
		t, err := time.Parse(layout, text)
		out := instant(t, clock, day)
		return append([]byte{byte(len(out))}, out...), err
	}
}

var zero = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)

// instant is the time of a day in units of its scale, and the day since the first of the first year.
func instant(t time.Time, clock, day bool) (out []byte) {
	at := t.Sub(t.Truncate(24 * time.Hour)).Microseconds()
	if clock {
		out = append(out, binary.LittleEndian.AppendUint64(nil, uint64(at))[:5]...)
	}
	if day {
		days := (t.Unix() - zero.Unix()) / 86400
		out = append(out, binary.LittleEndian.AppendUint32(nil, uint32(days))[:3]...)
	}
	return out
}

// zoned reads a moment, which is sent in UTC with the distance of a zone.
func zoned(text string, _ int32) ([]byte, error) {
	t, err := time.Parse("2006-01-02 15:04:05.999999Z07", text)
	if err != nil {
		t, err = time.Parse("2006-01-02 15:04:05.999999Z07:00", text)
	}
	_, away := t.Zone()
	out := binary.LittleEndian.AppendUint16(instant(t.UTC(), true, true), uint16(int16(away/60)))
	return append([]byte{byte(len(out))}, out...), err
}
