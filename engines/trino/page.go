package trino

import (
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// page is one answer of the server's.
type page struct {
	next    string   // the address of the page behind it, empty for none
	failure *failure // of the statement
	rows    int      // that went into the columns
}

// table collects the rows of pages.
type table struct {
	columns []*column // nil until a page has said what there are
	schema  *arrow.Schema
	scanner scanner
}

// read reads a page: its rows into the columns, which the first one that knows them makes.
func (t *table) read(body []byte) (p page, err error) {
	s := &t.scanner
	s.buf, s.at, s.depth = body, 0, 0
	if !s.take('{') {
		return p, malformed(errJSON)
	}
	for first := true; ; first = false {
		more, err := s.more('}', first)
		if err != nil {
			return p, malformed(err)
		}
		if !more {
			return p, nil
		}
		name, err := s.text()
		if err != nil || !s.take(':') {
			return p, malformed(errJSON)
		}
		if err := t.entry(&p, string(name)); err != nil {
			return p, err
		}
	}
}

// entry reads one value of the object that a page is.
func (t *table) entry(p *page, name string) error {
	s := &t.scanner
	if name == "data" && t.columns != nil { // which stand before the data
		n, err := t.rows()
		p.rows += n
		return err
	}
	raw, err := s.skip()
	if err != nil {
		return malformed(err)
	}
	switch name {
	case "nextUri":
		err = json.Unmarshal(raw, &p.next)
	case "error":
		err = json.Unmarshal(raw, &p.failure)
	case "columns":
		return t.describe(raw)
	case "data":
		if string(raw) != "null" && string(raw) != "[]" {
			err = errJSON
		}
	}
	if err != nil {
		return malformed(err)
	}
	return nil
}

// describe makes the columns.
func (t *table) describe(raw []byte) error {
	if t.columns != nil || string(raw) == "null" {
		return nil
	}
	var list []remoteColumn
	if err := json.Unmarshal(raw, &list); err != nil {
		return malformed(err)
	}
	t.columns = make([]*column, 0, len(list))
	fields := make([]arrow.Field, 0, len(list))
	for _, r := range list {
		c, err := newColumn(r)
		if err != nil {
			return err
		}
		t.columns = append(t.columns, c)
		fields = append(fields, arrow.Field{Name: r.Name, Type: c.builder.Type(), Nullable: true})
	}
	t.schema = arrow.NewSchema(fields, nil)
	return nil
}

// rows reads the rows of a page.
func (t *table) rows() (n int, err error) {
	s := &t.scanner
	if s.word("null") {
		return 0, nil
	}
	if !s.take('[') {
		return 0, malformed(errJSON)
	}
	for ; ; n++ {
		more, err := s.more(']', n == 0)
		if err != nil {
			return n, malformed(err)
		}
		if !more {
			return n, nil
		}
		if err := t.row(); err != nil {
			return n, err
		}
	}
}

func (t *table) row() error {
	s := &t.scanner
	if !s.take('[') {
		return malformed(errJSON)
	}
	for i, c := range t.columns {
		if i > 0 && !s.take(',') {
			return malformed(errJSON)
		}
		if err := c.append(s); err != nil {
			return known(err)
		}
	}
	if !s.take(']') {
		return malformed(errJSON)
	}
	return nil
}

// record takes the rows out of the columns.
func (t *table) record(rows int) arrow.RecordBatch {
	arrays := make([]arrow.Array, len(t.columns))
	for i, c := range t.columns {
		arrays[i] = c.builder.NewArray()
		defer arrays[i].Release()
	}
	return array.NewRecordBatch(t.schema, arrays, int64(rows))
}
