// Package check is the frame of a client's program: it runs the checks that are asked for and prints what they say.
// The one rule: what a check says is the same in every run.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// names are the checks in the order in which they run.
var names = []string{
	"connect", "introspect", "types", "prepared", "cursor", "pipeline", "copy", "cancel", "rollback", "errors",
}

// What the program is told.
var (
	URL     = os.Getenv("SLUICE_INTEROP_URL")
	Schema  = os.Getenv("SLUICE_INTEROP_SCHEMA")
	Scratch = os.Getenv("SLUICE_INTEROP_SCRATCH")
)

// Columns are those of item.
var Columns = strings.Fields("id name price qty big ratio r4 ok day at atz uid doc tags raw span t note")

// Say prints a line of the check that runs.
type Say func(format string, args ...any)

// Func is a check.
type Func func(ctx context.Context, say Say) error

// Missing says why a client has no means for a check.
func Missing(reason string) Func {
	return func(_ context.Context, say Say) error {
		say("n/a %s", reason)
		return nil
	}
}

// Main runs the checks, one after another; what one returns is printed and the next goes on.
func Main(describe func(error) string, checks map[string]Func) {
	time.Local = time.UTC
	wanted := os.Getenv("SLUICE_INTEROP_CHECKS")
	for _, name := range names {
		if wanted != "" && !strings.Contains(","+wanted+",", ","+name+",") {
			continue
		}
		say := func(format string, args ...any) { fmt.Println(name + "\t" + escape(fmt.Sprintf(format, args...))) }
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := checks[name](ctx, say); err != nil {
			say("FAIL %s", describe(err))
		}
		cancel()
	}
}

var escapes = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

func escape(s string) string { return escapes.Replace(s) }

// Errors are statements that fail, each in its own way.
func Errors() []string {
	item, sink := Schema+".item", Schema+".sink"
	return []string{
		"SELEC 1", "SELECT * FROM " + Scratch + ".missing", "SELECT missing FROM " + item, "SELECT id / 0 FROM " + item,
		"SELECT name::int FROM " + item + " WHERE id = 5", "SELECT sum(name) FROM " + item,
		"INSERT INTO " + item + " (id) VALUES (NULL)", "INSERT INTO " + sink + " (name) VALUES ('x')",
		"INSERT INTO " + sink + " (id, qty) VALUES (1, 40000)", "INSERT INTO " + sink + " (id, nothing) VALUES (1, 2)",
		"SELECT * FROM " + item + " WHERE uid = 'x'", "SELECT * FROM " + item + " LIMIT -1",
	}
}

// Endless is a statement that no engine ends within a minute.
func Endless() string {
	s := Schema + ".series"
	return "SELECT count(*) FROM " + s + " a, " + s + " b, " + s + " c WHERE (a.n + b.n + c.n) % 11 = 3"
}

// ErrLeft ends a transaction that is to be rolled back.
var ErrLeft = errors.New("left")

// Anonymous takes what the schema is called out of a text.
func Anonymous(s string) string {
	return strings.NewReplacer(Schema+".", "", Scratch+".", "").Replace(s)
}
