package trino

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON from a buffer, value by value, without building any.
type scanner struct {
	buf   []byte
	at    int
	depth int
	room  []byte // for strings with escapes
}

var (
	errJSON = errors.New("it is no JSON")
	errDeep = errors.New("its JSON is nested too deeply")
)

// deepest is how deep values nest that are skipped.
const deepest = 200

// next returns the next byte that is no blank, without taking it; 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.buf); s.at++ {
		if c := s.buf[s.at]; c > ' ' {
			return c
		}
	}
	return 0
}

// take takes a byte if it is the next one that is no blank.
func (s *scanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// word takes a word such as null.
func (s *scanner) word(w string) bool {
	if c := s.next(); c != w[0] || len(s.buf)-s.at < len(w) || string(s.buf[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// more reports whether another element of an array or object follows, which end closes. first says that it would be the first one.
func (s *scanner) more(end byte, first bool) (bool, error) {
	if s.take(end) {
		return false, nil
	}
	if !first && !s.take(',') {
		return false, errJSON
	}
	return true, nil
}

// text reads a string. It is valid until the next one is read.
func (s *scanner) text() ([]byte, error) {
	if !s.take('"') {
		return nil, errJSON
	}
	rest := s.buf[s.at:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil, errJSON
	}
	if escape := bytes.IndexByte(rest[:end], '\\'); escape >= 0 {
		return s.escaped(escape)
	}
	s.at += end + 1
	return rest[:end], nil
}

// escaped reads a string from its first escape on.
func (s *scanner) escaped(first int) ([]byte, error) {
	out := append(s.room[:0], s.buf[s.at:s.at+first]...)
	for s.at += first; s.at < len(s.buf); {
		c := s.buf[s.at]
		s.at++
		switch {
		case c == '"':
			s.room = out
			return out, nil
		case c != '\\':
			out = append(out, c)
		case s.at == len(s.buf):
			return nil, errJSON
		default:
			c = s.buf[s.at]
			s.at++
			if c == 'u' {
				r, err := s.codePoint()
				if err != nil {
					return nil, err
				}
				out = utf8.AppendRune(out, r)
			} else if plain := escapes[c]; plain != 0 {
				out = append(out, plain)
			} else {
				return nil, errJSON
			}
		}
	}
	return nil, errJSON
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// codePoint reads what follows \u, and the second half of a pair.
func (s *scanner) codePoint() (rune, error) {
	r, err := s.hex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if len(s.buf)-s.at < 6 || s.buf[s.at] != '\\' || s.buf[s.at+1] != 'u' {
		return utf8.RuneError, errJSON
	}
	s.at += 2
	low, err := s.hex()
	if r = utf16.DecodeRune(r, low); err == nil && r == utf8.RuneError {
		err = errJSON
	}
	return r, err
}

func (s *scanner) hex() (rune, error) {
	if len(s.buf)-s.at < 4 {
		return 0, errJSON
	}
	n, err := strconv.ParseUint(string(s.buf[s.at:s.at+4]), 16, 16)
	s.at += 4
	if err != nil {
		return 0, errJSON
	}
	return rune(n), nil
}

// number reads what is a number, as it stands.
func (s *scanner) number() ([]byte, error) {
	s.next()
	from := s.at
	for s.at < len(s.buf) {
		if c := s.buf[s.at]; c-'0' > 9 && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		s.at++
	}
	if s.at == from {
		return nil, errJSON
	}
	return s.buf[from:s.at], nil
}

// integer reads a whole number.
func (s *scanner) integer() (int64, error) {
	digits, err := s.number()
	if err != nil {
		return 0, err
	}
	negative := digits[0] == '-'
	rest := digits
	if negative {
		rest = digits[1:]
	}
	if len(rest) == 0 || len(rest) > 18 {
		return strconv.ParseInt(string(digits), 10, 64)
	}
	n := int64(0)
	for _, c := range rest {
		if c -= '0'; c > 9 {
			return 0, errJSON
		}
		n = n*10 + int64(c)
	}
	if negative {
		n = -n
	}
	return n, nil
}

// skip passes over a value and returns it.
func (s *scanner) skip() ([]byte, error) {
	s.next()
	from := s.at
	err := s.pass()
	return s.buf[from:s.at], err
}

func (s *scanner) pass() error {
	if s.depth++; s.depth > deepest {
		return errDeep
	}
	defer func() { s.depth-- }()
	switch c := s.next(); {
	case c == '"':
		_, err := s.text()
		return err
	case c == '{' || c == '[':
		s.at++
		return s.elements(c)
	case s.word("null") || s.word("true") || s.word("false"):
		return nil
	}
	_, err := s.number()
	return err
}

// elements passes over what is left of an array or object.
func (s *scanner) elements(kind byte) error {
	for first := true; ; first = false {
		more, err := s.more(kind+2, first) // the brackets of each kind are two apart
		if err != nil || !more {
			return err
		}
		if kind == '{' {
			if _, err := s.text(); err != nil {
				return err
			}
			if !s.take(':') {
				return errJSON
			}
		}
		if err := s.pass(); err != nil {
			return err
		}
	}
}
