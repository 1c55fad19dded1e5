package pgtest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// firstUserOID is the first OID that initdb does not give out.
const firstUserOID = 16384

// names says what objects are called whose OIDs differ from one database to the next.
type names interface {
	relation(oid uint32) string
	typeName(oid uint32) string
}

// typeOf is the name of a message's type as scripts write it.
func typeOf(m pgproto3.BackendMessage) string { return reflect.TypeOf(m).Elem().Name() }

// printer writes backend messages as lines of JSON with nothing volatile in them.
type printer struct {
	names    names
	codeOnly bool // of an error print severity and SQLSTATE only
}

// line prints one message.
func (p printer) line(m pgproto3.BackendMessage) string {
	var b strings.Builder
	b.WriteString(typeOf(m))
	if body := p.body(m); body != nil {
		b.WriteByte(' ')
		b.WriteString(compact(body))
	}
	return b.String()
}

// body returns what to print beside the type; nil for nothing.
func (p printer) body(m pgproto3.BackendMessage) any {
	switch m := m.(type) {
	case *pgproto3.DataRow:
		return printable(m.Values)
	case *pgproto3.RowDescription:
		out := []any{}
		for _, f := range m.Fields {
			out = append(out, p.field(f))
		}
		return out
	case *pgproto3.ParameterDescription:
		out := []any{}
		for _, oid := range m.ParameterOIDs {
			out = append(out, p.typ(oid))
		}
		return out
	case *pgproto3.CommandComplete:
		return string(m.CommandTag)
	case *pgproto3.ReadyForQuery:
		return string([]byte{m.TxStatus})
	case *pgproto3.ErrorResponse:
		return p.diagnostic(*m)
	case *pgproto3.NoticeResponse:
		return p.diagnostic(pgproto3.ErrorResponse(*m))
	case *pgproto3.ParameterStatus:
		return pair{m.Name, parameterValue(m)}
	case *pgproto3.NotificationResponse:
		return pair{m.Channel, m.Payload}
	case *pgproto3.CopyData:
		return printable([][]byte{m.Data})[0]
	case *pgproto3.CopyInResponse:
		return copyFormats(m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return copyFormats(m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.FunctionCallResponse:
		return printable([][]byte{m.Result})[0]
	case *pgproto3.NegotiateProtocolVersion:
		return m
	}
	return nil
}

type pair [2]string

type copyFormat struct {
	Format  byte
	Columns []uint16
}

func copyFormats(overall byte, columns []uint16) copyFormat {
	return copyFormat{overall, append([]uint16{}, columns...)}
}

// parameterValue hides what differs between servers of the same version.
func parameterValue(m *pgproto3.ParameterStatus) string {
	if strings.HasPrefix(m.Name, "server_version") {
		return "…"
	}
	return m.Value
}

type rowField struct {
	Name   string
	Table  string `json:",omitempty"`
	Attr   uint16 `json:",omitempty"`
	Type   any
	Size   int16
	Mod    int32
	Format int16
}

func (p printer) field(f pgproto3.FieldDescription) rowField {
	out := rowField{Name: string(f.Name), Attr: f.TableAttributeNumber, Type: p.typ(f.DataTypeOID),
		Size: f.DataTypeSize, Mod: f.TypeModifier, Format: f.Format}
	if f.TableOID != 0 {
		out.Table = p.names.relation(f.TableOID)
	}
	return out
}

func (p printer) typ(oid uint32) any {
	if oid < firstUserOID {
		return oid
	}
	return p.names.typeName(oid)
}

type diagnostic struct {
	Severity, Code string
	Message        string `json:",omitempty"`
	Detail         string `json:",omitempty"`
	Hint           string `json:",omitempty"`
	Position       int32  `json:",omitempty"`
	Where          string `json:",omitempty"`
	Schema         string `json:",omitempty"`
	Table          string `json:",omitempty"`
	Column         string `json:",omitempty"`
	DataType       string `json:",omitempty"`
	Constraint     string `json:",omitempty"`
}

func (p printer) diagnostic(e pgproto3.ErrorResponse) diagnostic {
	d := diagnostic{Severity: e.Severity, Code: e.Code}
	if p.codeOnly {
		return d
	}
	d.Message, d.Detail, d.Hint, d.Position = e.Message, e.Detail, e.Hint, e.Position
	d.Where = serverContext.ReplaceAllString(e.Where, "")
	d.Schema, d.Table, d.Column = e.SchemaName, e.TableName, e.ColumnName
	d.DataType, d.Constraint = e.DataTypeName, e.ConstraintName
	return d
}

type hexValue struct {
	Hex string `json:"hex"`
}

// serverContext is the line by which an error says which foreign server it comes from. Plain tables have none.
var serverContext = regexp.MustCompile(`(?m)\n?^foreign server "[^"]*"$`)

// printable returns values as text where they are text, in hex where not, and null for NULL.
func printable(values [][]byte) []any {
	out := []any{}
	for _, v := range values {
		switch {
		case v == nil:
			out = append(out, nil)
		case isText(v):
			out = append(out, string(v))
		default:
			out = append(out, hexValue{hex.EncodeToString(v)})
		}
	}
	return out
}

func isText(v []byte) bool {
	if !utf8.Valid(v) {
		return false
	}
	for _, r := range string(v) {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
	}
	return true
}

// compact is JSON without HTML escapes and without a line end.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("%q", err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
