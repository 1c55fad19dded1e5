package parser

import (
	"slices"
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

func words(text string) (list []string, sure bool) {
	sure = !Concerns(text, func(w string) bool { list = append(list, w); return false })
	return list, sure
}

func TestConcerns(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`SELECT a FROM "B c", D."e""f"`, []string{"select", "a", "from", "B c", "d", `e"f`}},
		{`SELECT 'x y', E'a\'b', $$c d$$, $t$e $$ f$t$, B'1' -- g`, []string{"select"}},
		{`/* a /* b */ c */ SELECT x/* d */.y`, []string{"select", "x", "y"}},
		{`SELECT $1, a$b, 1e5, ünïcode FROM t1`, []string{"select", "a$b", "e5", "ünïcode", "from", "t1"}},
		{`SELECT 'it''s' AS ok`, []string{"select", "as", "ok"}},
		{strings.Repeat("x", 70), []string{strings.Repeat("x", 63)}},
	}
	for _, tt := range tests {
		got, sure := words(tt.text)
		if !sure || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, sure %v, want %q", tt.text, got, sure, tt.want)
		}
	}
	for _, text := range []string{`SELECT 'a\'`, `SELECT U&"d\0061t"`, `SELECT U&'x'`} {
		if _, sure := words(text); sure {
			t.Errorf("%s: sure, though only the parser can tell", text)
		}
	}
}

func TestConforming(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT 'a\'b', 'c'`:             `SELECT  E'a\'b', 'c'`,
		`SELECT E'a\'b', x'1', "a\b"`:    `SELECT E'a\'b', x'1', "a\b"`,
		`SELECT a'\n' /* ' */ , $$'\'$$`: `SELECT a E'\n' /* ' */ , $$'\'$$`,
	} {
		if got := Conforming(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// FuzzConcerns checks that no identifier that Postgres sees is missed.
func FuzzConcerns(f *testing.F) {
	for _, s := range []string{`SELECT "a" FROM b.c`, `SELECT E'\'' || x`, `$a$ b $a$ c`, `U&"x"`, `/* */ a -- b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		result, err := pg_query.Scan(text)
		if err != nil || strings.ContainsRune(text, 0) {
			return
		}
		found, sure := words(text)
		if !sure {
			return
		}
		for _, token := range result.Tokens {
			if token.Token != pg_query.Token_IDENT {
				continue
			}
			raw := text[token.Start:token.End]
			want := cut(lower(raw))
			if strings.HasPrefix(raw, `"`) {
				_, name := quoted(raw, 0)
				want = cut(name)
			}
			if !slices.Contains(found, want) {
				t.Fatalf("%q: missed %q, found %q", text, want, found)
			}
		}
	})
}

func BenchmarkConcerns(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Concerns("SELECT abalance FROM pgbench_accounts WHERE aid = $1", func(string) bool { return false })
	}
}
