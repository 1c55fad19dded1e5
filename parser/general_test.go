package parser

import (
	"strings"
	"testing"
)

func TestGeneral(t *testing.T) {
	for _, c := range []struct{ text, general, values string }{
		{"SELECT a FROM t WHERE id = 77", "SELECT a FROM t WHERE id = $1", "77"},
		{`select "a" from t where t."id"=7;`, `select "a" from t where t."id"=$1;`, "7"},
		{"SELECT 1 FROM t WHERE (a >= 5 OR b<>6) AND c = 5 ORDER BY 1 LIMIT 3", "SELECT 1 FROM t WHERE (a >= $1 OR b<>$2) AND c = $1 ORDER BY 1 LIMIT 3", "5 6"},
		{"SELECT 'id = 5' /* id = 5 */ FROM t WHERE id = 5 -- id = 6", "SELECT 'id = 5' /* id = 5 */ FROM t WHERE id = $1 -- id = 6", "5"},
		{"SELECT DISTINCT ON (a > 2) a > 2, a FROM t ORDER BY a > 2, (b < 3)", "", ""},
		{"SELECT a > 2 FROM t JOIN u ON (a = 1) GROUP BY a > 2 HAVING (a > 2)", "", ""},
		{"SELECT (SELECT max(a) FROM t WHERE b = 2), (a > 3) FROM t WHERE c IN (SELECT d FROM t GROUP BY (d > 4)) AND c = 5", "SELECT (SELECT max(a) FROM t WHERE b = $1), (a > 3) FROM t WHERE c IN (SELECT d FROM t GROUP BY (d > 4)) AND c = $2", "2 5"},
		{"SELECT a FROM t WHERE id = 5 + 1", "", ""},
		{"SELECT a FROM t WHERE id = 5::text", "", ""},
		{"SELECT a FROM t WHERE id = 5.0 AND a = 5e3 AND b = 0x10 AND c = 1_0", "", ""},
		{"SELECT a FROM t WHERE id = 05", "", ""},
		{"SELECT a FROM t WHERE id = 2147483648", "", ""},
		{"SELECT a FROM t WHERE id = 2147483647", "SELECT a FROM t WHERE id = $1", "2147483647"},
		{"SELECT a FROM t WHERE id =- 5", "", ""},
		{"SELECT a FROM t WHERE id = -5", "", ""},
		{"SELECT a FROM t WHERE id + 5 > 4", "", ""},
		{"SELECT a FROM t WHERE f(id) = 5", "", ""},
		{"SELECT a FROM t WHERE id <-> 5", "", ""},
		{"SELECT a FROM t WHERE id = 5 AND b = $1", "", ""},
		{"SELECT a FROM t WHERE id = 5 AND b = $$x$$", "", ""},
		{`SELECT a FROM t WHERE id = 5 AND b = '\'`, "", ""},
		{"SELECT a FROM t WHERE id = 5 AND b = E'x'", "", ""},
		{"SELECT a = 5 x FROM t", "", ""},
		{"SELECT a FROM t WHERE id = 5 COLLATE x", "", ""},
		{"SELECT f(a => 5), a[b = 5] FROM t", "", ""},
		{"SELECT a FROM t WHERE a = 5 BETWEEN b AND c", "", ""},
	} {
		general, values := General(c.text)
		if c.general == "" {
			c.general = c.text
		}
		if general != c.general || strings.Join(values, " ") != c.values {
			t.Errorf("%s: %s with %v", c.text, general, values)
		}
	}
}
