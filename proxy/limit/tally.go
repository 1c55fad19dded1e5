package limit

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// Tally counts what one statement yields and holds it to its limits. It is used by one goroutine at a time.
type Tally struct {
	Limits
	Rows, Bytes         int64         // sent to the client
	RowsRead, BytesRead int64         // read of engines into home
	spent               time.Duration // by engines
}

// Exceeded says which limit ends a result.
type Exceeded struct {
	name, limit string
	Truncate    bool // with a warning
}

func (e *Exceeded) Error() string { return e.PgError().Message }

// PgError is what the client is told: an error, or the warning.
func (e *Exceeded) PgError() *pgconn.PgError {
	if e.Truncate {
		return &pgconn.PgError{Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: "01000", Message: "the result ends at its limit: " + e.name + " is " + e.limit}
	}
	return pgerr.Hint(pgerr.New(pgerr.ProgramLimitExceeded, "the statement goes beyond its limit: %s is %s", e.name, e.limit),
		"Ask for less. A superuser can raise the limit: ALTER ROLE … SET %s = ….", e.name)
}

// Admit counts rows, each one message, that are about to be sent, and returns those that may be: their length, their number,
// and an *Exceeded where these are not all.
func (t *Tally) Admit(messages []byte, rows int) (length, admitted int, err error) {
	length, admitted = len(messages), rows
	if t.beyond(int64(rows), int64(len(messages))) != nil {
		length, admitted = 0, 0
		for admitted < rows {
			size := 1 + int(binary.BigEndian.Uint32(messages[length+1:]))
			if e := t.beyond(int64(admitted+1), int64(length+size)); e != nil {
				e.Truncate = t.Truncate
				err = e
				break
			}
			length, admitted = length+size, admitted+1
		}
	}
	t.Rows, t.Bytes = t.Rows+int64(admitted), t.Bytes+int64(length)
	return length, admitted, err
}

// beyond says which limit so much more would exceed, nil for none.
func (t *Tally) beyond(rows, bytes int64) *Exceeded {
	switch {
	case t.Limits.Rows > 0 && t.Rows+rows > t.Limits.Rows:
		return &Exceeded{name: MaxRows, limit: strconv.FormatInt(t.Limits.Rows, 10)}
	case t.Limits.Bytes > 0 && t.Bytes+bytes > t.Limits.Bytes:
		return &Exceeded{name: MaxBytes, limit: strconv.FormatInt(t.Limits.Bytes, 10)}
	}
	return nil
}

// Read counts rows that are read into home. Of what stays there or is written (kept) they are what the limits hold: it is
// never truncated.
func (t *Tally) Read(rows, bytes int64, kept bool) error {
	t.RowsRead, t.BytesRead = t.RowsRead+rows, t.BytesRead+bytes
	if !kept {
		return nil
	}
	sum := Tally{Limits: t.Limits}
	if e := sum.beyond(t.RowsRead, t.BytesRead); e != nil {
		return e.PgError()
	}
	return nil
}

// Spend counts time that engines have worked.
func (t *Tally) Spend(d time.Duration) { t.spent += d }

// Left returns for how long engines may work on.
func (t *Tally) Left() time.Duration { return max(t.Budget-t.spent, 0) }

// Spent is the error of a statement whose budget is spent.
func (t *Tally) Spent() *pgconn.PgError {
	return (&Exceeded{name: Budget, limit: t.Budget.String()}).PgError()
}
