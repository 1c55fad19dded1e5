package pgtest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// fields is the union of what the JSON of a send line may hold, under pgproto3's field names.
type fields struct {
	String               string
	Name                 string
	Query                string
	ParameterOIDs        []uint32
	DestinationPortal    string
	PreparedStatement    string
	ParameterFormatCodes []int16
	Parameters           []value
	ResultFormatCodes    []int16
	ObjectType           string
	Portal               string
	MaxRows              uint32
	Data                 *value
	Message              string
	Function             uint32
	Arguments            []value
	ResultFormatCode     uint16
	Parameter            map[string]string
	ProtocolVersion      uint32
}

// value is a parameter: null, "text", {"text": "…"} or {"binary": "hex"}.
type value struct{ bytes []byte }

// UnmarshalJSON reads a value.
func (v *value) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		v.bytes = nil
		return nil
	}
	if data[0] == '"' {
		var s string
		err := json.Unmarshal(data, &s)
		v.bytes = append([]byte{}, s...)
		return err
	}
	var forms struct{ Text, Binary *string }
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&forms); err != nil {
		return err
	}
	switch {
	case forms.Text != nil && forms.Binary == nil:
		v.bytes = append([]byte{}, *forms.Text...)
	case forms.Binary != nil && forms.Text == nil:
		b, err := hex.DecodeString(*forms.Binary)
		v.bytes = append([]byte{}, b...)
		return err
	default:
		return fmt.Errorf("a value is null, text or binary: %s", data)
	}
	return nil
}

func rawValues(vs []value) [][]byte {
	var out [][]byte
	for _, v := range vs {
		out = append(out, v.bytes)
	}
	return out
}

// encodeLines turns the lines of a send block into the bytes to write. An empty line or one that starts with # is
// skipped.
func encodeLines(input string) ([]byte, error) {
	var buf []byte
	for _, line := range strings.Split(input, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var err error
		if buf, err = appendLine(buf, line); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	return buf, nil
}

// appendLine appends the message of one line: a type, and JSON where the type has fields; for raw, hex bytes.
func appendLine(buf []byte, line string) ([]byte, error) {
	typ, rest, _ := strings.Cut(line, " ")
	if typ == "raw" {
		b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		return append(buf, b...), err
	}
	var f fields
	if rest != "" {
		dec := json.NewDecoder(strings.NewReader(rest))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&f); err != nil {
			return nil, err
		}
	}
	msg, err := frontendMessage(typ, f)
	if err != nil {
		return nil, err
	}
	return msg.Encode(buf)
}

func frontendMessage(typ string, f fields) (pgproto3.FrontendMessage, error) {
	switch typ {
	case "Query":
		return &pgproto3.Query{String: f.String}, nil
	case "Parse":
		return &pgproto3.Parse{Name: f.Name, Query: f.Query, ParameterOIDs: f.ParameterOIDs}, nil
	case "Bind":
		return &pgproto3.Bind{DestinationPortal: f.DestinationPortal, PreparedStatement: f.PreparedStatement,
			ParameterFormatCodes: f.ParameterFormatCodes, Parameters: rawValues(f.Parameters),
			ResultFormatCodes: f.ResultFormatCodes}, nil
	case "Describe", "Close":
		if len(f.ObjectType) != 1 {
			return nil, fmt.Errorf("ObjectType is S or P, not %q", f.ObjectType)
		}
		if typ == "Close" {
			return &pgproto3.Close{ObjectType: f.ObjectType[0], Name: f.Name}, nil
		}
		return &pgproto3.Describe{ObjectType: f.ObjectType[0], Name: f.Name}, nil
	case "Execute":
		return &pgproto3.Execute{Portal: f.Portal, MaxRows: f.MaxRows}, nil
	case "FunctionCall":
		return &pgproto3.FunctionCall{Function: f.Function, ArgFormatCodes: toUnsigned(f.ParameterFormatCodes),
			Arguments: rawValues(f.Arguments), ResultFormatCode: f.ResultFormatCode}, nil
	case "StartupMessage":
		return &pgproto3.StartupMessage{ProtocolVersion: f.ProtocolVersion, Parameters: f.Parameter}, nil
	case "CopyData":
		if f.Data == nil {
			return nil, fmt.Errorf("CopyData needs Data")
		}
		return &pgproto3.CopyData{Data: f.Data.bytes}, nil
	case "CopyFail":
		return &pgproto3.CopyFail{Message: f.Message}, nil
	case "CopyDone":
		return &pgproto3.CopyDone{}, nil
	case "Sync":
		return &pgproto3.Sync{}, nil
	case "Flush":
		return &pgproto3.Flush{}, nil
	case "Terminate":
		return &pgproto3.Terminate{}, nil
	case "SSLRequest":
		return &pgproto3.SSLRequest{}, nil
	case "GSSENCRequest":
		return &pgproto3.GSSEncRequest{}, nil
	}
	return nil, fmt.Errorf("unknown frontend message %q", typ)
}

func toUnsigned(codes []int16) []uint16 {
	var out []uint16
	for _, c := range codes {
		out = append(out, uint16(c))
	}
	return out
}
