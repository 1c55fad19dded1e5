package plan

import "testing"

// TestTakes holds back values that an engine would read or refuse in its own way.
func TestTakes(t *testing.T) {
	p := &Plan{checks: []check{{2, isCount}}}
	for _, c := range []struct {
		date, count string
		takes       bool
	}{
		{"2024-02-29", "3", true}, {"infinity", "3", false}, {"0044-03-15 BC", "3", false}, {"12024-01-01", "3", false}, {"2024-02-29", "-1", false},
	} {
		if got := p.Takes([]uint32{dateOID, int8OID}, []*string{&c.date, &c.count}); got != c.takes {
			t.Errorf("%s, %s: %t", c.date, c.count, got)
		}
	}
	if !p.Takes([]uint32{dateOID, int8OID}, []*string{nil, nil}) {
		t.Error("NULLs are held back")
	}
}
