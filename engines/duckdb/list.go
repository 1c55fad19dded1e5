package duckdb

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/pgerr"
)

// span is a run of elements in a list's child vector.
type span struct{ lo, hi int }

// entry returns where the elements of row i stand; a NULL list has none.
func (c *column) entry(i int) span {
	switch {
	case !c.isValid(i):
		return span{}
	case c.size > 0:
		return span{i * c.size, (i + 1) * c.size}
	default:
		e := slice[listEntry](c.data, c.rows)[i]
		return span{int(e.offset), int(e.offset + e.length)}
	}
}

// buildList makes an Arrow list. The elements are viewed in place where they stand in one run, and put together from
// several runs after a filter or a join, which leaves gaps.
func buildList(c *column, lo, hi int) (arrow.ArrayData, error) {
	if cap(c.offsets) <= hi {
		c.offsets = make([]int32, max(hi, chunkRows)+1)
	}
	offsets := c.offsets[:hi+1]
	var runs []span
	count := 0
	for i := lo; i < hi; i++ {
		offsets[i] = int32(count)
		e := c.entry(i)
		if e.lo == e.hi {
			continue
		}
		if count += e.hi - e.lo; count > math.MaxInt32 {
			return nil, pgerr.New(pgerr.ProgramLimitExceeded, "a list of column %q is too long", c.field.Name)
		}
		if n := len(runs); n > 0 && runs[n-1].hi == e.lo {
			runs[n-1].hi = e.hi
		} else {
			runs = append(runs, e)
		}
	}
	offsets[hi] = int32(count)
	elements, err := c.child.gather(runs)
	if err != nil {
		return nil, err
	}
	data := c.array(lo, hi, bytesOf(offsets)).(*array.Data)
	return array.NewData(c.typ, hi-lo, data.Buffers(), []arrow.ArrayData{elements}, data.NullN(), lo), nil
}

// gather returns the rows of runs, one behind the other.
func (c *column) gather(runs []span) (arrow.ArrayData, error) {
	switch len(runs) {
	case 0:
		return c.build(c, 0, 0)
	case 1:
		return c.build(c, runs[0].lo, runs[0].hi)
	}
	// The runs are built as one range and cut, because building each alone would use the column's buffers again.
	lo, hi := runs[0].lo, runs[0].hi
	for _, r := range runs {
		lo, hi = min(lo, r.lo), max(hi, r.hi)
	}
	whole, err := c.build(c, lo, hi)
	if err != nil {
		return nil, err
	}
	parts := make([]arrow.Array, len(runs))
	all := array.MakeFromData(whole)
	for i, r := range runs {
		parts[i] = array.NewSlice(all, int64(r.lo-lo), int64(r.hi-lo))
	}
	joined, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return nil, pgerr.New(pgerr.FdwError, "could not read the lists of column %q: %s", c.field.Name, err)
	}
	return joined.Data(), nil
}

// weighList is what the elements of row i take.
func weighList(c *column, i int) int {
	e := c.entry(i)
	n := (e.hi - e.lo) * c.child.width
	if c.child.weigh != nil {
		for j := e.lo; j < e.hi; j++ {
			n += c.child.weigh(c.child, j)
		}
	}
	return n
}
