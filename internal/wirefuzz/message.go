package wirefuzz

import (
	"bytes"
	"encoding/json"
	"strings"
)

// message is what the JSON of a message may hold, in the order in which scripts write it.
type message struct {
	String               *string `json:",omitempty"`
	ObjectType           string  `json:",omitempty"`
	Name                 string  `json:",omitempty"`
	Query                string  `json:",omitempty"`
	ParameterOIDs        []int   `json:",omitempty"`
	DestinationPortal    string  `json:",omitempty"`
	PreparedStatement    string  `json:",omitempty"`
	ParameterFormatCodes []int   `json:",omitempty"`
	Parameters           []any   `json:",omitempty"`
	ResultFormatCodes    []int   `json:",omitempty"`
	Portal               string  `json:",omitempty"`
	MaxRows              int     `json:",omitempty"`
	Function             int     `json:",omitempty"`
	Arguments            []any   `json:",omitempty"`
	Data                 any     `json:",omitempty"`
	Message              *string `json:",omitempty"`
}

// binary is a parameter in binary form.
type binary struct {
	Hex string `json:"binary"`
}

// line prints a message of type typ.
func (m message) line(typ string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic(err) // the fields above encode
	}
	return typ + " " + strings.TrimSpace(b.String())
}

func query(sql string) string { return message{String: &sql}.line("Query") }
