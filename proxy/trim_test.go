package proxy

import "testing"

// A burst is over for good once it is collected or the server has stopped, and few logins are no burst.
func TestTrim(t *testing.T) {
	burst := func(n int) *trim {
		tr := &trim{}
		for range n {
			tr.note()
		}
		return tr
	}
	if tr := burst(trimLogins - 1); tr.end() {
		t.Error("few logins are taken for a burst")
	}
	tr := burst(trimLogins)
	if !tr.end() {
		t.Error("a burst is not seen")
	}
	if tr.end() {
		t.Error("a burst is collected twice")
	}
	tr = burst(trimLogins)
	tr.stop()
	tr.note()
	if tr.end() {
		t.Error("a server that has stopped collects")
	}
	if tr.timer.Stop() {
		t.Error("a server that has stopped has a timer")
	}
}
