package plan

import (
	"slices"
	"strings"
)

// Named returns the plan of a query with another prefix for the names of its inputs. The one that it was made with must be
// in no text that a user may have written.
func (p *Plan) Named(was, is string) *Plan {
	if len(p.Inputs) == 0 && !strings.Contains(p.Reason, was) {
		return p
	}
	named := *p
	named.Reason = strings.ReplaceAll(p.Reason, was, is)
	named.HomeSQL = strings.ReplaceAll(p.HomeSQL, was, is)
	named.Inputs = slices.Clone(p.Inputs)
	for i := range named.Inputs {
		in := &named.Inputs[i]
		in.TempName = strings.Replace(in.TempName, was, is, 1)
	}
	return &named
}

// Size is about how many bytes the plan holds.
func (p *Plan) Size() int {
	size := 1<<10 + len(p.Reason) + len(p.RemoteSQL) + len(p.HomeSQL)
	for i := range p.Inputs {
		in := &p.Inputs[i]
		size += 1<<10 + len(in.RemoteSQL) + len(in.BoundSQL) + 1<<10*len(in.Kept)
	}
	return size
}
