package lru

import (
	"fmt"
	"slices"
	"testing"
)

func TestCacheForgetsWhatWasNotUsed(t *testing.T) {
	c := New[string, int](32)
	for i, key := range []string{"a", "b", "c"} {
		if gone := c.Put(key, i, 2); gone != nil {
			t.Fatalf("Put(%q) has dropped %v", key, gone)
		}
	}
	if v, ok := c.Get("a"); v != 0 || !ok {
		t.Fatalf("Get(a) = %d, %v", v, ok)
	}
	var gone []int
	for i := range 14 {
		gone = append(gone, c.Put(string(rune('d'+i)), 3+i, 2)...)
	}
	if !slices.Equal(gone, []int{1}) {
		t.Fatalf("dropped %v, want b alone", gone)
	}
	if _, ok := c.Get("b"); ok {
		t.Fatal("b is still there")
	}
	if _, ok := c.Get("a"); !ok {
		t.Fatal("a, which was used, is gone")
	}
}

func TestCacheReplaces(t *testing.T) {
	c := New[string, int](32)
	c.Put("a", 1, 2)
	if gone := c.Put("a", 2, 2); gone != nil {
		t.Fatalf("a replaced drops %v", gone)
	}
	if v, _ := c.Get("a"); v != 2 {
		t.Fatalf("Get(a) = %d, want 2", v)
	}
	c.Put("a", 3, 3) // too large to be kept
	if v, ok := c.Get("a"); ok {
		t.Fatalf("Get(a) = %d, want nothing", v)
	}
	if c.cost != 0 {
		t.Fatalf("an empty cache costs %d", c.cost)
	}
}

func TestCacheDrop(t *testing.T) {
	c := New[string, int](32)
	c.Put("a", 1, 2)
	c.Put("b", 2, 2)
	c.Drop(func(_ string, v int) bool { return v == 1 })
	if _, ok := c.Get("a"); ok {
		t.Fatal("a is still there")
	}
	if v, ok := c.Get("b"); v != 2 || !ok || c.cost != 2 {
		t.Fatalf("Get(b) = %d, %v at cost %d", v, ok, c.cost)
	}
}

func TestCacheEach(t *testing.T) {
	c := New[string, int](32)
	c.Put("a", 1, 2)
	c.Put("b", 2, 2)
	c.Get("a")
	var keys []string
	c.Each(func(key string, v int) { keys = append(keys, fmt.Sprint(key, v)) })
	if !slices.Equal(keys, []string{"a1", "b2"}) {
		t.Fatalf("Each calls for %v", keys)
	}
}
