package limit

import (
	"testing"
	"time"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// TestOf takes the least of all settings, in their units, and nothing that cannot be read.
func TestOf(t *testing.T) {
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	for _, c := range []struct {
		session       catalog.Facts
		role, current map[string]string
		want          Limits
		invalid       string
	}{
		{},
		{session: catalog.Facts{MaxRows: "0", MaxBytes: "", StatementBudget: " "}},
		{session: catalog.Facts{MaxRows: "10"}, role: set(MaxRows, "20"), current: set(MaxRows, "0"), want: Limits{Rows: 10}},
		{session: catalog.Facts{MaxRows: "30"}, role: set(MaxRows, "20"), current: set(MaxRows, "15"), want: Limits{Rows: 15}},
		{session: catalog.Facts{MaxBytes: "2 MB"}, role: set(MaxBytes, "3000kB"), want: Limits{Bytes: 2 << 20}},
		{session: catalog.Facts{StatementBudget: "90"}, role: set(Budget, "1min"), want: Limits{Budget: 90 * time.Millisecond}},
		{role: set(Budget, "2 h"), want: Limits{Budget: 2 * time.Hour}},
		{role: set(OnLimit, "truncate"), want: Limits{Truncate: true}},
		{role: set(OnLimit, "truncate"), current: set(OnLimit, "error")},
		{role: set(OnLimit, "stop"), invalid: OnLimit},
		{session: catalog.Facts{MaxRows: "many"}, invalid: MaxRows},
		{session: catalog.Facts{MaxRows: "1kB"}, invalid: MaxRows},
		{session: catalog.Facts{MaxRows: "-5"}, invalid: MaxRows},
		{session: catalog.Facts{MaxBytes: "9000000 TB"}, invalid: MaxBytes},
		{current: set(Budget, "5 us"), invalid: Budget},
	} {
		got, err := Of(&catalog.RoleSettings{Session: c.role, Current: c.current}, &c.session)
		if pe := pgerr.From(err); got != c.want || (pe == nil) != (c.invalid == "") || pe != nil && pe.Code != "22023" {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// TestAdmit cuts a run of messages before the first that goes beyond a limit.
func TestAdmit(t *testing.T) {
	run := []byte("D\x00\x00\x00\x05aD\x00\x00\x00\x06bbD\x00\x00\x00\x05c") // of 6, 7 and 6 bytes
	for _, c := range []struct {
		limits         Limits
		length, number int
	}{
		{Limits{}, 19, 3}, {Limits{Rows: 3, Bytes: 19}, 19, 3}, {Limits{Rows: 2}, 13, 2}, {Limits{Bytes: 18}, 13, 2}, {Limits{Bytes: 12}, 6, 1}, {Limits{Bytes: 5}, 0, 0},
	} {
		tally := Tally{Limits: c.limits}
		length, number, err := tally.Admit(run, 3)
		if length != c.length || number != c.number || (err == nil) != (number == 3) || tally.Rows != int64(number) || tally.Bytes != int64(length) {
			t.Errorf("%+v: %d bytes of %d rows, %v", c.limits, length, number, err)
		}
		if _, again, _ := tally.Admit(run[6:13], 1); c.limits.Any() && again != 0 {
			t.Errorf("%+v: one more is admitted", c.limits)
		}
	}
}
