package catalog_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// TestRules asks for rules and for the values of what is known of them, as a client in another encoding.
func TestRules(t *testing.T) {
	s, _ := installed(t)
	s.do(`DROP ROLE IF EXISTS ruled; CREATE ROLE ruled; CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE ft (a text) SERVER lake;
		GRANT SELECT ON ft TO ruled; INSERT INTO sluice.row_security VALUES ('ft', true);
		INSERT INTO sluice.policy (relation, name, qual) VALUES ('ft', 'p', '(a = ''é'' || current_user)');
		SET client_encoding = 'LATIN1'; SET ROLE ruled`)
	t.Cleanup(func() { s.do("RESET ROLE; DROP OWNED BY ruled; DROP ROLE ruled") })
	oid := s.oid("ft")
	ask := func(known catalog.Parts) *catalog.Rules {
		t.Helper()
		answer, err := catalog.AskRules(t.Context(), s, oid, known)
		if err != nil {
			t.Fatal(err)
		}
		r, err := catalog.ReadRules(answer, known)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := ask(catalog.Parts{})
	if want := []catalog.Rule{{Expression: "(((a = 'é' || current_user)))"}}; !slices.Equal(first.List, want) || first.Parts.Version == "" || first.Values != nil {
		t.Fatalf("rules %+v", first)
	}
	known := catalog.Parts{Version: first.Parts.Version, Expressions: []string{"'é\\' || current_user", "NULL::int", "1 / 0", "repeat('x', 20000000)"}}
	v := ask(known).Values
	if len(v) != 4 || *v[0].Value != `é\ruled` || v[0].Type != "text" || v[1].Value != nil || v[1].Type != "integer" || v[1].Code != "" ||
		v[2].Code != "22012" || v[2].Message != "division by zero" || v[3].Code != pgerr.ProgramLimitExceeded {
		t.Errorf("values %+v", v)
	}
	s.do("RESET ROLE; UPDATE sluice.policy SET qual = 'false'; SET ROLE ruled")
	if r := ask(known); r.Values != nil || r.Parts.Version == known.Version {
		t.Errorf("parts of rules that are no more: %+v", r)
	}
	s.do("SET row_security = off")
	answer, err := catalog.AskRules(t.Context(), s, oid, known)
	if err != nil {
		t.Fatal(err)
	}
	var pe *pgconn.PgError
	if _, err := catalog.ReadRules(answer, known); !errors.As(err, &pe) || pe.Code != pgerr.InsufficientPrivilege {
		t.Errorf("row_security is off: %v", err)
	}
}
