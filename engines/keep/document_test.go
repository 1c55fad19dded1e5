package keep

import "testing"

// TestOrdinary takes the times that a cast makes no other ones of.
func TestOrdinary(t *testing.T) {
	for text, want := range map[string]bool{
		"2024-02-29": true, "2024-02-29 12:34:56": true, "9999-12-31 23:59:59.999999+00": true, "infinity": false, "-infinity": false,
		"0044-03-15 BC": false, "10000-01-01": false, "294276-12-31 23:59:59": false, "2024-02-29 12:34:56+05:30": false,
	} {
		if ordinary(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
