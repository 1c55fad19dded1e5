package proxy

import (
	"errors"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/plan"
)

// guard implements plan.AskGuard: the policies themselves are read where home enforces them.
func (r *rules) guard(t *catalog.Relation) (*plan.Guard, error) {
	a := r.ask(t)
	if a.err != nil {
		return nil, a.err
	}
	read, err := catalog.ReadRules(a.answer, a.known)
	if err != nil || len(read.List) == 0 {
		return nil, err
	}
	g := &plan.Guard{}
	for _, rule := range read.List {
		if rule.Column == "" {
			g.RowSecurity = true
		} else {
			g.Masked = append(g.Masked, rule.Column)
		}
	}
	return g, nil
}

var writeCommands = map[plan.WriteKind]string{plan.Insert: "INSERT", plan.CopyFrom: "INSERT", plan.Update: "UPDATE", plan.Delete: "DELETE"}

// sealOf returns the seal of a write's temporary tables, nil for one without a guard.
func sealOf(w *plan.Write, role uint32) *catalog.Seal {
	if w.Guard == nil {
		return nil
	}
	return &catalog.Seal{
		Relation: w.Relation.OID, Command: writeCommands[w.Kind], Prefix: w.Prefix, Child: w.Child,
		RowSecurity: w.Guard.RowSecurity, Masked: w.Guard.Masked, Role: role,
	}
}

// policyContext is what home adds to an error within a policy's expression, and would not were the policy the table's own.
var policyContext = regexp.MustCompile(`(?m)^SQL function "` + ownPrefix + `\d+_[uc]\d+".*\n?`)

// withoutRows makes an error over sealed rows say what it would of the table's own, and nothing of its rows.
func withoutRows(w *plan.Write, err error) error {
	var pe *pgconn.PgError
	if w.Guard == nil || !errors.As(err, &pe) {
		return err
	}
	e := *pe
	e.Where = strings.TrimSuffix(policyContext.ReplaceAllString(e.Where, ""), "\n")
	if w.Guard.RowSecurity && strings.HasPrefix(e.Code, "23") {
		e.Detail = ""
	}
	return &e
}
