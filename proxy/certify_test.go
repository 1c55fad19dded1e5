package proxy

import (
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// An engine that has no statements for it is not certified, and says so.
func TestCertifyWithoutProbes(t *testing.T) {
	_, err := Certify(t.Context(), struct{ engines.Engine }{})
	if e := pgerr.From(err); err == nil || e.Code != pgerr.FeatureNotSupported || e.Hint == "" {
		t.Errorf("an engine without probes: %v", err)
	}
}
