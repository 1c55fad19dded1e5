package lru

import (
	"container/list"
	"sync"
)

// Cache is a map that forgets what was not used for longest where the costs of all entries together exceed a bound. It is
// safe for use by several goroutines.
type Cache[K comparable, V any] struct {
	most    int
	mu      sync.Mutex
	entries map[K]*list.Element
	order   list.List // of entry[K, V], the one used last in front
	cost    int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

// New makes a cache of entries that cost most together.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: most, entries: map[K]*list.Element{}}
}

// Get returns what was put under a key last, false where it is not there.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put keeps a value in the place of what the key has, and returns the values that had to go for it. One that costs more
// than a sixteenth of what all may is not kept.
func (c *Cache[K, V]) Put(key K, value V, cost int) (gone []V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.remove(e)
	}
	if cost > c.most/16 {
		return nil
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value, cost})
	c.cost += cost
	for c.cost > c.most {
		gone = append(gone, c.remove(c.order.Back()))
	}
	return gone
}

// Each calls f for each entry, the one used last first, without any of them being used by that. f must not use the cache.
func (c *Cache[K, V]) Each(f func(K, V)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; e = e.Next() {
		x := e.Value.(*entry[K, V])
		f(x.key, x.value)
	}
}

// Drop forgets the entries that which names.
func (c *Cache[K, V]) Drop(which func(K, V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if x := e.Value.(*entry[K, V]); which(x.key, x.value) {
			c.remove(e)
		}
	}
}

func (c *Cache[K, V]) remove(e *list.Element) V {
	x := c.order.Remove(e).(*entry[K, V])
	delete(c.entries, x.key)
	c.cost -= x.cost
	return x.value
}
