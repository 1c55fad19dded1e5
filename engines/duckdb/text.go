package duckdb

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/pgerr"
)

// maxField is the largest value that Postgres can hold, 1 GiB less the header.
const maxField = 1<<30 - 1

// buildText copies strings and blobs: their bytes stand all over DuckDB's heap, Arrow wants them in a row.
func buildText(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[stringT](c.data, c.rows)
	return c.texts(lo, hi, func(dst []byte, i int) []byte { return append(dst, in[i].bytes()...) })
}

// buildEnum spells out the labels of an enum whose codes are of type T.
func buildEnum[T uint8 | uint16 | uint32](c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[T](c.data, c.rows)
	return c.texts(lo, hi, func(dst []byte, i int) []byte { return append(dst, c.labels[in[i]]...) })
}

// buildBit spells bit strings as Postgres does. DuckDB's form begins with the number of unused bits of its first byte.
func buildBit(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[stringT](c.data, c.rows)
	return c.texts(lo, hi, func(dst []byte, i int) []byte {
		b := in[i].bytes()
		for j := int(b[0]) + 8; j < len(b)*8; j++ {
			dst = append(dst, '0'+b[j>>3]>>(7-j&7)&1)
		}
		return dst
	})
}

// buildTimeTZ spells times with zone as Postgres does, since Arrow has no such type.
func buildTimeTZ(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[uint64](c.data, c.rows)
	return c.texts(lo, hi, func(dst []byte, i int) []byte { return appendTimeTZ(dst, in[i]) })
}

func (c *column) texts(lo, hi int, add func(dst []byte, i int) []byte) (arrow.ArrayData, error) {
	if cap(c.offsets) <= hi {
		c.offsets = make([]int32, max(hi, chunkRows)+1)
	}
	offsets, buf := c.offsets[:hi+1], c.values[:0]
	if cap(buf) > keepCapacity {
		buf = nil
	}
	for i := lo; i < hi; i++ {
		offsets[i] = int32(len(buf))
		if c.isValid(i) {
			buf = add(buf, i)
		}
		if len(buf) > maxField {
			return nil, pgerr.New(pgerr.ProgramLimitExceeded, "a value of column %q is larger than 1 GB", c.field.Name)
		}
	}
	offsets[hi] = int32(len(buf))
	c.values = buf
	return c.array(lo, hi, bytesOf(offsets), buf), nil
}

// maxZone is DuckDB's largest offset from UTC, 15:59:59. A time with zone holds the microseconds in its upper 40 bits
// and, in the lower 24, this less the offset.
const maxZone = 16*60*60 - 1

func appendTimeTZ(dst []byte, bits uint64) []byte {
	micros := int64(bits >> 24)
	zone := maxZone - int(bits&(1<<24-1))
	seconds := int(micros / 1_000_000)
	dst = appendClock(dst, seconds, true)
	if frac := int(micros % 1_000_000); frac != 0 {
		dst = append(dst, '.')
		for unit := 100_000; frac > 0; unit /= 10 {
			dst = append(dst, byte('0'+frac/unit))
			frac %= unit
		}
	}
	sign := byte('+')
	if zone < 0 {
		sign, zone = '-', -zone
	}
	dst = append(dst, sign)
	if zone%60 != 0 {
		return appendClock(dst, zone, true)
	}
	if zone%3600 != 0 {
		return appendClock(dst, zone, false)
	}
	return append(dst, byte('0'+zone/36000), byte('0'+zone/3600%10))
}

func appendClock(dst []byte, seconds int, full bool) []byte {
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	dst = append(dst, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10))
	if full {
		dst = append(dst, ':', byte('0'+s/10), byte('0'+s%10))
	}
	return dst
}

// weighText is what a string of row i takes.
func weighText(c *column, i int) int {
	if !c.isValid(i) {
		return 0
	}
	return int(slice[stringT](c.data, c.rows)[i].length)
}

// weighBit is what a bit string of row i takes: a character a bit.
func weighBit(c *column, i int) int { return 8 * weighText(c, i) }
