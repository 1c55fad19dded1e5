package parser

import (
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// maxIdentifier is the length in bytes to which Postgres cuts an identifier (NAMEDATALEN - 1).
const maxIdentifier = 63

// Concerns reports whether a query text has an identifier or key word that names says yes to. Words are decoded as
// Postgres would: folded to lower case, or unquoted, and cut to 63 bytes. It is a tokeniser and no parser: it never
// misses a word outside of literals and comments, and where only the server's settings could tell what a literal is it
// says yes. A word is valid during the call alone.
func Concerns(text string, names func(word string) bool) bool {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isIdentStart(c):
			end := i + 1
			for end < len(text) && isIdentPart(text[end]) {
				end++
			}
			next, yes := word(text, i, end, names)
			if yes {
				return true
			}
			i = next
		case c == '"':
			end, name := quoted(text, i)
			if names(cut(name)) {
				return true
			}
			i = end
		case c == '\'':
			end, plain := literal(text, i)
			if !plain {
				return true
			}
			i = end
		case c == '-' && i+1 < len(text) && text[i+1] == '-':
			i = lineEnd(text, i)
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			i = commentEnd(text, i)
		case c == '$':
			i = dollarEnd(text, i)
		default:
			i++
		}
	}
	return false
}

// Conforming turns a text that was written under standard_conforming_strings = off, where a backslash escapes in plain
// literals, into one that means the same where it is on.
func Conforming(text string) string {
	var out strings.Builder
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'':
			end := escapeEnd(text, i)
			if strings.Contains(text[i:end], `\`) {
				out.WriteString(text[start:i] + " E")
				start = i
			}
			i = end
		case isIdentStart(c):
			first := i
			for i < len(text) && isIdentPart(text[i]) {
				i++
			}
			if i == first+1 && i < len(text) && text[i] == '\'' && strings.IndexByte("eExXbB", c) >= 0 {
				i = escapeEnd(text, i)
			}
		case c == '"':
			i, _ = quoted(text, i)
		case c == '-' && i+1 < len(text) && text[i+1] == '-':
			i = lineEnd(text, i)
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			i = commentEnd(text, i)
		case c == '$':
			i = dollarEnd(text, i)
		default:
			i++
		}
	}
	out.WriteString(text[start:])
	return out.String()
}

// word looks up the identifier text[i:end], or steps over the literal that it is the prefix of.
func word(text string, i, end int, names func(string) bool) (next int, yes bool) {
	if end == i+1 && end < len(text) {
		switch c := text[i] | 0x20; {
		case c == 'e' && text[end] == '\'':
			return escapeEnd(text, end), false
		case (c == 'b' || c == 'x' || c == 'n') && text[end] == '\'':
			n, plain := literal(text, end)
			return n, !plain
		case c == 'u' && text[end] == '&' && end+1 < len(text) && (text[end+1] == '\'' || text[end+1] == '"'):
			return end, true // Unicode escapes: let the parser see
		}
	}
	return end, folded(text[i:end], names)
}

// foldBuffers keep folding from allocating.
var foldBuffers = sync.Pool{New: func() any { return new([maxIdentifier]byte) }}

// folded looks up an unquoted identifier: ASCII letters count as small ones, as in Postgres under a multi-byte encoding.
func folded(word string, names func(string) bool) bool {
	word = cut(word)
	if !hasUpper(word) {
		return names(word)
	}
	buffer := foldBuffers.Get().(*[maxIdentifier]byte)
	defer foldBuffers.Put(buffer)
	n := copy(buffer[:], word)
	for i, c := range buffer[:n] {
		if c >= 'A' && c <= 'Z' {
			buffer[i] = c + 'a' - 'A'
		}
	}
	return names(unsafe.String(&buffer[0], n))
}

func hasUpper(s string) bool {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

func isIdentStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func isIdentPart(c byte) bool { return isIdentStart(c) || c >= '0' && c <= '9' || c == '$' }

func cut(s string) string {
	if len(s) <= maxIdentifier {
		return s
	}
	n := maxIdentifier
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// quoted decodes the quoted identifier at i and returns where it ends.
func quoted(text string, i int) (end int, name string) {
	doubled := false
	for j := i + 1; j < len(text); j++ {
		if text[j] != '"' {
			continue
		}
		if j+1 < len(text) && text[j+1] == '"' {
			doubled = true
			j++
			continue
		}
		name = text[i+1 : j]
		if doubled {
			name = strings.ReplaceAll(name, `""`, `"`)
		}
		return j + 1, name
	}
	return len(text), text[i+1:]
}

// literal steps over the plain literal at i; plain is false where a backslash makes its end depend on
// standard_conforming_strings or on a literal before it.
func literal(text string, i int) (end int, plain bool) {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			return j, false
		case '\'':
			if j+1 >= len(text) || text[j+1] != '\'' {
				return j + 1, true
			}
			j++
		}
	}
	return len(text), true
}

// escapeEnd steps over a literal with backslash escapes whose quote is at i.
func escapeEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '\'':
			if j+1 >= len(text) || text[j+1] != '\'' {
				return j + 1
			}
			j++
		}
	}
	return len(text)
}

func lineEnd(text string, i int) int {
	if n := strings.IndexAny(text[i:], "\r\n"); n >= 0 {
		return i + n
	}
	return len(text)
}

// commentEnd steps over the comment at i; comments nest.
func commentEnd(text string, i int) int {
	depth := 0
	for j := i; j+1 < len(text); j++ {
		switch text[j : j+2] {
		case "/*":
			depth++
			j++
		case "*/":
			depth--
			j++
			if depth == 0 {
				return j + 1
			}
		}
	}
	return len(text)
}

// dollarEnd steps over the dollar-quoted literal at i, or over the dollar of a parameter.
func dollarEnd(text string, i int) int {
	j := i + 1
	for j < len(text) && text[j] != '$' {
		if c := text[j]; !isIdentPart(c) || j == i+1 && !isIdentStart(c) {
			return i + 1
		}
		j++
	}
	if j >= len(text) {
		return i + 1
	}
	tag := text[i : j+1]
	if n := strings.Index(text[j+1:], tag); n >= 0 {
		return j + 1 + n + len(tag)
	}
	return len(text)
}
