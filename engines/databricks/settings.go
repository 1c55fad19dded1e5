package databricks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// settingsSQL asks in what session statements run. Each has one of its own, with what administrators have set for all warehouses:
// nothing that one statement sets is there for the next. ANSI mode shows in the type that a text and a number have in common.
const settingsSQL = "SELECT current_timezone(), typeof(coalesce('1', 1))"

// settled is how long an answer holds. The settings come into force when a warehouse starts.
const settled = 10 * time.Minute

// utc are the names of the zone that statements are to run in.
var utc = []string{"UTC", "ETC/UTC", "UCT", "ETC/UCT", "GMT", "ETC/GMT", "Z", "ZULU", "+00:00", "UTC+00:00", "GMT0", "UNIVERSAL", "GREENWICH"}

// settle refuses a warehouse on which statements would mean something else: casts that yield NULL for what does not fit, and times of
// another zone.
func (e *Engine) settle(ctx context.Context) error {
	now := time.Now()
	if last := e.checked.Load(); last != nil && now.Sub(*last) < settled {
		return nil
	}
	rows, err := e.texts(ctx, engines.Query{SQL: settingsSQL})
	switch {
	case err != nil:
		return err
	case len(rows) != 1 || len(rows[0]) != 2:
		return malformed(errNoText)
	case strings.EqualFold(rows[0][1], "string"):
		return pgerr.Hint(pgerr.New(pgerr.ObjectNotInPrerequisite, "the warehouse does not run in ANSI mode"),
			"Set ANSI_MODE to true in the SQL configuration parameters of the workspace's warehouses, and start the warehouse anew.")
	case !slices.Contains(utc, strings.ToUpper(rows[0][0])):
		return pgerr.Hint(pgerr.New(pgerr.ObjectNotInPrerequisite, "the warehouse's time zone is %s, not UTC", rows[0][0]),
			"Set TIMEZONE to UTC in the SQL configuration parameters of the workspace's warehouses, and start the warehouse anew.")
	}
	e.checked.Store(&now)
	return nil
}
