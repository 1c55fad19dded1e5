package dialect

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The arguments that only literals are shipped for.
var (
	divisor = literal(Integer, "a number but 0 and -1", func(text string) bool { return text != "0" && text != "-1" && isNumber(text) })
	count   = literal(Integer, "a number from 0", func(text string) bool { return isNumber(text) && text[0] != '-' })
	place   = literal(Integer, "a number from 1", func(text string) bool { return isNumber(text) && text[0] != '-' && text != "0" })
	scale   = literal(Integer, "a number from 0 to 99", func(text string) bool { return isNumber(text) && text[0] != '-' && len(text) < 3 })

	pattern   = literal(Text, "a pattern without escapes", func(text string) bool { return isText(text) && !strings.Contains(text, `\`) })
	escaped   = literal(Text, "a pattern", func(text string) bool { return isText(text) && closed(text) })
	given     = Arg{Class: Equal, Words: "a parameter that is a pattern", Param: closed}
	letters   = literal(Text, "a pattern of ASCII", func(text string) bool { return isASCII(text) && closed(text) })
	template  = Arg{Class: Text, Literal: isTemplate, Print: strftime, Words: "a template of YYYY, MM, DD, HH24, MI, SS, MS, US, Mon, Dy, FMMonth, FMDay, FMMM and FMDD"}
	mark      = literal(Text, "a text that is not empty", func(text string) bool { return isText(text) && text != "" })
	part      = literal(Integer, "a number but 0", func(text string) bool { return isNumber(text) && text != "0" })
	width     = literal(Integer, "a number to 9999", func(text string) bool { return isNumber(text) && len(text) < 5 })
	separator = literal(Text, "a literal", isText)
	units     = literal(Text, "second, minute, hour, day, week, month, quarter, year", oneOf("second", "minute", "hour", "day", "week", "month", "quarter", "year"))
)

func literal(c Class, words string, takes func(text string) bool) Arg {
	return Arg{Class: c, Literal: takes, Words: words}
}

func isText(text string) bool { return !strings.ContainsRune(text, 0) }

func isASCII(text string) bool {
	return isText(text) && !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// closed reports whether a pattern's last escape escapes something.
func closed(pattern string) bool {
	return (len(pattern)-len(strings.TrimRight(pattern, `\`)))%2 == 0
}

func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

func oneOf(words ...string) func(string) bool {
	return func(text string) bool { return slices.Contains(words, text) }
}

// field is a literal with one value.
func field(word string) Arg { return literal(Text, word, oneOf(word)) }
