package guard

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// Options are the options of servers of any wrapper that the guard heeds.
var Options = []engines.Option{
	{Name: "max_sessions", Default: "100", Doc: "sessions that one role has at work on the server at once, the others wait; 0 for any number", Check: checkNumber(0, 100_000)},
	{Name: "queue_timeout", Default: "30", Doc: "seconds that a statement waits for its turn", Check: engines.CheckSeconds},
	{Name: "max_failures", Default: "5", Doc: "connections that may fail in a row until statements fail at once; 0 for any number", Check: checkNumber(0, 1000)},
}

func checkNumber(least, most int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < least || n > most {
			return fmt.Errorf("a number from %d to %d is required", least, most)
		}
		return nil
	}
}

// limits are what the options of a server say.
type limits struct {
	sessions int // 0 for any number
	wait     time.Duration
	failures int // 0 for any number
}

// limitsOf reads options, which were checked when they were set; one that does not read has its default.
func limitsOf(options map[string]string) limits {
	number := func(o engines.Option) int {
		v, given := options[o.Name]
		if !given || o.Check(v) != nil {
			v = o.Default
		}
		n, _ := strconv.Atoi(v)
		return n
	}
	return limits{number(Options[0]), time.Duration(number(Options[1])) * time.Second, number(Options[2])}
}
