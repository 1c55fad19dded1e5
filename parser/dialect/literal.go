package dialect

import (
	"slices"
	"strconv"
	"strings"
)

// The arguments that only literals are shipped for.
var (
	divisor   = Arg{Integer, func(text string) bool { return text != "0" && text != "-1" && isNumber(text) }, "a number but 0 and -1"}
	count     = Arg{Integer, func(text string) bool { return isNumber(text) && text[0] != '-' }, "a number from 0"}
	place     = Arg{Integer, func(text string) bool { return isNumber(text) && text[0] != '-' && text != "0" }, "a number from 1"}
	pattern   = Arg{Text, func(text string) bool { return !strings.ContainsAny(text, "\\\x00") }, "a pattern without escapes"}
	separator = Arg{Text, func(text string) bool { return !strings.ContainsRune(text, 0) }, "a literal"}
	units     = Arg{Text, oneOf("second", "minute", "hour", "day", "week", "month", "quarter", "year"), "second, minute, hour, day, week, month, quarter, year"}
)

func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

func oneOf(words ...string) func(string) bool {
	return func(text string) bool { return slices.Contains(words, text) }
}

// field is a literal with one value.
func field(word string) Arg { return Arg{Text, oneOf(word), word} }
