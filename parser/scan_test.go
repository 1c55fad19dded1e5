package parser

import (
	"slices"
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// words returns what Concerns looks up in a text, and whether it gave up on it.
func words(text string) (list []string, gaveUp bool) {
	gaveUp = Concerns(text, func(word string) bool {
		list = append(list, strings.Clone(word))
		return false
	})
	return list, gaveUp
}

func TestConcernsWords(t *testing.T) {
	long := strings.Repeat("é", 40)
	for _, c := range []struct {
		text, want string
		gaveUp     bool
	}{
		{`SELECT A, "B""c" FROM t1$x`, `select a B"c from t1$x`, false},
		{`SELECT 'in ''literal', N'n', B'0', X'f', E'it\'s'' e' e`, `select e`, false},
		{"a -- b\nc /* d /* e */ f */ g", `a c g`, false},
		{`a --b`, `a`, false},
		{`a+--b`, `a`, false},
		{`$tag$ a $ta$ b $tag$ c $$d$$ e`, `c e`, false},
		{`$1 $2a a$b$c`, `a a$b$c`, false},
		{`Ä É`, `Ä É`, false},
		{long + ` "` + long + `"`, strings.Repeat("é", 31) + " " + strings.Repeat("é", 31), false},
		{`'a\' b`, ``, true},
		{`U&"d\0061t"`, ``, true},
		{`u & "x"`, `u x`, false},
		{`a."b".C::int4`, `a b c int4`, false},
		{`"open`, `open`, false},
		{`1e5 0x1f`, `e5 x1f`, false},
	} {
		got, gaveUp := words(c.text)
		if text := strings.Join(got, " "); text != c.want || gaveUp != c.gaveUp {
			t.Errorf("%s: %s, %t; want %s, %t", c.text, text, gaveUp, c.want, c.gaveUp)
		}
	}
}

func TestConcernsStops(t *testing.T) {
	n := 0
	if !Concerns("a b c", func(word string) bool { n++; return word == "b" }) || n != 2 {
		t.Errorf("%d words looked up", n)
	}
	if Concerns("", func(string) bool { return true }) {
		t.Error("an empty text concerns nobody")
	}
}

func TestConcernsAllocatesNothing(t *testing.T) {
	text := `SELECT id, "Name", 'x' from public.users u where u.id = $1 and note <> 'it''s' -- done`
	none := map[string]bool{"nothing": true}
	if n := testing.AllocsPerRun(100, func() {
		if Concerns(text, func(word string) bool { return none[word] }) {
			t.Error("a hit")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// identifiers are the words that Postgres' own scanner finds.
func identifiers(text string) ([]string, bool) {
	scan, err := pg_query.Scan(text)
	if err != nil {
		return nil, false
	}
	var list []string
	for _, token := range scan.Tokens {
		word := text[token.Start:token.End]
		switch {
		case token.Token == pg_query.Token_IDENT && word[0] == '"':
			list = append(list, cut(strings.ReplaceAll(word[1:len(word)-1], `""`, `"`)))
		case token.Token == pg_query.Token_NCHAR && len(word) == 1: // the N of N'…'
		case token.Token == pg_query.Token_IDENT, token.KeywordKind != pg_query.KeywordKind_NO_KEYWORD && isIdentStart(word[0]):
			list = append(list, cut(lower(word)))
		}
	}
	return list, true
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// FuzzConcerns checks that no word which Postgres sees is missed.
func FuzzConcerns(f *testing.F) {
	for _, seed := range []string{
		`SELECT a, "B""c", 'x''y', E'z\'w', $1, $t$q$t$ FROM t -- c`, "/* /* */ a */ b", `U&"x" U&'y'`, `N'x' n 'y'`, `a.b::c`, `1a`, `*/* x */y`,
		"'a'\n'b' c", `'a\' b`, `$$ $a$ $$ b`, `a$1 $1$b$ c`, `e'\\' d`, "\"a\nb\" \vx", `é"É"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) {
			return
		}
		want, ok := identifiers(text)
		got, gaveUp := words(text)
		if !ok || gaveUp {
			return
		}
		for _, word := range want {
			if !slices.Contains(got, word) {
				t.Errorf("%q: %q is not among %q", text, word, got)
			}
		}
	})
}

// TestConforming parses what a session without standard_conforming_strings has sent.
func TestConforming(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`SELECT 'a'`, `SELECT 'a'`},
		{`SELECT 'a\'b' x`, `SELECT  E'a\'b' x`},
		{`SELECT E'a\'b', "c\'d", $$e\'f$$ -- g\'`, `SELECT E'a\'b', "c\'d", $$e\'f$$ -- g\'`},
		{`SELECT'\\'`, `SELECT E'\\'`},
	} {
		if got := Conforming(c.text); got != c.want {
			t.Errorf("%s: %s; want %s", c.text, got, c.want)
		}
	}
}

func BenchmarkConcerns(b *testing.B) {
	none := map[string]bool{"nothing": true}
	for b.Loop() {
		Concerns(`SELECT abalance FROM pgbench_accounts WHERE aid = $1`, func(word string) bool { return none[word] })
	}
}
