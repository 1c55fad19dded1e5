package govern

import (
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// TestResolve prints rules with the values of the session in them, each of which is 'v', and each list of which is v, NULL.
func TestResolve(t *testing.T) {
	docs := &catalog.Relation{Name: "docs", Columns: []catalog.Column{{Name: "id"}, {Name: "owner"}}}
	value, list := "v", `{"type": "text", "values": ["v", null]}`
	resolve := func(rules ...catalog.Rule) (*Rules, error) {
		values := Values{}
		got, missing, err := Resolve(docs, rules, values)
		for _, expression := range missing {
			switch {
			case got != nil:
				t.Errorf("%+v: rules although %q is missing", rules, missing)
			case expression == "broken()":
				values[expression] = catalog.Value{Code: "42883", Message: "function broken() does not exist"}
			case strings.HasPrefix(expression, "SELECT json_build_object('type"):
				values[expression] = catalog.Value{Value: &list, Type: "json"}
			case expression == "char_code()":
				values[expression] = catalog.Value{Value: &value, Type: "character"}
			case expression == "session_user":
				values[expression] = catalog.Value{Value: &value, Type: "name"}
			default:
				values[expression] = catalog.Value{Value: &value, Type: "text"}
			}
		}
		if err == nil && missing != nil {
			if got, missing, err = Resolve(docs, rules, values); missing != nil {
				t.Errorf("%+v: %q are missing, too", rules, missing)
			}
		}
		return got, err
	}
	for _, c := range [][2]string{
		{"(owner = CURRENT_USER)", "owner = 'v'::text"},
		{"(owner = SESSION_USER)", "owner = 'v'::text"},
		{"(owner < SESSION_USER)", "owner < 'v'::text COLLATE \"C\""},
		{"(owner >= 'b'::name)", "owner >= 'b'::text COLLATE \"C\""},
		{"(owner = 'b  '::bpchar)", "owner = 'b'"},
		{"(owner > char_code())", "owner > 'v'"},
		{"(concat(owner, 'b  '::bpchar) = 'x'::text)", "concat(owner, 'b  '::bpchar) = 'x'::text"},
		{"(((owner)::character varying)::text = 'b'::character varying)", "owner::text::text = 'b'::text"},
		{"(owner = 'abc'::character varying(2))", "owner = 'v'::text"},
		{"(docs.id > 1)", "docs.id > 1"},
		{"(lower(owner) = lower('A'::text))", "lower(owner) = 'v'::text"},
		{"(owner = current_setting('a.b'::text, true))", "owner = 'v'::text"},
		{"(owner IN ( SELECT e.who FROM public.e WHERE (e.a = CURRENT_USER)))", "owner IN ('v'::text, NULL::text)"},
		{"(NOT (lower(owner) IN ( SELECT e.who FROM public.e)))", "NOT lower(owner) IN ('v'::text, NULL::text)"},
		{"(EXISTS ( SELECT 1 FROM public.e WHERE (e.a = CURRENT_USER)))", "'v'::text"},
		// What is correlated stays, for nobody to ship.
		{"(EXISTS ( SELECT 1 FROM public.e WHERE (e.a = docs.owner)))", "EXISTS (SELECT 1 FROM public.e WHERE e.a = docs.owner)"},
		{"(EXISTS ( SELECT 1 FROM public.e WHERE (a = owner)))", "EXISTS (SELECT 1 FROM public.e WHERE a = owner)"},
	} {
		for range 2 { // rules are parsed once and resolved anew for each role
			rules, err := resolve(catalog.Rule{Expression: c[0]}, catalog.Rule{Column: "owner", Expression: "NULL::text"})
			if err != nil {
				t.Fatalf("%s: %v", c[0], err)
			}
			got, err := parser.DeparseList([]*pg_query.Node{rules.Filter})
			if err != nil || got != c[1] || rules.Masks["owner"] == nil {
				t.Errorf("%s: %q, %v, want %q", c[0], got, err, c[1])
			}
		}
	}
	for _, c := range []struct {
		rule catalog.Rule
		code string
	}{
		{catalog.Rule{Expression: "broken()"}, "42883"}, {catalog.Rule{Expression: "1) FROM (SELECT 1"}, "42601"},
		{catalog.Rule{Column: "gone", Expression: "1"}, "42703"}, {catalog.Rule{Expression: "(owner <> ALL (SELECT e.who FROM public.e))"}, ""},
		{catalog.Rule{Expression: "(owner < ANY (SELECT e.who FROM public.e))"}, "0A000"},
	} {
		_, err := resolve(c.rule)
		if got := code(err); got != c.code {
			t.Errorf("%+v: %v", c.rule, err)
		}
	}
	list = `{"type": "text", "values": [` + strings.Repeat("null, ", mostValues) + `null]}`
	if _, err := resolve(catalog.Rule{Expression: "(owner IN ( SELECT e.who FROM public.e))"}); code(err) != pgerr.ProgramLimitExceeded {
		t.Errorf("a list too long: %v", err)
	}
	if rules, err := resolve(); rules != nil || err != nil {
		t.Errorf("no rules: %v, %v", rules, err)
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return pgerr.From(err).Code
}
