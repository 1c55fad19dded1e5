package plan

import (
	"slices"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// masksSchema holds the views that stand in for tables of home with masks.
const masksSchema = "sluice_masked"

// ofHome reports whether a relation of ours is a table of home with masks: home computes them, and knows who may read it.
func ofHome(t *catalog.Relation) bool { return t != nil && t.Kind == 'r' }

// addMasked takes in a reference to a table of home, which home reads as it is for those alone whom its masks never hold for.
// What is written to is the table itself: nobody else may read its masked columns in doing so.
func (b *builder) addMasked(r parser.Relation, t *catalog.Relation) error {
	b.atHome = true
	if r.Target {
		return nil
	}
	rules, err := b.rules(t)
	if err != nil || rules == nil {
		return err
	}
	if !r.Var.Inh {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "ONLY is not supported for table %q, which has masks", t.Name), "Leave out ONLY.")
	}
	b.masks = append(b.masks, source{Relation: r, table: t, alias: aliasOf(r.Var)})
	return nil
}

// readMasked has references to tables of home read the views that stand in for them, under the aliases that the statement uses.
func (b *builder) readMasked() {
	for i := range b.masks {
		s := &b.masks[i]
		b.redirect(s, s.table.MaskView)
		s.Var.Schemaname = masksSchema
	}
}

// staysAtHome reports whether a view has nothing of ours below it but tables of home, none of which has masks that may hold for the
// role: home reads it then.
func (b *builder) staysAtHome(t *catalog.Relation) (bool, error) {
	if t.Kind != 'v' || !b.req.Snapshot.HasMasks() {
		return false, nil
	}
	body, err := b.definition(t)
	if err != nil {
		return false, err
	}
	for _, r := range body.Relations() {
		inner := b.named(r.Schema, r.Name)
		if inner == nil {
			continue
		}
		stays := false
		if ofHome(inner) {
			rules, err := b.rules(inner)
			if err != nil {
				return false, err
			}
			stays = rules == nil
		} else if stays, err = b.staysAtHome(inner); err != nil {
			return false, err
		}
		if !stays {
			return false, nil
		}
	}
	return true, nil
}

// passes reports whether nothing in the statement is ours to replace, so that it passes through to home.
func (b *builder) passes() bool {
	return b.atHome && len(b.masks) == 0 && len(b.views) == 0 && len(b.sources) == 0 &&
		!slices.ContainsFunc(b.req.References, func(r Reference) bool { return r.Relation != nil && r.Relation.Kind == 'm' })
}

// maskedTables returns the tables of home that are read through their views.
func (b *builder) maskedTables() []*catalog.Relation {
	var list []*catalog.Relation
	for i := range b.masks {
		if t := b.masks[i].table; !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}
