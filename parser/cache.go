package parser

import (
	"container/list"
	"sync"
)

// cacheBytes bounds the query texts whose trees are kept; a tree takes some twenty times its text.
const cacheBytes = 1 << 20

// cache keeps the trees of the texts that were parsed last: parsing costs 20 to 130 µs, a look-up under one.
var cache = &treeCache{entries: map[string]*list.Element{}}

type treeCache struct {
	mu      sync.Mutex
	entries map[string]*list.Element
	order   list.List // newest first
	bytes   int
}

type cached struct {
	text       string
	statements []*Statement
}

func (c *treeCache) get(text string) ([]*Statement, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[text]
	if e == nil {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).statements, true
}

func (c *treeCache) put(text string, statements []*Statement) {
	if len(text) > cacheBytes/16 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[text] != nil {
		return
	}
	c.entries[text] = c.order.PushFront(&cached{text, statements})
	c.bytes += len(text)
	for c.bytes > cacheBytes {
		oldest := c.order.Remove(c.order.Back()).(*cached)
		delete(c.entries, oldest.text)
		c.bytes -= len(oldest.text)
	}
}
