package duckdb

import (
	"bytes"
	gojson "encoding/json"

	"github.com/sluicedb/sluice/pgerr"
)

const codeArraySubscript = "2202E"

// appendListJSON turns a Postgres array in text form, '{1,NULL,"a,b"}', into a JSON array of strings and nulls.
func appendListJSON(dst, text []byte) ([]byte, error) {
	if len(text) > 0 && text[0] == '[' { // [0:2]={…}
		return nil, pgerr.New(codeArraySubscript, "an array whose subscripts do not begin with 1 cannot be stored in a DuckDB list")
	}
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, malformedArray(text)
	}
	dst = append(dst, '[')
	text = text[1 : len(text)-1]
	for first := true; len(text) > 0; first = false {
		if !first {
			if text[0] != ',' {
				return nil, malformedArray(text)
			}
			dst, text = append(dst, ','), text[1:]
		}
		var err error
		if dst, text, err = appendElementJSON(dst, text); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func malformedArray(text []byte) error {
	return pgerr.New(pgerr.InvalidTextRepr, "malformed array literal: %q", text)
}

// appendElementJSON reads one element and returns what is left of text.
func appendElementJSON(dst, text []byte) (out, rest []byte, err error) {
	switch {
	case len(text) == 0:
		return nil, nil, malformedArray(text)
	case text[0] == '{':
		return nil, nil, pgerr.New(codeArraySubscript, "an array of several dimensions cannot be stored in a DuckDB list")
	case text[0] == '"':
		value, rest, ok := unquoteElement(text[1:])
		if !ok {
			return nil, nil, malformedArray(text)
		}
		dst, err = appendJSONString(dst, value)
		return dst, rest, err
	}
	end := bytes.IndexByte(text, ',')
	if end < 0 {
		end = len(text)
	}
	if string(text[:end]) == "NULL" {
		return append(dst, "null"...), text[end:], nil
	}
	dst, err = appendJSONString(dst, text[:end])
	return dst, text[end:], err
}

func unquoteElement(text []byte) (value, rest []byte, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return nil, nil, false
			}
			value = append(value, text[i])
		case '"':
			return value, text[i+1:], true
		default:
			value = append(value, text[i])
		}
	}
	return nil, nil, false
}

func appendJSONString(dst, value []byte) ([]byte, error) {
	quoted, err := gojson.Marshal(string(value))
	if err != nil {
		return nil, pgerr.New(pgerr.InvalidTextRepr, "could not write an array element as JSON: %s", err)
	}
	return append(dst, quoted...), nil
}
