package limit

import (
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// Names of the settings.
const (
	MaxRows  = "sluice.max_rows"
	MaxBytes = "sluice.max_bytes"
	Budget   = "sluice.statement_budget"
	OnLimit  = "sluice.on_limit"
)

// Limits are those of one statement; 0 is none.
type Limits struct {
	Rows, Bytes int64
	Budget      time.Duration // of work at engines
	// Truncate says that a result ends with a warning at its limit of rows or bytes, in place of an error.
	Truncate bool
}

// Any reports whether there is a limit.
func (l Limits) Any() bool { return l.Rows > 0 || l.Bytes > 0 || l.Budget > 0 }

// Of returns the limits by the settings of the roles and those of the session.
func Of(roles *catalog.RoleSettings, session *catalog.Facts) (l Limits, err error) {
	if l.Rows, err = least(MaxRows, session.MaxRows, roles, nil); err != nil {
		return Limits{}, err
	}
	if l.Bytes, err = least(MaxBytes, session.MaxBytes, roles, sizes); err != nil {
		return Limits{}, err
	}
	milliseconds, err := least(Budget, session.StatementBudget, roles, times)
	if err != nil {
		return Limits{}, err
	}
	l.Budget = time.Duration(milliseconds) * time.Millisecond
	on, ok := roles.Current[OnLimit]
	if !ok {
		on = roles.Session[OnLimit]
	}
	switch on {
	case "", "error":
	case "truncate":
		l.Truncate = true
	default:
		return Limits{}, pgerr.Hint(Invalid(OnLimit, on), "Available values: error, truncate.")
	}
	return l, nil
}

// Units of settings, as Postgres writes them.
var (
	sizes = map[string]int64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
	times = map[string]int64{"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
)

// least returns the smallest of the values that are set, 0 for none.
func least(name, session string, roles *catalog.RoleSettings, units map[string]int64) (int64, error) {
	lowest := int64(0)
	for _, value := range []string{session, roles.Session[name], roles.Current[name]} {
		n, err := parse(name, value, units)
		if err != nil {
			return 0, err
		}
		if n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest, nil
}

func parse(name, value string, units map[string]int64) (int64, error) {
	text := strings.TrimSpace(value)
	if text == "" {
		return 0, nil
	}
	digits := strings.TrimLeft(text, "0123456789")
	n, err := strconv.ParseInt(text[:len(text)-len(digits)], 10, 64)
	factor, known := int64(1), true
	if unit := strings.TrimSpace(digits); unit != "" {
		factor, known = units[unit]
	}
	if err != nil || !known || n > (1<<62)/factor {
		return 0, pgerr.Hint(Invalid(name, value), "It is a whole number, with a unit where it has one; 0 is no limit.")
	}
	return n * factor, nil
}

// Invalid is the error of a setting that means nothing.
func Invalid(name, value string) *pgconn.PgError {
	return pgerr.New(pgerr.InvalidParameter, "invalid value for parameter %q: %q", name, value)
}
