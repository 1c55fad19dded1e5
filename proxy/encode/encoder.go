package encode

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Settings are those of the session that change how values read as text.
type Settings struct {
	DateStyle        string         // as SHOW prints it, for instance "ISO, MDY"; empty is ISO
	IntervalStyle    string         // empty is postgres
	TimeZone         *time.Location // nil is UTC
	ExtraFloatDigits int            // Postgres' own default is 1
	ByteaEscape      bool           // bytea_output = escape
}

// Home are the settings under which rows go to home, and which Postgres starts with, but for the time zone.
var Home = Settings{ExtraFloatDigits: 1}

// Formats of a column.
const (
	Text   int16 = 0
	Binary int16 = 1
)

// Encoder writes rows of one result. It is used by one goroutine at a time.
type Encoder struct {
	target   []engines.Field
	formats  []int16
	settings Settings
	record   arrow.RecordBatch // that bound is for
	bound    []bound
	copying  bool // bound is for AppendCopyText
}

// bound is one column of the record at hand, ready to be read.
type bound struct {
	cell   cell
	valid  []byte // validity bitmap, nil when no row is NULL
	offset int    // of row 0 in valid
	never  bool   // all rows are NULL
	null   func(i int) bool
}

// cell appends the value of row i, without its length.
type cell func(dst []byte, i int) ([]byte, error)

// New makes an encoder. formats has one entry a column, or one for all, or none for text. source holds the types that
// the rows naturally have, nil where they are not known. A binary column that no conversion exists for is refused here,
// a text column only by Append: AppendCopyText takes any, for home reads it.
func New(target []engines.Field, formats []int16, source []engines.Field, s Settings) (*Encoder, error) {
	if source != nil && len(source) != len(target) {
		return nil, pgerr.New(pgerr.InternalError, "the engine yields %d columns where %d are expected", len(source), len(target))
	}
	e := &Encoder{target: target, settings: s, formats: make([]int16, len(target))}
	for i := range target {
		f, err := formatOf(formats, i, len(target))
		if err != nil {
			return nil, err
		}
		e.formats[i] = f
		if err := s.check(target[i], f); err != nil {
			return nil, err
		}
		if f == Binary && source != nil && !Convertible(target[i], source[i]) {
			return nil, unsupported(target[i], fmt.Sprintf("type OID %d", source[i].OID))
		}
	}
	return e, nil
}

func formatOf(formats []int16, i, columns int) (int16, error) {
	f := Text
	switch len(formats) {
	case 0:
	case 1:
		f = formats[0]
	case columns:
		f = formats[i]
	default:
		return 0, pgerr.New(pgerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", len(formats), columns)
	}
	if f != Text && f != Binary {
		return 0, pgerr.New(pgerr.InvalidParameter, "unsupported format code: %d", f)
	}
	return f, nil
}

// check refuses what the encoder cannot write as the session wants it.
func (s Settings) check(f engines.Field, format int16) error {
	oid := scalarOf(f.OID)
	if format == Binary {
		if _, ok := targets[oid]; !ok || oid == oidInterval && limitedFields(f.Typmod) {
			return unsupported(f, "")
		}
		return nil
	}
	switch oid {
	case oidDate, oidTimestamp, oidTimestampTZ:
		if s.DateStyle != "" && !strings.HasPrefix(strings.ToUpper(s.DateStyle), "ISO") {
			return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "DateStyle %q is not supported for rows of an engine", s.DateStyle),
				"SET DateStyle = 'ISO', or SET sluice.route = 'home_join'.")
		}
	case oidInterval:
		if s.IntervalStyle != "" && s.IntervalStyle != "postgres" {
			return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "IntervalStyle %q is not supported for rows of an engine", s.IntervalStyle),
				"SET IntervalStyle = 'postgres', or SET sluice.route = 'home_join'.")
		}
	}
	return nil
}

// scalarOf returns the OID of an array's elements, or that of any other type.
func scalarOf(oid uint32) uint32 {
	if element, ok := elements[oid]; ok {
		return element
	}
	return oid
}

func unsupported(f engines.Field, source string) *pgconn.PgError {
	if source == "" {
		return pgerr.New(pgerr.FeatureNotSupported, "column %q has type OID %d, which rows of an engine cannot be written as", f.Name, f.OID)
	}
	return pgerr.New(pgerr.FeatureNotSupported, "column %q, of %s at the engine, cannot be written as type OID %d", f.Name, source, f.OID)
}

// Supports says whether columns of an Arrow type can be written as a Postgres type.
func Supports(oid uint32, t arrow.DataType) bool {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	empty := b.NewArray()
	defer empty.Release()
	e := Encoder{settings: Home}
	for _, format := range []int16{Text, Binary} {
		if _, err := e.bindColumn(engines.Field{OID: oid, Typmod: -1}, format, empty); err != nil {
			return false
		}
	}
	return true
}

// bind readies the columns of rec. A record is immutable, so the one bound last needs no second look.
func (e *Encoder) bind(rec arrow.RecordBatch, copying bool) error {
	if rec == e.record && copying == e.copying {
		return nil
	}
	if int(rec.NumCols()) != len(e.target) {
		return pgerr.New(pgerr.InternalError, "the engine yields %d columns where %d are expected", rec.NumCols(), len(e.target))
	}
	e.record = nil
	e.bound = e.bound[:0]
	for i, f := range e.target {
		b, err := e.bindColumn(f, e.formats[i], rec.Column(i))
		if err != nil && copying {
			b, err = e.bindColumn(natural(f, rec.Column(i).DataType()), Text, rec.Column(i))
		}
		if err != nil {
			return err
		}
		e.bound = append(e.bound, b)
	}
	e.record, e.copying = rec, copying
	return nil
}

// Append adds DataRow messages for rows [row0, row0+n) of rec. On an error it returns dst with the whole rows that came
// before the one that failed.
func (e *Encoder) Append(dst []byte, rec arrow.RecordBatch, row0, n int) ([]byte, error) {
	if err := e.bind(rec, false); err != nil {
		return dst, err
	}
	for row := row0; row < row0+n; row++ {
		start := len(dst)
		dst = append(dst, 'D', 0, 0, 0, 0)
		var err error
		if dst, err = e.appendBody(dst, row); err != nil {
			return dst[:start], err
		}
		if len(dst)-start > maxMessage {
			return dst[:start], tooLarge()
		}
		binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	}
	return dst, nil
}

// maxMessage is the largest message that Postgres itself can make.
const maxMessage = 1<<30 - 1

func tooLarge() error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "a row is larger than 1 GB")
}

// appendBody adds the number of fields, and each field's length and value: the body of a DataRow, and a tuple of COPY
// BINARY.
func (e *Encoder) appendBody(dst []byte, row int) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(e.bound)))
	for j := range e.bound {
		b := &e.bound[j]
		if b.isNull(row) {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		var err error
		if dst, err = b.cell(append(dst, 0, 0, 0, 0), row); err != nil {
			return dst, e.locate(err, j)
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, nil
}

func (b *bound) isNull(i int) bool {
	if b.valid != nil {
		i += b.offset
		return b.valid[i>>3]&(1<<(i&7)) == 0
	}
	return b.never || b.null != nil && b.null(i)
}

// locate says in an error's context which column it came from.
func (e *Encoder) locate(err error, column int) error {
	pe := pgerr.From(err)
	if pe.Where == "" {
		pe.Where = "column \"" + e.target[column].Name + "\" of a remote row"
	}
	return pe
}
