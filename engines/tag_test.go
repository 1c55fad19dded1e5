package engines

import "testing"

// TestTag writes names of roles such that they cannot end a comment, stand for parameters or begin a new line.
func TestTag(t *testing.T) {
	for _, c := range []struct {
		tag           Tag
		comment, line string
	}{
		{Tag{}, "", ""},
		{Tag{Role: "alice", ID: "4f3a-1b"}, "/* sluice role=alice id=4f3a-1b */ ", "sluice id=4f3a-1b role=alice"},
		{Tag{Role: "a*/ DROP\n--$1?@x{y}'\"\\`%é", ID: "1"},
			"/* sluice role=a%2A%2F%20DROP%0A--%241%3F%40x%7By%7D%27%22%5C%60%25%C3%A9 id=1 */ ",
			"sluice id=1 role=a%2A%2F%20DROP%0A--%241%3F%40x%7By%7D%27%22%5C%60%25%C3%A9"},
	} {
		if got := c.tag.Comment(); got != c.comment {
			t.Errorf("%+v: %s", c.tag, got)
		}
		if got := c.tag.String(); got != c.line {
			t.Errorf("%+v: %s", c.tag, got)
		}
	}
}
