package tpch

import (
	"bufio"
	"strconv"
	"time"
)

// rowWriter writes the fields of rows. Errors stay in w until it is flushed.
type rowWriter struct {
	w       *bufio.Writer
	scratch []byte
	begun   bool
}

func (r *rowWriter) sep() {
	if r.begun {
		_ = r.w.WriteByte('|')
	}
	r.begun = true
}

func (r *rowWriter) text(s string) {
	r.sep()
	_, _ = r.w.WriteString(s)
}

func (r *rowWriter) int(n int) {
	r.sep()
	r.scratch = strconv.AppendInt(r.scratch[:0], int64(n), 10)
	_, _ = r.w.Write(r.scratch)
}

// cents writes a number of hundredths.
func (r *rowWriter) cents(n int) {
	r.sep()
	r.scratch = r.scratch[:0]
	if n < 0 {
		r.scratch, n = append(r.scratch, '-'), -n
	}
	r.scratch = strconv.AppendInt(r.scratch, int64(n/100), 10)
	r.scratch = append(r.scratch, '.', byte('0'+n/10%10), byte('0'+n%10))
	_, _ = r.w.Write(r.scratch)
}

// date writes a day that is counted from firstDay.
func (r *rowWriter) date(day int) {
	r.sep()
	r.scratch = firstDay.AddDate(0, 0, day).AppendFormat(r.scratch[:0], time.DateOnly)
	_, _ = r.w.Write(r.scratch)
}

func (r *rowWriter) end() {
	_ = r.w.WriteByte('\n')
	r.begun = false
}
