package engines

import (
	"maps"
	"testing"
)

func TestParsePairs(t *testing.T) {
	for _, c := range []struct {
		value string
		want  map[string]string // nil: refused
	}{
		{"a=b", map[string]string{"a": "b"}},
		{" a = b ,c=d_e", map[string]string{"a": "b", "c": "d_e"}},
		{"", nil}, {"a", nil}, {"a=", nil}, {"=b", nil}, {"a=b,", nil}, {"a=b=c", nil}, {"a=b, a=c", nil},
	} {
		got, err := ParsePairs(c.value)
		if (err != nil) != (c.want == nil) || !maps.Equal(got, c.want) || (CheckPairs(c.value) != nil) != (err != nil) {
			t.Errorf("%q: %v, %v; want %v", c.value, got, err, c.want)
		}
	}
}
