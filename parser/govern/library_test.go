package govern

import (
	"errors"
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
)

func TestInline(t *testing.T) {
	people := &catalog.Relation{Name: "people", Columns: []catalog.Column{
		{Name: "value", Type: 25}, {Name: "born", Type: 1082}, {Name: "seen", Type: 1184}, {Name: "pay", Type: 20}, {Name: "odd", Type: 16400}}}
	for _, c := range [][2]string{
		{"sluice.mask_text(value)", "CASE WHEN value IS NOT NULL THEN '***' END"},
		{"sluice.mask_text(upper(value))", "CASE WHEN upper(value) IS NOT NULL THEN '***' END"},
		{"sluice.mask_text(people.odd)", "CASE WHEN people.odd IS NOT NULL THEN '***' END"},
		{"sluice.mask_month(seen)", "timezone('UTC', date_trunc('month', timezone('UTC', seen)))"},
		{"sluice.mask_band(pay, (10)::bigint)", "pay - (pay % 10::bigint)"},
		{"coalesce(sluice.mask_band(pay, (sluice.mask_band(7, 5))::bigint), 0)", "COALESCE(pay - (pay % (7 - (7 % 5))::bigint), 0)"},
		// Which function is meant cannot be told.
		{"sluice.mask_band(odd, 10)", "sluice.mask_band(odd, 10)"},
		{"sluice.mask_text(value, 1)", "sluice.mask_text(value, 1)"},
		{"sluice.none(sluice.mask_text('a'::text))", `sluice."none"(CASE WHEN 'a'::text IS NOT NULL THEN '***' END)`},
		{"mask_text(value)", "mask_text(value)"},
	} {
		n, err := expression(c[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := parser.DeparseList([]*pg_query.Node{Inline(n, people)})
		if err != nil || got != c[1] {
			t.Errorf("%s: %s, %v, want %s", c[0], got, err, c[1])
		}
	}
}

func TestSalt(t *testing.T) {
	people := &catalog.Relation{Name: "people"}
	mask, err := expression("coalesce(sluice.mask_hash(name), sluice.mask_hash('none'::text))")
	if err != nil {
		t.Fatal(err)
	}
	rules := &Rules{Masks: map[string]*pg_query.Node{"name": mask}}
	failed := errors.New("no salt")
	if err := rules.Salt(people, func() (string, error) { return "", failed }); err == nil || !strings.Contains(err.Error(), failed.Error()) {
		t.Errorf("without a salt: %v", err)
	}
	if err := rules.Salt(people, func() (string, error) { return "it's", nil }); err != nil {
		t.Fatal(err)
	}
	const want = "COALESCE(sluice.salted_hash(name, 'it''s'::text), sluice.salted_hash('none'::text, 'it''s'::text))"
	if got, err := parser.DeparseList([]*pg_query.Node{mask}); err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if err := (*Rules)(nil).Salt(people, nil); err != nil {
		t.Error(err)
	}
}
