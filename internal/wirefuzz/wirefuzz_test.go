package wirefuzz

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestGenerate makes the same sequence of the same numbers, and others of others.
func TestGenerate(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(200) {
		a, ddl := Generate(7, n, 15)
		b, again := Generate(7, n, 15)
		if !reflect.DeepEqual(a, b) || ddl != again {
			t.Fatalf("sequence %d differs from itself", n)
		}
		seen[a.Script("", nil)] = true
	}
	if len(seen) < 190 {
		t.Errorf("200 numbers give only %d sequences", len(seen))
	}
}

// TestShrink finds the two messages that a difference needs among all others.
func TestShrink(t *testing.T) {
	q := Sequence{{[]string{"a", "b", query("one; two; three")}, Settled}, {[]string{"c", "d"}, Flushed}, {[]string{"e", "f"}, Settled}}
	got := Shrink(q, 1000, func(c Sequence) bool {
		text := c.Script("", nil)
		return strings.Contains(text, "two") && slices.ContainsFunc(c, func(r Round) bool { return slices.Contains(r.Messages, "d") })
	})
	want := Sequence{{[]string{query("two")}, Settled}, {[]string{"d"}, Flushed}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestGuarded puts a guard before an Execute of a portal that its group has not bound.
func TestGuarded(t *testing.T) {
	bind, execute := message{DestinationPortal: "a"}.line("Bind"), message{Portal: "a"}.line("Execute")
	guard := message{Name: "guard", Query: "select"}.line("Parse")
	got := guarded([]string{execute, bind, execute, "Sync", execute})
	if want := []string{guard, execute, bind, execute, "Sync", guard, execute}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
